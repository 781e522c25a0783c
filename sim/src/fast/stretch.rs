//! A stretch of one sample's output pixels, tile by tile.

use std::ops::Range;

use guardbit_hwmodels::Check;

use super::kernels::{Activations, LANES, Lanes, Stepped, TILE, Walked};
use super::places::{Dot, Log, Record};
use super::prepare::{Block, Path};
use super::simd::VectorActivations;
use super::step::{Noted, Stepping};
use super::tally::Tallies;
use super::windows::{Read, Windows};
use super::{FastLayer, Image, Settled};
use crate::options::{Options, StatsLevel};
use crate::stats::{DotErrors, LayerStats};

/// One layer over one stretch: its register and what happens in it.
pub(super) struct Point<'p, 'a> {
    layer: &'p FastLayer<'a>,
    path: Path,
    stats: &'p mut LayerStats,
    pixels: Range<usize>,
    policies: Vec<Policy>,
    tallies: Tallies,
    log: Log,
    simulated: Changed,
    settled: Settled,
}

/// Output codes of a stretch, `[pixel][channel]`.
pub(super) struct Codes {
    codes: Vec<i32>,
    channels: usize,
    /// First pixel of the stretch.
    origin: usize,
}

/// Output codes of a stretch that are the exact ones but for some blocks at some pixels.
struct Changed {
    /// Empty while there are none.
    codes: Option<Codes>,
    /// `[pixel][block]`: whether the codes have been put.
    put: Vec<bool>,
}

/// Memory of a tile, used again and again: nothing in it is read before it is written.
struct Scratch {
    walked: [Walked; TILE],
    exact_codes: [Lanes; TILE],
    stepped: [Stepped; TILE],
}

impl Scratch {
    const EMPTY: Self = Self {
        walked: [Walked::ZERO; TILE],
        exact_codes: [[0; LANES]; TILE],
        stepped: [Stepped::ZERO; TILE],
    };
}

/// The pixels of a tile and what their dot products in one block of channels read.
pub(super) struct Tile<'t, X> {
    pub block: &'t Block,
    /// Index of the block.
    pub index: usize,
    /// First pixel.
    pub pixel: usize,
    pub x: &'t [X],
    pub walked: &'t [Walked],
    exact_codes: &'t [Lanes],
}

/// The exact output codes of `pixels`.
pub(super) fn exact_codes(layer: &FastLayer<'_>, image: &Image, pixels: Range<usize>) -> Vec<i32> {
    struct Exact<'e, 'a> {
        layer: &'e FastLayer<'a>,
        codes: Codes,
        scratch: Scratch,
    }
    impl Visit for Exact<'_, '_> {
        fn tile<X: VectorActivations>(&mut self, index: usize, block: &Block, pixel: usize, x: &[X]) {
            let Scratch { walked, exact_codes, .. } = &mut self.scratch;
            let (walked, codes) = (&mut walked[..x.len()], &mut exact_codes[..x.len()]);
            sums(self.layer, Sums::Only, block, x, walked);
            self.layer.finisher.exact_codes(self.layer.kernels, index, block, (x, walked), codes);
            self.codes.put(pixel, block, codes);
        }
    }
    let mut exact = Exact { layer, codes: Codes::new(layer, &pixels), scratch: Scratch::EMPTY };
    for_each_tile(layer, image, pixels, &mut exact);
    exact.codes.codes
}

/// Runs `pixels` of one sample through layers that differ in their register alone.
pub(super) fn run<'a>(
    points: &mut [Point<'_, 'a>],
    image: &Image,
    pixels: Range<usize>,
    sample: usize,
    options: &Options,
) -> Vec<i32> {
    let Some(layer) = points.first().map(|point| point.layer) else { return Vec::new() };
    for point in &mut *points {
        point.stats.count_dots(pixels.len() as u64, layer.layer.order.len() as u64, options);
    }
    let exact = Codes::new(layer, &pixels);
    let unbounded = [false, true].map(|signed| {
        let wanted = options.stats.counts_prefixes() && points.iter().any(|p| p.path.signed == signed);
        wanted.then(|| Tallies::new(layer.blocks.len()))
    });
    let scratch = Scratch::EMPTY;
    let mut narrow = NarrowRun { layer, points, unbounded, exact, scratch, sample, options };
    for_each_tile(layer, image, pixels, &mut narrow);
    let NarrowRun { points, unbounded, exact, .. } = narrow;
    for point in points {
        let unbounded = unbounded[usize::from(point.path.signed)].as_ref();
        for tallies in std::iter::once(&point.tallies).chain(unbounded) {
            tallies.flush(&point.layer.blocks, point.path, point.stats, options.stats);
        }
    }
    exact.codes
}

/// What is done with the tiles of a stretch.
trait Visit {
    /// One block, whose index comes first, at one tile, whose first pixel comes third.
    fn tile<X: VectorActivations>(&mut self, index: usize, block: &Block, pixel: usize, x: &[X]);
}

/// Visits every block at every tile.
fn for_each_tile(layer: &FastLayer<'_>, image: &Image, pixels: Range<usize>, visit: &mut impl Visit) {
    let mut windows = Windows::default();
    let mut corners = layer.geometry.corners(pixels.start);
    for pixel in pixels.clone().step_by(TILE) {
        let count = TILE.min(pixels.end - pixel);
        let corners: [usize; TILE] = std::array::from_fn(|_| corners.next().unwrap_or(0));
        let mut index = 0;
        for blocks in layer.blocks.chunk_by(|a, b| a.reads == b.reads) {
            let read = windows.read(&layer.geometry, image, &blocks[0], &corners[..count]);
            for block in blocks {
                match &read {
                    Read::Window(x) => visit.tile(index, block, pixel, &x[..count]),
                    Read::Neighbours(x) => visit.tile(index, block, pixel, &x[..count]),
                    Read::Lanes(x) => visit.tile(index, block, pixel, &x[..count]),
                }
                index += 1;
            }
        }
    }
}

/// A stretch on its way through one register or several.
struct NarrowRun<'r, 'p, 'a> {
    layer: &'r FastLayer<'a>,
    points: &'r mut [Point<'p, 'a>],
    /// What unbounded sums do, which is the same for all unsigned and for all signed registers; only where that is
    /// counted, and where there are such.
    unbounded: [Option<Tallies>; 2],
    exact: Codes,
    scratch: Scratch,
    sample: usize,
    options: &'r Options,
}

impl Visit for NarrowRun<'_, '_, '_> {
    fn tile<X: VectorActivations>(&mut self, index: usize, block: &Block, pixel: usize, x: &[X]) {
        let mut how = Sums::Only;
        for point in &mut *self.points {
            how = how.max(point.policies[index].sums(block, point.path, self.options.stats));
        }
        let Scratch { walked, exact_codes, stepped } = &mut self.scratch;
        let (walked, exact_codes) = (&mut walked[..x.len()], &mut exact_codes[..x.len()]);
        sums(self.layer, how, block, x, walked);
        if self.points[0].path.check == Check::HandOver {
            // The final sum is the only prefix.
            walked.iter_mut().for_each(|walked| (walked.min, walked.max) = (walked.sum, walked.sum));
        }
        self.layer.finisher.exact_codes(self.layer.kernels, index, block, (x, walked), exact_codes);
        self.exact.put(pixel, block, exact_codes);
        for (tallies, signed) in self.unbounded.iter_mut().zip([false, true]) {
            if let Some(tallies) = tallies {
                let kernels = self.layer.kernels;
                kernels.count_prefixes(tallies.of(index), walked, (i32::MIN, i32::MAX));
                tallies.count_required(kernels, walked, block.count, signed);
            }
        }
        let tile = Tile { block, index, pixel, x, walked, exact_codes };
        for point in &mut *self.points {
            point.narrow(&tile, stepped, self.sample, self.options);
        }
    }
}

fn sums<X: VectorActivations>(
    layer: &FastLayer<'_>,
    how: Sums,
    block: &Block,
    x: &[X],
    walked: &mut [Walked],
) {
    let kernels = layer.kernels;
    match (how, &block.pairs) {
        (Sums::Only, Some(pairs)) => kernels.sum::<X, false>(x, pairs, &block.start, walked),
        (Sums::Bounded, Some(pairs)) => kernels.sum::<X, true>(x, pairs, &block.start, walked),
        _ if block.short => kernels.walk::<X, true>(x, &block.weights, &block.start, walked),
        _ => kernels.walk::<X, false>(x, &block.weights, &block.start, walked),
    }
}

impl Codes {
    fn new(layer: &FastLayer<'_>, pixels: &Range<usize>) -> Self {
        let channels = layer.layer.dots.window.channels();
        let codes = layer.spare.take(pixels.len() * channels);
        Self { codes, channels, origin: pixels.start }
    }

    /// Puts the codes of a block at some pixels.
    fn put(&mut self, pixel: usize, block: &Block, codes: &[Lanes]) {
        let first = (pixel - self.origin) * self.channels + block.first;
        let places = self.codes[first..].chunks_mut(self.channels);
        for (place, codes) in places.zip(codes) {
            match block.count {
                // A copy of known length is one or two moves.
                LANES => place[..LANES].copy_from_slice(codes),
                count => place[..count].copy_from_slice(&codes[..count]),
            }
        }
    }
}

impl Changed {
    /// All codes beside the exact ones; `None` if there are no others.
    fn beside(self, blocks: &[Block], exact: &[i32]) -> Option<Vec<i32>> {
        let Codes { mut codes, channels, .. } = self.codes?;
        let pixels = codes.chunks_mut(channels).zip(exact.chunks(channels));
        for ((codes, exact), put) in pixels.zip(self.put.chunks(blocks.len())) {
            for (block, _) in blocks.iter().zip(put).filter(|(_, put)| !**put) {
                let lanes = block.first..block.first + block.count;
                codes[lanes.clone()].copy_from_slice(&exact[lanes]);
            }
        }
        Some(codes)
    }
}

impl<'p, 'a> Point<'p, 'a> {
    /// `layer` about to run over `pixels`; its datapath must be covered.
    pub fn new(
        layer: &'p FastLayer<'a>,
        path: Path,
        stats: &'p mut LayerStats,
        pixels: &Range<usize>,
    ) -> Self {
        Self {
            layer,
            path,
            stats,
            pixels: pixels.clone(),
            policies: layer.blocks.iter().map(|block| Policy::new(block, path)).collect(),
            tallies: Tallies::new(layer.blocks.len()),
            log: Log::default(),
            simulated: Changed { codes: None, put: vec![false; pixels.len() * layer.blocks.len()] },
            settled: Settled::default(),
        }
    }

    /// What the narrow hardware made, and how; `None` if it made the `exact` codes.
    pub fn into_codes(self, exact: &[i32]) -> (Option<Vec<i32>>, Settled) {
        (self.simulated.beside(&self.layer.blocks, exact), self.settled)
    }

    /// Everything after the exact sums.
    fn narrow<X: VectorActivations>(
        &mut self,
        tile: &Tile<'_, X>,
        stepped: &mut [Stepped; TILE],
        sample: usize,
        options: &Options,
    ) {
        let mut pixels = [0; TILE];
        let needy = self.needy(tile, &mut pixels);
        let (pixels, stepped) = (&pixels[..needy], &mut stepped[..needy]);
        if let (Some(narrow), false) = (self.path.register, pixels.is_empty()) {
            let noted = match options.stats.counts_events() {
                false => Noted::Nothing,
                true if self.layer.places.are_logged(self.path.check, options) => Noted::Log(&mut self.log),
                true => Noted::Counts,
            };
            Stepping { layer: self.layer, check: self.path.check, narrow: &narrow, tile, pixels }
                .run(noted, stepped);
        }
        match self.layer.finisher.scales() {
            true => self.finish(tile, pixels, stepped, options),
            false => self.finish_one_by_one(tile, pixels, stepped, options),
        }
        if !options.stats.counts() {
            return;
        }
        let kernels = self.layer.kernels;
        let held = self.path.register.map_or((i32::MIN, i32::MAX), |narrow| narrow.held);
        kernels.count_events(self.tallies.of(tile.index), pixels, stepped, tile.walked, held);
        if options.stats.counts_events() {
            for (slot, (&at, stepped)) in pixels.iter().zip(&*stepped).enumerate() {
                self.place(tile, slot, at, stepped, sample, options);
            }
        }
        if options.stats.counts_prefixes() {
            // Every prefix that the format does not hold is beyond the rails too. The rest is counted for all points.
            let mut misfits = [Walked::ZERO; TILE];
            misfits.iter_mut().zip(pixels).for_each(|(walked, &at)| *walked = tile.walked[at]);
            kernels.count_prefixes(self.tallies.of(tile.index), &misfits[..pixels.len()], held);
        }
    }

    /// Finds the pixels of a tile where some dot product has to be stepped, and says how many they are.
    fn needy<X>(&mut self, tile: &Tile<'_, X>, pixels: &mut [usize; TILE]) -> usize {
        let (policy, count) = (&mut self.policies[tile.index], tile.block.count);
        let Some(narrow) = self.path.register.filter(|_| !policy.certain) else {
            self.settled.by_weights += (tile.x.len() * count) as u64;
            return 0;
        };
        let mut misfits = [count; TILE];
        if !policy.unbounded {
            self.layer.kernels.misfits(tile.walked, narrow.rails, &mut misfits);
        }
        let mut needy = 0;
        for (at, &misfits) in misfits.iter().enumerate().take(tile.walked.len()) {
            self.settled.stepped += misfits as u64;
            self.settled.by_sums += (count - misfits) as u64;
            if misfits > 0 {
                pixels[needy] = at;
                needy += 1;
            }
        }
        policy.note(needy, tile.x.len());
        needy
    }

    /// Output codes, and what is wrong with the sums.
    fn finish<X>(&mut self, tile: &Tile<'_, X>, pixels: &[usize], stepped: &[Stepped], options: &Options) {
        if pixels.is_empty() {
            return;
        }
        let kernels = self.layer.kernels;
        let mut codes = [[0; LANES]; TILE];
        self.layer.finisher.scale(kernels, tile.index, stepped, &mut codes);
        for (&at, codes) in pixels.iter().zip(&codes) {
            self.put(tile, at, codes);
        }
        if options.stats.counts() {
            let (tally, codes) = (self.tallies.of(tile.index), [&codes, tile.exact_codes]);
            kernels.count_errors(tally, pixels, stepped, tile.walked, codes);
        }
    }

    /// The same for output stages that the kernels do not do.
    fn finish_one_by_one<X: Activations>(
        &mut self,
        tile: &Tile<'_, X>,
        pixels: &[usize],
        stepped: &[Stepped],
        options: &Options,
    ) {
        let finisher = &self.layer.finisher;
        for (at, (walked, &x)) in tile.walked.iter().zip(tile.x).enumerate() {
            let mine = pixels.iter().position(|&p| p == at).map(|slot| &stepped[slot]);
            let mut codes = [0; LANES];
            for (lane, code) in codes.iter_mut().enumerate().take(tile.block.count) {
                let exact = walked.sum[lane];
                let delivered = mine.map_or(exact, |stepped| stepped.value[lane]);
                let channel = tile.block.first + lane;
                let bias_events;
                (*code, bias_events) = finisher.finish(channel, delivered, exact, x, lane);
                if options.stats.counts() {
                    let error = i128::from(delivered) - i128::from(exact);
                    let harmless = *code == tile.exact_codes[at][lane];
                    self.stats.record_errors(channel, DotErrors { error, harmless, bias_events });
                }
            }
            self.put(tile, at, &codes);
        }
    }

    /// Puts the codes of one pixel of a tile.
    fn put<X>(&mut self, tile: &Tile<'_, X>, at: usize, codes: &Lanes) {
        let Changed { codes: all, put } = &mut self.simulated;
        let all = all.get_or_insert_with(|| Codes::new(self.layer, &self.pixels));
        all.put(tile.pixel + at, tile.block, std::slice::from_ref(codes));
        put[(tile.pixel + at - self.pixels.start) * self.layer.blocks.len() + tile.index] = true;
    }

    /// Places the events of one pixel of a tile.
    fn place<X: Activations>(
        &mut self,
        tile: &Tile<'_, X>,
        slot: usize,
        at: usize,
        stepped: &Stepped,
        sample: usize,
        options: &Options,
    ) {
        let Some(narrow) = self.path.register else { return };
        let pixel = tile.pixel + at;
        let places = &self.layer.places;
        let record = &mut Record { sample, stats: self.stats, options };
        if !places.ask(pixel, tile.index, record) {
            return;
        }
        let block = tile.block;
        let log = places.are_logged(self.path.check, options).then_some(&self.log);
        for lane in (0..block.count).filter(|&lane| (stepped.high[lane] | stepped.low[lane]) != 0) {
            let steps = block.weights.iter().enumerate();
            let x = tile.x[at];
            let products = steps.map(|(k, row)| i64::from(x.at(k, lane)) * i64::from(row[lane]));
            let dot = Dot {
                pixel,
                channel: block.first + lane,
                block: tile.index,
                lane,
                slot,
                start: block.start[lane].into(),
                sum: tile.walked[at].sum[lane].into(),
                events: (stepped.high[lane] + stepped.low[lane]) as u64,
            };
            places.place((self.path.check, &narrow), dot, products, log, record);
        }
    }
}

/// How the sums of a block are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sums {
    /// Final sums alone.
    Only,
    /// With bounds of their prefixes.
    Bounded,
    /// With the exact extremes of their prefixes.
    Walked,
}

/// What one block does about certificates within one stretch of outputs.
#[derive(Debug, Clone, Copy, Default)]
struct Policy {
    /// No dot product of the block can overflow.
    certain: bool,
    /// Nothing is known of prefixes: every dot product is stepped.
    unbounded: bool,
    seen: usize,
    stepped: usize,
}

impl Policy {
    /// Pixels after which a block whose certificates mostly fail does without them.
    const TRIAL: usize = 16;

    fn new(block: &Block, path: Path) -> Self {
        let certain = path.register.is_none_or(|narrow| block.is_certain(&narrow));
        Self { certain, ..Self::default() }
    }

    fn note(&mut self, stepped: usize, pixels: usize) {
        self.stepped += stepped;
        self.seen += pixels;
    }

    /// How the next sums are made.
    fn sums(&mut self, block: &Block, path: Path, stats: StatsLevel) -> Sums {
        self.unbounded = false;
        if stats.counts_prefixes() || block.pairs.is_none() {
            return Sums::Walked;
        }
        if self.certain || path.check == Check::HandOver {
            return Sums::Only;
        }
        self.unbounded = self.seen >= Self::TRIAL && 2 * self.stepped > self.seen;
        if self.unbounded { Sums::Only } else { Sums::Bounded }
    }
}
