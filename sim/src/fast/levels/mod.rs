//! Datapaths of any kind, vectorized across outputs: several levels, trees, hand-overs, shifts, narrow
//! products, shared adders, random rounding, orders that depend on the products, wide operands and sums.

#![allow(clippy::needless_range_loop, reason = "lanes are walked by index, in several arrays at once")]

/// Runs `$work` with the activations of one block, whatever their type.
macro_rules! on_operands {
    ($operands:expr, $x:ident => $work:expr) => {
        match $operands {
            Operands::Window($x) => $work,
            Operands::Neighbours($x) => $work,
            Operands::Lanes($x) => $work,
        }
    };
}

mod codes;
mod kernel;
mod level;
mod loops;
mod order;
mod paired;
mod placing;
mod plan;
mod random;
mod scratch;
mod sixteen;
mod special;
mod sums;
mod tally;
mod work;

use std::ops::{Deref, Range};
use std::sync::Arc;

use guardbit_graph::KernelPosition;
use guardbit_hwmodels::MacLayer;

use super::basis::Basis;
use super::blocks::{Block, Reads};
use super::counters::{AnyCounters, Counters};
use super::finish::{Channels, Finisher};
use super::forms::Forms;
use super::image::Image;
use super::kernels::{LANES, Lane, Lanes, Neighbours, Row};
use super::places::{Heat, Sites};
use super::policy::Trials;
use super::simd::VectorActivations;
use super::span::Span;
use super::tiles::Job;
use super::{LayerCounts, Ran, Settled, traps};
use crate::codes::{Packed, PackedMut, Spare};
use crate::error::Trap;
use crate::options::Options;
use crate::stats::LayerStats;
use kernel::{Leave, Outer, Totals};
use paired::{Asked, Paired};
use placing::Walker;
use plan::{Plan, additions};
use random::Random;
use scratch::Scratch;
use special::{Picked, Source, WideProducts};
use work::Work;

/// Layer of any supported datapath, prepared.
#[derive(Debug)]
pub(crate) struct LevelsLayer<'a> {
    layer: &'a MacLayer,
    basis: Arc<Basis>,
    finisher: Finisher<'a>,
    /// Whether sums leave the datapath in unit 1, as the finisher requires.
    plain_end: bool,
    /// Whether the sum of activations is added with the bias.
    folds: bool,
    /// Whether windows leave out padding.
    skips: bool,
    /// Whether some stage rounds at random.
    at_random: bool,
    plan: AnyPlan,
    /// Data for stepping the innermost level two windows at a time, if supported.
    paired: Option<Paired>,
    sites: Arc<Sites<'a>>,
}

/// Plan of the datapath on the narrowest lanes that hold it.
#[derive(Debug)]
enum AnyPlan {
    Bits32(Plan<i32>),
    Bits64(Plan<i64>),
    Bits128(Plan<i128>),
}

/// Activations of one block at one pixel.
enum Operands<'b> {
    /// Activations that all lanes share.
    Window(&'b [i16]),
    Neighbours(Neighbours<'b>),
    Lanes(&'b [Row]),
}

/// Place of the dot products that run together.
#[derive(Debug, Clone, Copy)]
struct Spot<'f> {
    pixel: usize,
    /// Index of the block.
    block: usize,
    /// Forms of the block's weights.
    forms: &'f Forms,
}

/// State that is kept while some pixels are run.
struct Course<'p, V: Lane> {
    plan: &'p Plan<V>,
    counters: &'p mut Counters<V>,
    buffers: Buffers,
    /// Indices of the products of a pixel, if they differ from pixel to pixel or operands are wide, that pixel, and
    /// whether it has fewer products than others.
    picked: Vec<usize>,
    picked_at: Option<usize>,
    short: bool,
    /// Trials per block that decide whether bounds pay off.
    trials: Vec<Trials>,
    /// Scratch for dot products whose events are recomputed.
    again: Scratch<V>,
}

impl<'p, V: Lane> Course<'p, V> {
    fn new(plan: &'p Plan<V>, counters: &'p mut Counters<V>, layer: &LevelsLayer<'_>) -> Self {
        Self {
            plan,
            counters,
            buffers: Buffers::default(),
            picked: Vec::new(),
            picked_at: None,
            short: false,
            trials: vec![Trials::default(); layer.blocks.len()],
            again: Scratch::new(plan),
        }
    }
}

/// Memory for gathered activations.
#[derive(Default)]
struct Buffers {
    window: Vec<i16>,
    rows: Vec<Row>,
}

/// Range of outputs of one sample.
struct Task<'t, 'e> {
    layer: &'t MacLayer,
    job: Job<'t>,
    stats: &'t mut LayerStats,
    settled: &'t mut Settled,
    heat: &'t mut Heat,
    /// Exact codes, and memory for those of the narrow hardware, which are absent while they equal the exact ones.
    exact: &'t mut PackedMut<'e>,
    simulated: Option<Packed>,
    spare: &'t mut Spare,
    walker: Option<Walker>,
    /// Codes of the current block on the narrow hardware, and exact ones.
    codes: [Lanes; 2],
    /// Whether a bias, or the sum with it, did not fit, by lane of the current block.
    biased: [bool; LANES],
    /// Whether a register traps, and the first overflow of one that does.
    traps: bool,
    trap: Option<Trap>,
}

impl Deref for LevelsLayer<'_> {
    type Target = Basis;

    fn deref(&self) -> &Basis {
        &self.basis
    }
}

impl<'a> LevelsLayer<'a> {
    /// Prepares `layer`; `None` if it is not supported.
    pub fn new(layer: &'a MacLayer, basis: &Arc<Basis>, sites: Arc<Sites<'a>>) -> Option<Self> {
        let (plan, paired) = match Plan::new(layer, basis) {
            Some(plan) => {
                let paired = Paired::new(layer, basis, &plan);
                (AnyPlan::Bits32(plan), paired)
            }
            None => match Plan::new(layer, basis) {
                Some(plan) => (AnyPlan::Bits64(plan), None),
                None => (AnyPlan::Bits128(Plan::new(layer, basis)?), None),
            },
        };
        let shift = layer.datapath.unit_shift(layer.datapath.levels.len());
        let reach = match &plan {
            AnyPlan::Bits32(plan) => plan.reach,
            AnyPlan::Bits64(plan) => plan.reach,
            AnyPlan::Bits128(plan) => plan.reach,
        };
        let bounds = [Span::within(reach); LANES];
        let delivered = |block: &Block| Channels { first: block.first, count: block.count, bounds };
        Some(Self {
            layer,
            finisher: Finisher::new(layer, basis.blocks.iter().map(delivered)),
            sites,
            plain_end: shift == 0,
            skips: layer.dots.weights.is_none() && basis.geometry.reads_padding(),
            folds: layer.input_sum_factor.iter().any(|&factor| factor != 0),
            at_random: layer.datapath.rounds_at_random(),
            plan,
            paired,
            basis: Arc::clone(basis),
        })
    }

    pub fn layer(&self) -> &'a MacLayer {
        self.layer
    }

    /// Returns counters for the layer.
    pub fn counters(&self) -> AnyCounters {
        let (blocks, levels) = (self.blocks.len(), self.layer.datapath.levels.len());
        match self.plan {
            AnyPlan::Bits32(_) => AnyCounters::Bits32(Counters::new(blocks, levels)),
            AnyPlan::Bits64(_) => AnyCounters::Bits64(Counters::new(blocks, levels)),
            AnyPlan::Bits128(_) => AnyCounters::Bits128(Counters::new(blocks, levels)),
        }
    }

    /// Runs a range of pixels of one sample on the narrow hardware. `counts` has counters of this layer, and `exact`
    /// receives the exact codes.
    pub fn run(
        &self,
        job: Job<'_>,
        counts: &mut LayerCounts,
        spare: &mut Spare,
        exact: &mut PackedMut<'_>,
    ) -> Ran {
        let LayerCounts { stats, settled, heat, counters, .. } = counts;
        stats.count_dots(job.pixels().len() as u64, 0, job.options);
        if job.options.stats.counts() {
            self.count_adds(job.pixels(), stats);
        }
        let mut task = Task {
            layer: self.layer,
            job,
            stats,
            settled,
            heat,
            exact,
            simulated: None,
            spare,
            walker: None,
            codes: [[0; LANES]; 2],
            biased: [false; LANES],
            traps: traps(self.layer),
            trap: None,
        };
        match (&self.plan, counters) {
            (AnyPlan::Bits32(plan), AnyCounters::Bits32(counters)) => match &self.paired {
                Some(paired) => self.run_pairs(Course::new(plan, counters, self), paired, &mut task),
                None => self.run_on(Course::new(plan, counters, self), &mut task),
            },
            (AnyPlan::Bits64(plan), AnyCounters::Bits64(counters)) => {
                self.run_on(Course::new(plan, counters, self), &mut task);
            }
            (AnyPlan::Bits128(plan), AnyCounters::Bits128(counters)) => {
                self.run_on(Course::new(plan, counters, self), &mut task);
            }
            _ => unreachable!("counters are those of the layer"),
        }
        Ran { codes: task.simulated, trap: task.trap }
    }

    /// Adds the places of events to the statistics.
    pub fn flush_heat(&self, heat: &mut Heat, stats: &mut LayerStats) {
        self.sites.flush(self.kernels, heat, stats);
    }

    /// Returns the operands of a block's lanes at a pixel.
    fn operands<'b>(
        &'b self,
        block: &Block,
        image: &'b Image<'_>,
        pixel: usize,
        buffers: &'b mut Buffers,
    ) -> Operands<'b> {
        match &block.reads {
            Reads::Window(first) => Operands::Window(self.geometry.window(
                image,
                self.geometry.corner(pixel) + first,
                &mut buffers.window,
            )),
            Reads::Neighbours(first) => {
                Operands::Neighbours(self.geometry.neighbours(image, self.geometry.corner(pixel) + first))
            }
            Reads::Lanes(channels) => {
                self.geometry.lane_window(image, self.geometry.corner(pixel), channels, &mut buffers.rows);
                Operands::Lanes(&buffers.rows)
            }
        }
    }

    fn run_on<V: Lane>(&self, mut course: Course<'_, V>, task: &mut Task<'_, '_>) {
        let mut scratch = Scratch::new(course.plan);
        let (image, forms) = (task.job.image, self.hold_forms());
        for pixel in task.job.pixels() {
            for (block, forms) in forms.iter().enumerate() {
                self.run_at(&mut course, Spot { pixel, block, forms }, image, &mut scratch, false, task);
            }
        }
    }

    /// Runs two pixels at a time where the distance of their windows is that of pairs.
    fn run_pairs(&self, mut course: Course<'_, i32>, paired: &Paired, task: &mut Task<'_, '_>) {
        let mut scratches = [Scratch::new(course.plan), Scratch::new(course.plan)];
        let (image, forms, mut pixels) = (task.job.image, self.hold_forms(), task.job.pixels());
        let Options { stats, .. } = task.job.options;
        let asked = Asked { prefixes: stats.counts_prefixes(), places: task.job.options.places_all() };
        while let Some(pixel) = pixels.next() {
            let corner = self.geometry.corner(pixel);
            let second = corner + image.pair_distance();
            let mut rest = pixels.clone();
            let next = rest.next().filter(|&next| self.geometry.corner(next) == second);
            if next.is_some() {
                pixels = rest;
            }
            for (block, forms) in forms.iter().enumerate() {
                let spots =
                    || [Some(pixel), next].into_iter().flatten().map(|pixel| Spot { pixel, block, forms });
                let made = paired.steps(block);
                let sums = |(spot, scratch): (Spot<'_>, &mut _)| {
                    self.sums_at(&mut course, spot, image, scratch, task)
                };
                if made && !spots().zip(&mut scratches).all(sums) {
                    let corners = (corner, next.map(|_| second));
                    paired.run(self, image, (self.blocks.of(block), forms), corners, asked, &mut scratches);
                }
                for (spot, scratch) in spots().zip(&mut scratches) {
                    self.run_at(&mut course, spot, image, scratch, made, task);
                }
            }
        }
    }

    /// Returns the random numbers of a block at a pixel, if some stage rounds at random.
    fn random(&self, Spot { pixel, block, .. }: Spot<'_>, task: &Task<'_, '_>) -> Option<Random<'_>> {
        let (layer, sample) = (self.layer, task.job.sample);
        let first = pixel * layer.dots.window.channels() + self.blocks.of(block).first;
        self.at_random.then_some(Random { kernels: self.kernels, layer, sample, first })
    }

    fn work<'p, V: Lane>(
        &'p self,
        plan: &'p Plan<V>,
        index: usize,
        random: Option<&'p Random<'p>>,
        task: &Task<'_, '_>,
    ) -> Work<'p, V> {
        let full = task.job.options.stats.counts_prefixes();
        let (start, certain, high) = (&plan.starts[index], plan.certain[index], plan.high[index].as_ref());
        Work { kernels: self.kernels, plan, start, certain, full, high, random }
    }

    /// Runs the dot products of a block at one pixel. `made` states whether the scratch already holds
    /// the results of the innermost level's runs.
    fn run_at<V: Lane>(
        &self,
        course: &mut Course<'_, V>,
        spot: Spot<'_>,
        image: &Image<'_>,
        scratch: &mut Scratch<V>,
        made: bool,
        task: &mut Task<'_, '_>,
    ) {
        let (plan, index) = (course.plan, spot.block);
        let random = self.random(spot, task);
        let work = self.work(plan, index, random.as_ref(), task);
        let vectors = self.ends_on_vectors(plan, index);
        task.biased = [false; LANES];
        if made {
            self.kernels.run(Leave { work, scratch });
            self.kernels.run(Outer { work, scratch });
        }
        if course.picked_at != Some(spot.pixel) {
            course.short = self.pick(spot.pixel, &mut course.picked);
            course.picked_at = Some(spot.pixel);
        }
        let short = course.short;
        let (block, indices) = (self.blocks.of(index), course.picked.as_slice());
        if let Some(source) = self.wide(spot, image) {
            self.run_products(work, spot, Picked { source, indices }, scratch, task);
        } else if short {
            let operands = self.operands(block, image, spot.pixel, &mut course.buffers);
            on_operands!(operands, x => self.run_products(work, spot, Picked::of(x, spot.forms.rows(block), indices), scratch, task));
        } else if !made || !vectors {
            let operands = self.operands(block, image, spot.pixel, &mut course.buffers);
            let trials = (!made).then_some(&mut course.trials[index]);
            on_operands!(operands, x => self.run_on_window(work, spot, x, scratch, trials, task));
        }
        if vectors {
            let terms = if short { course.picked.len() } else { self.layer.order.len() };
            self.finish_block(scratch, spot, terms, course.counters, task);
        }
        self.put(spot, task);
        self.count_block(work, scratch, index, course.counters, task);
        if short {
            self.place_short(scratch, spot, task);
            return;
        }
        if task.job.options.stats.counts_events() {
            if scratch.stepped {
                self.place_block(course, scratch, spot, image, task);
            }
            self.list_block(scratch, spot, task);
        }
        if task.traps {
            self.trap_block(scratch, spot, task);
        }
    }

    /// Computes the sums of `products` through all levels, and their output codes unless these are computed on
    /// vectors.
    fn run_products<S: Source<V>, V: Lane>(
        &self,
        work: Work<'_, V>,
        spot: Spot<'_>,
        products: S,
        scratch: &mut Scratch<V>,
        task: &mut Task<'_, '_>,
    ) {
        self.step_products(work, products, scratch);
        if !self.ends_on_vectors(work.plan, spot.block) {
            for lane in 0..self.blocks.of(spot.block).count {
                self.finish_of(work, scratch, products, lane, spot, task);
            }
        }
    }

    /// Writes the indices of the products at a pixel, unless it has all of them. Returns whether it has fewer;
    /// wide operands always have indices.
    fn pick(&self, pixel: usize, picked: &mut Vec<usize>) -> bool {
        let (layer, wide) = (self.layer, self.is_wide());
        if !wide && !self.skips {
            return false;
        }
        let (window, terms) = (&layer.dots.window, layer.order.len());
        let reads = |at| self.geometry.reads_image(pixel, at, window.dilation);
        let [rows, cols, _] = window.kernel.map(|size| size - 1);
        let corners = [KernelPosition { h: 0, w: 0, c: 0 }, KernelPosition { h: rows, w: cols, c: 0 }];
        if !self.skips || corners.into_iter().all(reads) {
            if picked.len() < terms && wide {
                picked.clear();
                picked.extend(0..terms);
            }
            return false;
        }
        picked.clear();
        picked.extend((0..terms).filter(|&k| reads(window.kernel_position(layer.order[k]))));
        picked.len() < terms
    }

    /// Returns the products of a block at a pixel if operands are wide.
    fn wide<'b>(&'b self, spot: Spot<'b>, image: &'b Image<'_>) -> Option<WideProducts<'b>> {
        let block = self.blocks.of(spot.block);
        self.is_wide().then(|| WideProducts {
            cells: &self.geometry.wide(image)[self.geometry.corner(spot.pixel)..],
            offsets: self.geometry.offsets(),
            lanes: block.reads.channels(),
            weights: spot.forms.wide(block),
        })
    }

    /// Counts the additions at some pixels.
    fn count_adds(&self, pixels: Range<usize>, stats: &mut LayerStats) {
        let mut picked = Vec::new();
        let mut short = 0;
        for pixel in pixels.clone().filter(|_| self.skips) {
            if self.pick(pixel, &mut picked) {
                short += 1;
                let adds = additions(self.layer, picked.len()).enumerate();
                adds.for_each(|(level, adds)| stats.count_adds(level, adds));
            }
        }
        for (level, adds) in additions(self.layer, self.layer.order.len()).enumerate() {
            stats.count_adds(level, (pixels.len() - short) as u64 * adds);
        }
    }

    /// Computes what requires the activations of one block at one pixel: its sums if trials are given, and
    /// its output codes unless they are computed on vectors.
    fn run_on_window<X: VectorActivations, V: Lane>(
        &self,
        work: Work<'_, V>,
        spot: Spot<'_>,
        x: X,
        scratch: &mut Scratch<V>,
        trials: Option<&mut Trials>,
        task: &mut Task<'_, '_>,
    ) {
        if let Some(trials) = trials {
            self.sum_block(work, spot, x, scratch, trials);
        }
        if !self.ends_on_vectors(work.plan, spot.block) {
            let mut activations = [0; LANES];
            if self.folds {
                self.kernels.run(Totals { x, count: self.layer.order.len(), totals: &mut activations });
            }
            for lane in 0..self.blocks.of(spot.block).count {
                self.finish(work, scratch, activations[lane], lane, spot, task);
            }
        }
    }

    /// Counts the results of every level for the dot products of block `index` at one pixel.
    fn count_block<V: Lane>(
        &self,
        work: Work<'_, V>,
        scratch: &Scratch<V>,
        index: usize,
        counters: &mut Counters<V>,
        task: &mut Task<'_, '_>,
    ) {
        let block = self.blocks.of(index);
        let count = block.count as u64;
        match (work.is_certain(), scratch.stepped) {
            (true, _) => task.settled.by_weights += count,
            (false, true) => task.settled.stepped += count,
            (false, false) => task.settled.by_sums += count,
        }
        let stats = task.job.options.stats;
        // Sums that cannot overflow change no counts but those of prefixes.
        if !stats.counts() || work.is_certain() && !stats.counts_prefixes() {
            return;
        }
        for lane in 0..block.count {
            let product_events = scratch.product_events[lane].wide();
            if product_events > 0 {
                task.stats.count_product_events(block.first + lane, product_events as u64);
            }
        }
        let seen = (&scratch.levels[..], &work.plan.held[index][..]);
        counters.count_levels(self.kernels, (index, block), seen, &self.layer.datapath.levels, stats);
    }
}
