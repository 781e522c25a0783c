//! The fast engine: equal to the reference, vectorized across outputs.
//!
//! It covers layers of one serial level whose operands fit 16 bits and whose exact sums fit 32; other
//! datapaths go to the parallel engine. Dot products that cannot overflow are not stepped: by bounds from the
//! weights and the input's range, or because their exact prefixes, or bounds of them, fit.

mod finish;
mod image;
mod kernels;
mod levels;
mod places;
mod prepare;
mod simd;
mod trace;

use std::cell::Cell;
use std::ops::{Range, RangeInclusive};
use std::sync::OnceLock;

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::{Check, MacLayer};
use guardbit_num::{Direction, Overflow};

pub(crate) use image::Image;
use levels::LevelsLayer;
pub(crate) use places::Stay;
pub(crate) use simd::available;

use crate::dot::{DotEvent, LevelOutcome};
use crate::layer::LayerCodes;
use crate::options::{Options, StatsLevel};
use crate::stats::{DotErrors, LayerStats};
use finish::Finisher;
use image::Geometry;
use kernels::{Activations, LANES, Row, Stepped, Walked};
use prepare::{Block, Narrow, Path, Reads};
use simd::Kernels;

/// Pixels that share one reading of the weights.
const PIXELS: usize = 2;

/// How many dot products the fast engine settled in which way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settled {
    /// Their weights and the range of their inputs say that they cannot overflow.
    pub by_weights: u64,
    /// Their own sums say so: exact prefixes, or bounds of them.
    pub by_sums: u64,
    /// They were walked addition by addition on the narrow register.
    pub stepped: u64,
}

impl Settled {
    pub(crate) fn merge(&mut self, other: Self) {
        self.by_weights += other.by_weights;
        self.by_sums += other.by_sums;
        self.stepped += other.stepped;
    }
}

/// A layer as the fast engine runs it, as far as it covers it.
#[derive(Debug, Default)]
pub(crate) struct Prepared<'a> {
    /// One serial level.
    pub one: Option<FastLayer<'a>>,
    /// Any other datapath.
    pub levels: Option<LevelsLayer<'a>>,
}

impl<'a> Prepared<'a> {
    /// Prepares `layer`, whose activation codes lie in `codes`.
    pub fn new(layer: &'a MacLayer, codes: RangeInclusive<i32>, options: &Options) -> Self {
        let one = FastLayer::new(layer, codes.clone(), options);
        let covered = one.as_ref().is_some_and(FastLayer::covers_datapath);
        let levels = if covered { None } else { LevelsLayer::new(layer, codes, options) };
        Self { one, levels }
    }
}

/// A layer prepared for the fast engine.
#[derive(Debug)]
pub(crate) struct FastLayer<'a> {
    layer: &'a MacLayer,
    kernels: Kernels,
    geometry: Geometry,
    blocks: Vec<Block>,
    finisher: Finisher<'a>,
    /// `None` where only the exact run is covered.
    path: Option<Path>,
    /// By output index; looked up when the first event has to be placed.
    stays: OnceLock<Vec<Stay>>,
}

/// One stretch of outputs on its way through the engine.
struct Task<'t, 's> {
    sample: usize,
    options: &'t Options,
    stats: &'s mut LayerStats,
    codes: LayerCodes,
    /// First pixel of the stretch.
    origin: usize,
    settled: Settled,
    events: Vec<DotEvent>,
    /// Events of the spots last stepped, step by step; empty where nobody asks.
    log: Vec<Row>,
    /// Rows of `log` per step.
    log_stride: usize,
    /// The row of the spot at hand.
    slot: usize,
}

/// One block of channels at one pixel.
struct Spot<'b, X> {
    block: &'b Block,
    pixel: usize,
    x: X,
    walked: Walked,
}

impl<'a> FastLayer<'a> {
    /// Prepares `layer`, whose activation codes lie in `codes`. `None` if not even its exact run is covered.
    pub fn new(layer: &'a MacLayer, codes: RangeInclusive<i32>, options: &Options) -> Option<Self> {
        let geometry = Geometry::new(layer);
        let blocks = prepare::blocks(layer, &geometry, codes.clone())?;
        let path = prepare::path(layer, &geometry, codes, &blocks);
        let kernels = Kernels::choose(options.body);
        Some(Self {
            layer,
            kernels,
            geometry,
            blocks,
            finisher: Finisher::new(layer),
            path,
            stays: OnceLock::new(),
        })
    }

    /// Whether the narrow run is covered too.
    pub fn covers_datapath(&self) -> bool {
        self.path.is_some()
    }

    /// Lays out the codes of one sample.
    pub fn image(&self, codes: &[i32]) -> Image {
        self.geometry.image(codes)
    }

    /// The exact output codes of one sample.
    pub fn exact_codes(&self, image: &Image) -> Vec<i32> {
        let channels = self.layer.dots.window.channels();
        let mut codes = vec![0; self.geometry.pixels() * channels];
        let count = self.layer.order.len();
        let reads_activations = self.finisher.reads_activations();
        self.for_each_spot(image, 0..self.geometry.pixels(), &mut |_| Sums::Only, &mut |_, spots| {
            for spot in spots {
                let at = spot.pixel * channels + spot.block.first;
                for lane in 0..spot.block.count {
                    let (channel, sum) = (spot.block.first + lane, spot.walked.sum[lane]);
                    let activations = spot.activations(reads_activations, lane);
                    codes[at + lane] = self.finisher.exact_code(channel, sum, activations, count);
                }
            }
        });
        codes
    }

    /// The narrow run of some pixels of one sample, counted in `stats`; the datapath must be covered.
    pub fn run(
        &self,
        image: &Image,
        pixels: Range<usize>,
        sample: usize,
        stats: &mut LayerStats,
        options: &Options,
    ) -> (LayerCodes, Settled) {
        let Some(path) = self.path else { return Default::default() };
        let channels = self.layer.dots.window.channels();
        let outputs = pixels.len() * channels;
        let codes = LayerCodes { simulated: vec![0; outputs], exact: vec![0; outputs] };
        stats.count_dots(pixels.len() as u64, self.layer.order.len() as u64, options);
        let policies: Vec<_> = self.blocks.iter().map(|block| Cell::new(Policy::new(block, path))).collect();
        let mut task = Task {
            sample,
            options,
            stats,
            codes,
            origin: pixels.start,
            settled: Settled::default(),
            events: Vec::new(),
            log: Vec::new(),
            log_stride: 1,
            slot: 0,
        };
        let sums = &mut |index: usize| {
            let mut policy = policies[index].get();
            let sums = policy.sums(&self.blocks[index], path, options.stats);
            policies[index].set(policy);
            sums
        };
        self.for_each_spot(image, pixels, sums, &mut |index, spots| {
            let mut policy = policies[index].get();
            self.narrow(path, spots, &mut policy, &mut task);
            policies[index].set(policy);
        });
        (task.codes, task.settled)
    }

    /// Makes the sums of every block at every pixel, one pixel or two at a time. `sums` says for a block how.
    fn for_each_spot(
        &self,
        image: &Image,
        pixels: Range<usize>,
        sums: &mut dyn FnMut(usize) -> Sums,
        then: &mut dyn FnMut(usize, &[SpotSums<'_>]),
    ) {
        let mut windows = [Vec::new(), Vec::new()];
        let mut rows = [Vec::new(), Vec::new()];
        for pixel in pixels.clone().step_by(PIXELS) {
            let pair = pixel + 1 < pixels.end;
            for (index, block) in self.blocks.iter().enumerate() {
                let how = sums(index);
                match &block.reads {
                    Reads::Window(first) => {
                        let [a, b] = &mut windows;
                        let a = self.geometry.patch(image, pixel, *first, a);
                        if pair {
                            let b = self.geometry.patch(image, pixel + 1, *first, b);
                            then(index, &block.spots(pixel, [a, b], self.window_sums(how, block, [a, b])));
                        } else {
                            then(index, &block.spots(pixel, [a], self.window_sums(how, block, [a])));
                        }
                    }
                    Reads::Lanes(channels) => {
                        let [a, b] = &mut rows;
                        self.geometry.lane_patch(image, pixel, channels, a);
                        let a = a.as_slice();
                        if pair {
                            self.geometry.lane_patch(image, pixel + 1, channels, b);
                            let b = b.as_slice();
                            let walked = self.kernels.walk([a, b], &block.weights, &block.start);
                            then(index, &block.spots(pixel, [a, b], walked));
                        } else {
                            let walked = self.kernels.walk([a], &block.weights, &block.start);
                            then(index, &block.spots(pixel, [a], walked));
                        }
                    }
                }
            }
        }
    }

    fn window_sums<const P: usize>(&self, how: Sums, block: &Block, x: [&[i16]; P]) -> [Walked; P] {
        match (how, &block.pairs) {
            (Sums::Only, Some(pairs)) => self.kernels.sum::<P, false>(x, pairs, &block.start),
            (Sums::Bounded, Some(pairs)) => self.kernels.sum::<P, true>(x, pairs, &block.start),
            _ => self.kernels.walk(x, &block.weights, &block.start),
        }
    }

    /// Everything after the exact sums of one block at one pixel or two.
    fn narrow(&self, path: Path, spots: &[SpotSums<'_>], policy: &mut Policy, task: &mut Task<'_, '_>) {
        let mut stepped = [None, None];
        if let Some(narrow) = path.register.filter(|_| !policy.certain) {
            let needed = |spot: &SpotSums<'_>| policy.unbounded || !settled(path.check, &narrow, spot);
            let mut all = [false; PIXELS];
            all.iter_mut().zip(spots.iter().map(needed)).for_each(|(flag, needed)| *flag = needed);
            let needed = &all[..spots.len()];
            for (spot, &needed) in spots.iter().zip(needed) {
                let lanes = (0..spot.block.count)
                    .filter(|&lane| needed && !lane_settled(path.check, &narrow, spot, lane));
                let stepped = if policy.unbounded { spot.block.count } else { lanes.count() };
                task.settled.stepped += stepped as u64;
                task.settled.by_sums += (spot.block.count - stepped) as u64;
            }
            policy.note(needed.iter().filter(|&&needed| needed).count(), spots.len());
            if needed.contains(&true) {
                stepped = self.step(path.check, narrow, spots, needed, task);
            }
        } else {
            task.settled.by_weights += spots.iter().map(|spot| spot.block.count as u64).sum::<u64>();
        }
        for (index, (spot, stepped)) in spots.iter().zip(&stepped).enumerate() {
            task.slot = index;
            self.finish(spot, stepped.as_ref(), task);
            if task.options.stats == StatsLevel::None {
                continue;
            }
            if stepped.is_some() || task.options.stats == StatsLevel::Full {
                for lane in 0..spot.block.count {
                    self.record_level(path, spot, lane, stepped.as_ref(), task);
                }
            }
        }
    }

    /// Output codes, and what is wrong with them.
    fn finish(&self, spot: &SpotSums<'_>, stepped: Option<&Stepped>, task: &mut Task<'_, '_>) {
        let block = spot.block;
        let at = (spot.pixel - task.origin) * self.layer.dots.window.channels() + block.first;
        let count = self.layer.order.len();
        let reads_activations = self.finisher.reads_activations();
        let exact = &spot.walked.sum;
        let delivered = stepped.map_or(exact, |stepped| &stepped.value);
        let simulated = &mut task.codes.simulated[at..at + block.count];
        let exacts = &mut task.codes.exact[at..at + block.count];
        for lane in 0..block.count {
            let channel = block.first + lane;
            let (delivered, exact) = (delivered[lane], exact[lane]);
            let activations = spot.activations(reads_activations, lane);
            let finished = self.finisher.finish(channel, delivered, exact, activations, count);
            simulated[lane] = finished.code;
            exacts[lane] = finished.exact_code;
            if (delivered != exact || finished.bias_events > 0) && task.options.stats != StatsLevel::None {
                let errors = DotErrors {
                    error: i128::from(delivered) - i128::from(exact),
                    harmless: finished.code == finished.exact_code,
                    bias_events: finished.bias_events,
                };
                task.stats.record_errors(channel, errors);
            }
        }
    }

    /// What the level did in one dot product.
    fn record_level(
        &self,
        path: Path,
        spot: &SpotSums<'_>,
        lane: usize,
        stepped: Option<&Stepped>,
        task: &mut Task<'_, '_>,
    ) {
        let channel = spot.block.first + lane;
        let sum = spot.walked.sum[lane];
        let (mut min, mut max) = (sum.min(0), sum.max(0));
        if path.check == Check::EachAdd {
            (min, max) = (spot.walked.min[lane].min(0), spot.walked.max[lane].max(0));
        }
        let (high, low) =
            stepped.map_or((0, 0), |stepped| (stepped.high[lane] as u64, stepped.low[lane] as u64));
        let outcome = LevelOutcome {
            adds: 0,
            events_high: high,
            events_low: low,
            persistent: path.register.is_some_and(|narrow| !narrow.holds(sum, sum)),
            prefix_misfit: path.register.is_some_and(|narrow| !narrow.holds(min, max)),
            min_prefix: min.into(),
            max_prefix: max.into(),
            min_final: sum.min(0).into(),
            max_final: sum.max(0).into(),
        };
        task.stats.record_level(0, channel, &outcome, path.signed, task.options.stats);
        if let Some(narrow) = path.register.filter(|_| outcome.touched()) {
            self.place_events(path.check, narrow, spot, lane, task);
        }
    }

    /// Places the events of a dot product, and finds them again where somebody wants to know each one.
    fn place_events(
        &self,
        check: Check,
        narrow: Narrow,
        spot: &SpotSums<'_>,
        lane: usize,
        task: &mut Task<'_, '_>,
    ) {
        let out = self.output_position(spot.pixel, spot.block.first + lane);
        let full = task.options.stats == StatsLevel::Full;
        let all = full || task.stats.wants_events(task.sample);
        let stay = self.stays.get_or_init(|| places::stays(self.layer))
            [spot.pixel * self.layer.dots.window.channels() + out.c];
        if !all && !task.stats.would_be_first(stay.earliest) {
            return;
        }
        if !task.log.is_empty() && !task.stats.wants_events(task.sample) {
            let (log, stride, slot) = (&task.log, task.log_stride, task.slot);
            let until = |k: usize| log[k * stride + slot][lane] as u64;
            task.stats.place_counted(self.layer, out, stay, self.layer.order.len(), &until);
            return;
        }
        task.events.clear();
        let limit = if all { usize::MAX } else { 1 };
        match check {
            Check::EachAdd => {
                let block = spot.block;
                let terms = block.weights.iter().enumerate();
                let products = terms.map(|(k, row)| i64::from(spot.x.at(k, lane)) * i64::from(row[lane]));
                trace::steps(&narrow, block.start[lane].into(), products, limit, &mut task.events);
            }
            Check::HandOver => {
                let sum = i64::from(spot.walked.sum[lane]);
                trace::hand_over(&narrow, sum, self.layer.order.len(), &mut task.events);
            }
        }
        task.stats.place_events(self.layer, task.sample, out, &task.events, task.options);
    }

    fn output_position(&self, pixel: usize, channel: usize) -> OutputPosition {
        let window = &self.layer.dots.window;
        window.output_position(pixel * window.channels() + channel)
    }

    /// The narrow sums of the spots that need them; more may be computed, never less.
    fn step(
        &self,
        check: Check,
        narrow: Narrow,
        spots: &[SpotSums<'_>],
        needed: &[bool],
        task: &mut Task<'_, '_>,
    ) -> [Option<Stepped>; PIXELS] {
        let log = self.logs(check, task).then_some(&mut task.log);
        task.log_stride = spots.len();
        let mut stepped = [None, None];
        if check == Check::HandOver {
            for ((stepped, spot), &needed) in stepped.iter_mut().zip(spots).zip(needed) {
                *stepped = needed.then(|| hand_over(&narrow, &spot.walked.sum));
            }
            return stepped;
        }
        let all = needed.iter().all(|&needed| needed);
        if let ([a, b], true) = (spots, all || log.is_some()) {
            stepped = self.step_any(narrow, [a, b], log).map(Some);
            for (stepped, &needed) in stepped.iter_mut().zip(needed) {
                stepped.take_if(|_| !needed);
            }
        } else if let Some(index) = needed.iter().position(|&needed| needed) {
            let [one] = self.step_any(narrow, [&spots[index]], log);
            stepped[index] = Some(one);
        }
        stepped
    }

    /// Whether stepping keeps a log of where events happened.
    fn logs(&self, check: Check, task: &Task<'_, '_>) -> bool {
        task.options.stats == StatsLevel::Full
            && check == Check::EachAdd
            && self.layer.order.len() <= i16::MAX as usize
            && self.layer.timing.stays_in_place()
    }

    fn step_any<const P: usize>(
        &self,
        narrow: Narrow,
        spots: [&SpotSums<'_>; P],
        log: Option<&mut Vec<Row>>,
    ) -> [Stepped; P] {
        let block = spots[0].block;
        let windows = spots.map(|spot| if let AnyActivations::Window(x) = spot.x { x } else { &[] });
        let lanes = spots.map(|spot| if let AnyActivations::Lanes(x) = spot.x { x } else { &[] });
        match spots[0].x {
            AnyActivations::Window(_) => self.step_block(narrow, windows, block, log),
            AnyActivations::Lanes(_) => self.step_block(narrow, lanes, block, log),
        }
    }

    fn step_block<X: Activations, const P: usize>(
        &self,
        narrow: Narrow,
        x: [X; P],
        block: &Block,
        log: Option<&mut Vec<Row>>,
    ) -> [Stepped; P] {
        match narrow.overflow {
            Overflow::Saturate | Overflow::SaturateSymmetric => {
                self.step_mode::<X, P, { kernels::SATURATE }>(narrow, x, block, log)
            }
            Overflow::Wrap if narrow.format.is_signed() => {
                self.step_mode::<X, P, { kernels::WRAP_SIGNED }>(narrow, x, block, log)
            }
            Overflow::Wrap => self.step_mode::<X, P, { kernels::WRAP_UNSIGNED }>(narrow, x, block, log),
            Overflow::SaturateZero => self.step_mode::<X, P, { kernels::ZERO }>(narrow, x, block, log),
            Overflow::Sticky => self.step_mode::<X, P, { kernels::STICKY }>(narrow, x, block, log),
            Overflow::Observe | Overflow::Trap => {
                self.step_mode::<X, P, { kernels::OBSERVE }>(narrow, x, block, log)
            }
        }
    }

    fn step_mode<X: Activations, const P: usize, const MODE: u8>(
        &self,
        narrow: Narrow,
        x: [X; P],
        block: &Block,
        log: Option<&mut Vec<Row>>,
    ) -> [Stepped; P] {
        let (kernels, weights, start, rails) = (self.kernels, &block.weights, &block.start, narrow.rails);
        match (log, narrow.sixteen) {
            (None, true) => kernels.step_i16::<X, P, MODE, false>(x, weights, start, rails, &mut []),
            (None, false) => kernels.step_i32::<X, P, MODE, false>(x, weights, start, rails, &mut []),
            (Some(log), sixteen) => {
                log.resize(weights.len() * P, [0; LANES]);
                if sixteen {
                    kernels.step_i16::<X, P, MODE, true>(x, weights, start, rails, log)
                } else {
                    kernels.step_i32::<X, P, MODE, true>(x, weights, start, rails, log)
                }
            }
        }
    }
}

impl Block {
    /// Sums and activations, pixel by pixel.
    fn spots<'x, X: Into<AnyActivations<'x>>, const P: usize>(
        &'x self,
        pixel: usize,
        x: [X; P],
        walked: [Walked; P],
    ) -> [SpotSums<'x>; P] {
        let mut at = pixel..;
        let mut walked = walked.into_iter();
        x.map(|x| Spot {
            block: self,
            pixel: at.next().unwrap_or(pixel),
            x: x.into(),
            walked: walked.next().unwrap_or(Walked { sum: [0; LANES], min: [0; LANES], max: [0; LANES] }),
        })
    }
}

/// How the sums of a block are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// Spots after which a block whose certificates mostly fail does without them.
    const TRIAL: usize = 16;

    fn new(block: &Block, path: Path) -> Self {
        let certain = path.register.is_none_or(|narrow| block.is_certain(&narrow));
        Self { certain, ..Self::default() }
    }

    fn note(&mut self, stepped: usize, spots: usize) {
        self.stepped += stepped;
        self.seen += spots;
    }

    /// How the next sums are made.
    fn sums(&mut self, block: &Block, path: Path, stats: StatsLevel) -> Sums {
        self.unbounded = false;
        if stats == StatsLevel::Full || block.pairs.is_none() {
            return Sums::Walked;
        }
        if self.certain || path.check == Check::HandOver {
            return Sums::Only;
        }
        self.unbounded = self.seen >= Self::TRIAL && 2 * self.stepped > self.seen;
        if self.unbounded { Sums::Only } else { Sums::Bounded }
    }
}

/// Whether no addition of any lane can overflow.
fn settled(check: Check, narrow: &Narrow, spot: &SpotSums<'_>) -> bool {
    (0..spot.block.count).all(|lane| lane_settled(check, narrow, spot, lane))
}

fn lane_settled(check: Check, narrow: &Narrow, spot: &SpotSums<'_>, lane: usize) -> bool {
    let Walked { sum, min, max } = &spot.walked;
    let (min, max) = match check {
        Check::EachAdd => (min[lane], max[lane]),
        Check::HandOver => (sum[lane], sum[lane]),
    };
    min >= narrow.rails.low && max <= narrow.rails.high
}

/// The activations of one pixel, in either layout.
#[derive(Debug, Clone, Copy)]
enum AnyActivations<'x> {
    Window(&'x [i16]),
    Lanes(&'x [Row]),
}

type SpotSums<'x> = Spot<'x, AnyActivations<'x>>;

impl<'x> From<&'x [i16]> for AnyActivations<'x> {
    fn from(x: &'x [i16]) -> Self {
        Self::Window(x)
    }
}

impl<'x> From<&'x [Row]> for AnyActivations<'x> {
    fn from(x: &'x [Row]) -> Self {
        Self::Lanes(x)
    }
}

impl AnyActivations<'_> {
    fn at(&self, k: usize, lane: usize) -> i16 {
        match self {
            Self::Window(x) => x[k],
            Self::Lanes(x) => x[k][lane],
        }
    }
}

impl SpotSums<'_> {
    /// The sum of the activations that a lane reads; 0 where nobody asks.
    fn activations(&self, asked: bool, lane: usize) -> i64 {
        if !asked {
            return 0;
        }
        let steps = self.block.weights.len();
        (0..steps).map(|k| i64::from(self.x.at(k, lane))).sum()
    }
}

/// One fit per dot product, where the result leaves the level.
fn hand_over(narrow: &Narrow, sums: &[i32; LANES]) -> Stepped {
    let mut stepped = Stepped { value: *sums, high: [0; LANES], low: [0; LANES] };
    for (lane, &sum) in sums.iter().enumerate() {
        let fit = narrow.overflow.fit(sum.into(), narrow.format);
        stepped.value[lane] = fit.value as i32;
        match fit.overflow {
            Some(Direction::High) => stepped.high[lane] = 1,
            Some(Direction::Low) => stepped.low[lane] = 1,
            None => {}
        }
    }
    stepped
}
