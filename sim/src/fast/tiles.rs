//! Runs a range of one sample's output pixels, tile by tile.

use std::ops::Range;

use guardbit_hwmodels::Check;

use super::counters::Counters;
use super::exact::{Output, TileAt, for_each_tile, put_sums};
use super::finish::total;
use super::forms::FormedBlock;
use super::kernels::{Aligned, LANES, Lanes, Stepped, TILE, Walked};
use super::places::log::Log;
use super::policy::Sums;
use super::prepare::{Path, SumBlock};
use super::step::{Noted, Stepping};
use super::windows::{Windows, on_windows};
use super::{FastLayer, Image, LayerCounts};
use crate::codes::{Packed, PackedMut, Spare};
use crate::options::Options;
use crate::stats::DotErrors;

/// Range of pixels of one sample that is to be run.
#[derive(Clone, Copy)]
pub(crate) struct Job<'j> {
    pub image: &'j Image<'j>,
    /// First pixel, and the pixel after the last one.
    pub pixels: (usize, usize),
    pub sample: usize,
    pub options: &'j Options,
    /// Whether the exact codes are requested. Otherwise they need to be complete only if some layer produces
    /// exactly these.
    pub wants_exact: bool,
}

/// One layer over one range: its register and its counts.
pub(super) struct Run<'r, 'a> {
    pub layer: &'r FastLayer<'a>,
    pub path: Path,
    pub counts: &'r mut LayerCounts,
    pub log: Log,
    /// Output codes `[pixel][channel]`; `None` while they equal the exact ones.
    simulated: Option<Packed>,
}

/// Reused memory of a tile: nothing in it is read before it is written.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// Sums of at most two blocks.
    pub(super) walked: [[Walked; TILE]; 2],
    pub(super) exact_codes: Aligned<[Lanes; TILE]>,
    /// Plans by block.
    plans: Vec<Plan>,
    pub(super) windows: Windows,
    narrow: NarrowScratch,
}

/// Plan of a block at a tile.
#[derive(Debug, Clone, Copy)]
struct Plan {
    sums: Sums,
    /// Whether no dot product can overflow, so that only exact sums and their codes are computed.
    settled: bool,
}

/// Reused memory of the narrow register's results.
#[derive(Debug)]
struct NarrowScratch {
    stepped: [Stepped; TILE + 1],
    /// Codes of the stepped pixels.
    codes: Aligned<[Lanes; TILE]>,
    spare: Spare,
}

impl Scratch {
    /// Returns the memory for output codes.
    pub fn spare(&mut self) -> &mut Spare {
        &mut self.narrow.spare
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            walked: [[Walked::ZERO; TILE]; 2],
            exact_codes: Aligned([[0; LANES]; TILE]),
            plans: Vec::new(),
            windows: Windows::default(),
            narrow: NarrowScratch {
                stepped: [Stepped::ZERO; TILE + 1],
                codes: Aligned([[0; LANES]; TILE]),
                spare: Spare::default(),
            },
        }
    }
}

/// Pixels of a tile, and the inputs of their dot products in one block of channels.
pub(super) struct Tile<'t> {
    pub block: FormedBlock<'t>,
    /// Index of the block.
    pub index: usize,
    /// First pixel.
    pub pixel: usize,
    /// First cell of every window, without the offset of the group's channels.
    pub corners: &'t [usize],
    pub image: &'t Image<'t>,
    pub walked: &'t [Walked],
    /// Whether the extremes in `walked` are bounds of all prefixes; otherwise they are undefined.
    bounded: bool,
    exact_codes: &'t [Lanes],
}

impl Job<'_> {
    pub(super) fn pixels(&self) -> Range<usize> {
        self.pixels.0..self.pixels.1
    }

    pub(super) fn len(&self) -> usize {
        self.pixels.1 - self.pixels.0
    }
}

/// Runs a range through layers that differ only in their register. `exact` receives the exact codes as far as
/// the job requests them.
pub(super) fn run(runs: &mut [Run<'_, '_>], job: Job<'_>, scratch: &mut Scratch, exact: PackedMut<'_>) {
    let Some(layer) = runs.first().map(|run| run.layer) else { return };
    let options = job.options;
    let mut prefixes = Prefixes::of_runs(runs, options);
    let Scratch { walked, exact_codes, plans, windows, narrow } = scratch;
    let mut exact = Output { layer, out: exact, origin: job.pixels.0 };
    let kernels = layer.kernels;
    let useful = runs.iter().any(|run| run.layer.limits.iter().any(|&limit| limit > 0));
    let norms = layer.norms.as_ref().filter(|_| useful && !options.stats.counts_prefixes());
    let norms = norms.map(|norms| job.image.norms(norms, &layer.geometry, kernels));
    let check = runs[0].path.check;
    for_each_tile(layer, job, windows, |windows, tile| {
        let pixels = tile.pixel..tile.pixel + tile.corners.len();
        let norm = norms.and_then(|norms| norms[pixels].iter().max().copied());
        plans.clear();
        plans.extend((0..layer.blocks().len()).map(|index| plan(runs, index, norm, options)));
        let (mut next, count) = (0, tile.corners.len());
        while next < plans.len() {
            let first = next;
            next += tile.sums(first, |index| plans[index].sums, windows, walked);
            for (index, walked) in (first..next).zip(&mut *walked) {
                let (at, walked, plan) = (tile.at(index), &mut walked[..count], plans[index]);
                let needed = job.wants_exact || runs.iter().any(|run| run.simulated.is_none());
                if plan.settled && exact.puts_sums() {
                    if needed {
                        exact.put_sums(&at, walked);
                    }
                    runs.iter_mut().for_each(|run| run.pass(&at, walked, exact.origin));
                    continue;
                }
                if check == Check::HandOver {
                    // The final sum is the only prefix.
                    walked.iter_mut().for_each(|walked| (walked.min, walked.max) = (walked.sum, walked.sum));
                }
                let exact_codes = &mut exact_codes[..walked.len()];
                at.exact_codes(windows, walked, exact_codes);
                let TileAt { image, block, index, pixel, corners, .. } = at;
                if needed {
                    exact.put(pixel, &block, exact_codes);
                }
                prefixes.iter_mut().for_each(|prefixes| prefixes.count(runs, (index, &block), walked));
                let bounded = plan.sums != Sums::Only || check == Check::HandOver;
                let tile = Tile { block, index, pixel, corners, image, walked, bounded, exact_codes };
                for run in &mut *runs {
                    run.narrow(&tile, narrow, windows, job, &exact.out);
                }
            }
        }
    });
    prefixes.iter().for_each(|prefixes| prefixes.flush(runs, options));
}

/// Plans block `index` at a tile whose windows have norms up to `norm`, if they are known.
fn plan(runs: &mut [Run<'_, '_>], index: usize, norm: Option<u32>, options: &Options) -> Plan {
    let mut plan = Plan { sums: Sums::Only, settled: true };
    for run in runs {
        let fits = norm.is_some_and(|norm| u64::from(norm) <= run.layer.limits[index]);
        let policy = &mut run.counts.policies[index];
        plan.sums = plan.sums.max(policy.sums(fits, &run.layer.blocks()[index], run.path, options.stats));
        plan.settled &= policy.settles();
    }
    plan.settled &= plan.sums == Sums::Only;
    plan
}

/// Counter of prefixes of the exact sums, for all layers whose registers have equal signedness.
struct Prefixes {
    signed: bool,
    /// Shared counters of several layers; a single layer counts prefixes with everything else.
    shared: Option<Counters>,
}

impl Prefixes {
    /// Returns the counters for `runs`, if prefixes are counted.
    fn of_runs(runs: &[Run<'_, '_>], options: &Options) -> Vec<Self> {
        let signednesses = [false, true].into_iter().filter(|_| options.stats.counts_prefixes());
        let of_some = |signed: bool| {
            let mut alike = runs.iter().filter(|run| run.path.signed == signed);
            let first = alike.next()?;
            let shared = alike.next().map(|_| Counters::new(first.layer.blocks.len(), 1));
            Some(Self { signed, shared })
        };
        signednesses.filter_map(of_some).collect()
    }

    /// Counts the prefixes of a block at some pixels.
    fn count(&mut self, runs: &mut [Run<'_, '_>], (index, block): (usize, &SumBlock), walked: &[Walked]) {
        let Self { signed, shared } = self;
        let Some(run) = runs.iter_mut().find(|run| run.path.signed == *signed) else { return };
        let kernels = run.layer.kernels;
        let counters = shared.as_mut().unwrap_or_else(|| run.counts.counters.narrow());
        kernels.take_extremes(&mut counters.of(index)[0], walked);
        counters.count_required(kernels, walked, block.count, *signed);
    }

    /// Adds the counts to each of several layers.
    fn flush(&self, runs: &mut [Run<'_, '_>], options: &Options) {
        let Some(counters) = &self.shared else { return };
        for run in runs.iter_mut().filter(|run| run.path.signed == self.signed) {
            counters.flush(&run.layer.blocks, |_| self.signed, &mut run.counts.stats, options.stats);
        }
    }
}

impl<'r, 'a> Run<'r, 'a> {
    /// Creates a run of `layer`; its datapath must be supported.
    pub fn new(layer: &'r FastLayer<'a>, path: Path, counts: &'r mut LayerCounts) -> Self {
        Self { layer, path, counts, log: Log::default(), simulated: None }
    }

    /// Returns the codes of the narrow hardware; `None` if they equal the exact codes.
    pub fn into_codes(self) -> Option<Packed> {
        self.simulated
    }

    /// Handles a tile in which no dot product can overflow; the range's first pixel is `origin`.
    fn pass(&mut self, tile: &TileAt<'_, '_>, sums: &[Walked], origin: usize) {
        self.settle(tile.index, sums.len() * tile.block.count);
        if let Some(simulated) = &mut self.simulated {
            put_sums(&mut simulated.as_mut(), origin, tile, sums);
        }
    }

    /// Returns whether no dot product of a tile can overflow, and counts them if so.
    fn settle(&mut self, index: usize, dots: usize) -> bool {
        let LayerCounts { policies, settled, .. } = &mut *self.counts;
        let policy = &policies[index];
        if policy.certain {
            settled.by_weights += dots as u64;
        } else if policy.fits {
            settled.by_sums += dots as u64;
        }
        policy.settles()
    }

    /// Computes everything after the exact sums. `exact` holds the exact codes up to this block of this tile.
    fn narrow(
        &mut self,
        tile: &Tile<'_>,
        scratch: &mut NarrowScratch,
        windows: &mut Windows,
        job: Job<'_>,
        exact: &PackedMut<'_>,
    ) {
        let options = job.options;
        let mut pixels = [0; TILE];
        let stepping = self.must_step(tile, &mut pixels);
        let pixels = &pixels[..stepping];
        if let (Some(narrow), false) = (self.path.register, pixels.is_empty()) {
            let noted = match options.stats.counts_events() {
                false => Noted::Nothing,
                true if self.layer.sites.are_logged(self.path.check, options) => Noted::Log(&mut self.log),
                true => Noted::Counts,
            };
            Stepping { layer: self.layer, check: self.path.check, narrow: &narrow, tile, pixels }.run(
                noted,
                windows,
                &mut scratch.stepped,
            );
        }
        let NarrowScratch { stepped, codes, spare } = scratch;
        let stepped = &stepped[..stepping];
        match self.layer.finisher.scales() {
            true => self.finish(tile, pixels, stepped, (&mut codes[..stepping], spare), job, exact),
            false => self.finish_one_by_one(tile, (pixels, stepped), windows, job, exact, spare),
        }
        if !options.stats.counts() || pixels.is_empty() {
            return;
        }
        let kernels = self.layer.kernels;
        let held = self.path.register.map_or((i32::MIN, i32::MAX), |narrow| narrow.held);
        let counters = &mut self.counts.counters.narrow().of(tile.index)[0];
        kernels.count_events(counters, pixels, stepped, tile.walked, held);
        if options.stats.counts_prefixes() {
            // Every prefix that the format does not hold is beyond the rails too.
            kernels.count_transient(counters, pixels, tile.walked, held);
        }
        if options.stats.counts_events() {
            self.place_all(tile, (pixels, stepped), windows, job);
        }
    }

    /// Finds the pixels of a tile at which some dot product must be stepped, and returns their number.
    fn must_step(&mut self, tile: &Tile<'_>, pixels: &mut [usize; TILE]) -> usize {
        let count = tile.block.count;
        let settled = self.settle(tile.index, tile.corners.len() * count);
        let Some(narrow) = self.path.register.filter(|_| !settled) else { return 0 };
        let LayerCounts { policies, settled, .. } = &mut *self.counts;
        let all = tile.walked.len();
        if !tile.bounded {
            settled.stepped += (all * count) as u64;
            pixels.iter_mut().enumerate().for_each(|(at, pixel)| *pixel = at);
            return all;
        }
        let mut misfits = [0; TILE];
        self.layer.kernels.misfits(tile.walked, narrow.rails, &mut misfits);
        let (mut stepping, mut stepped) = (0, 0);
        for (at, &misfits) in misfits.iter().enumerate().take(all) {
            // Written unconditionally, which avoids a branch.
            pixels[stepping] = at;
            stepping += usize::from(misfits > 0);
            stepped += misfits;
        }
        settled.stepped += stepped as u64;
        settled.by_sums += (all * count - stepped) as u64;
        policies[tile.index].note(stepping, all);
        stepping
    }

    /// Computes output codes and the errors of the sums. `codes` is memory for the codes of `stepped`,
    /// `spare` memory for those of the range.
    fn finish(
        &mut self,
        tile: &Tile<'_>,
        pixels: &[usize],
        stepped: &[Stepped],
        (codes, spare): (&mut [Lanes], &mut Spare),
        job: Job<'_>,
        exact: &PackedMut<'_>,
    ) {
        if pixels.is_empty() {
            if self.simulated.is_some() {
                self.put(tile, tile.exact_codes, job, exact, spare);
            }
            return;
        }
        let kernels = self.layer.kernels;
        self.layer.finisher.scale(kernels, tile.index, stepped, codes);
        if job.options.stats.counts() {
            let counters = self.counts.counters.narrow().errors(tile.index);
            kernels.count_errors(counters, pixels, stepped, tile.walked, [codes, tile.exact_codes]);
        }
        if pixels.len() == tile.corners.len() {
            return self.put(tile, codes, job, exact, spare);
        }
        let mut all = Aligned([[0; LANES]; TILE]);
        all.iter_mut().zip(tile.exact_codes).for_each(|(all, exact)| *all = *exact);
        pixels.iter().zip(codes).for_each(|(&at, codes)| all[at] = *codes);
        self.put(tile, &all[..tile.corners.len()], job, exact, spare);
    }

    /// Computes output codes and errors for output stages that the kernels do not support.
    fn finish_one_by_one(
        &mut self,
        tile: &Tile<'_>,
        (pixels, stepped): (&[usize], &[Stepped]),
        windows: &mut Windows,
        job: Job<'_>,
        exact: &PackedMut<'_>,
        spare: &mut Spare,
    ) {
        let finisher = &self.layer.finisher;
        let terms = self.layer.layer.order.len();
        let read = windows.read((&self.layer.geometry, tile.image), &tile.block, tile.pixel, tile.corners);
        let mut all = [[0; LANES]; TILE];
        on_windows!(read, x => {
            for (at, (walked, &x)) in tile.walked.iter().zip(&x).enumerate() {
                let mine = pixels.iter().position(|&p| p == at).map(|slot| &stepped[slot]);
                for (lane, code) in all[at].iter_mut().enumerate().take(tile.block.count) {
                    let exact = walked.sum[lane];
                    let delivered = mine.map_or(exact, |stepped| stepped.value[lane]);
                    let channel = tile.block.first + lane;
                    let misfit;
                    (*code, misfit) = finisher.finish(channel, delivered, exact, || total(x, terms, lane));
                    if job.options.stats.counts() {
                        let error = i128::from(delivered) - i128::from(exact);
                        let harmless = *code == tile.exact_codes[at][lane];
                        let bias_events = misfit.is_some().into();
                        self.counts.stats.record_errors(channel, DotErrors { error, harmless, bias_events });
                    }
                    if job.options.stats.counts_events() && let Some(misfit) = misfit {
                        let window = &self.layer.layer.dots.window;
                        let index = (tile.pixel + at) * window.channels() + channel;
                        let out = window.output_position(index);
                        self.counts.stats.list_narrowings(self.layer.layer, job.sample, out, &[misfit]);
                    }
                }
            }
        });
        self.put(tile, &all[..tile.corners.len()], job, exact, spare);
    }

    /// Writes the codes of a tile.
    fn put(
        &mut self,
        tile: &Tile<'_>,
        codes: &[Lanes],
        job: Job<'_>,
        exact: &PackedMut<'_>,
        spare: &mut Spare,
    ) {
        let channels = self.layer.channels;
        let first = tile.pixel - job.pixels.0;
        let all = self.simulated.get_or_insert_with(|| {
            let mut all = spare.take(self.layer.output, job.len() * channels);
            // Copy all codes that were not written so far. From here on, all are written.
            all.as_mut().copy_from(exact, 0, (first + codes.len()) * channels);
            all
        });
        self.layer.put(&mut all.as_mut(), first, &tile.block, codes);
    }
}
