//! The fast engine: equal to the reference, vectorized across outputs.
//!
//! It covers layers of one serial level whose operands fit 16 bits and whose exact sums fit 32; other
//! datapaths go to the parallel engine. Dot products that cannot overflow are not stepped: by bounds from the
//! weights and the input's range, or because their exact prefixes, or bounds of them, fit.

mod finish;
mod image;
mod kernels;
mod prepare;
mod simd;
mod trace;

use std::ops::Range;

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::{Check, MacLayer};
use guardbit_num::{Direction, Overflow};

pub(crate) use image::Image;
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
}

/// One stretch of outputs on its way through the engine.
struct Task<'t, 's> {
    sample: usize,
    options: &'t Options,
    stats: &'s mut LayerStats,
    codes: LayerCodes,
    /// First pixel of the stretch.
    origin: usize,
    events: Vec<DotEvent>,
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
    pub fn new(layer: &'a MacLayer, codes: std::ops::RangeInclusive<i32>, options: &Options) -> Option<Self> {
        let geometry = Geometry::new(layer);
        let blocks = prepare::blocks(layer, &geometry, codes.clone())?;
        let path = prepare::path(layer, &geometry, codes, &blocks);
        let kernels = Kernels::choose(options.body);
        Some(Self { layer, kernels, geometry, blocks, finisher: Finisher::new(layer), path })
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
        self.for_each_spot(image, 0..self.geometry.pixels(), &mut |spot: SpotSums<'_>| {
            let at = spot.pixel * channels + spot.block.first;
            for lane in 0..spot.block.count {
                let channel = spot.block.first + lane;
                let activations = spot.activations(self.finisher.reads_activations(), lane);
                codes[at + lane] =
                    self.finisher.exact_code(channel, spot.walked.sum[lane], activations, count);
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
    ) -> LayerCodes {
        let Some(path) = self.path else { return LayerCodes::default() };
        let channels = self.layer.dots.window.channels();
        let outputs = pixels.len() * channels;
        let codes = LayerCodes { simulated: vec![0; outputs], exact: vec![0; outputs] };
        stats.count_dots(pixels.len() as u64, self.layer.order.len() as u64, options);
        let mut task = Task { sample, options, stats, codes, origin: pixels.start, events: Vec::new() };
        self.for_each_spot(image, pixels, &mut |spot: SpotSums<'_>| self.narrow(path, &spot, &mut task));
        task.codes
    }

    /// Walks the exact sums of every block at every pixel.
    fn for_each_spot(&self, image: &Image, pixels: Range<usize>, then: &mut dyn FnMut(SpotSums<'_>)) {
        let mut windows = [Vec::new(), Vec::new()];
        let mut rows = [Vec::new(), Vec::new()];
        let mut pixel = pixels.start;
        while pixel < pixels.end {
            let count = PIXELS.min(pixels.end - pixel);
            for block in &self.blocks {
                match &block.reads {
                    Reads::Window(first) => {
                        let [a, b] = &mut windows;
                        let a = self.geometry.patch(image, pixel, *first, a);
                        if count == PIXELS {
                            let b = self.geometry.patch(image, pixel + 1, *first, b);
                            self.walk_pair(block, pixel, [a, b], then);
                        } else {
                            self.walk_one(block, pixel, a, then);
                        }
                    }
                    Reads::Lanes(channels) => {
                        let [a, b] = &mut rows;
                        self.geometry.lane_patch(image, pixel, channels, a);
                        if count == PIXELS {
                            self.geometry.lane_patch(image, pixel + 1, channels, b);
                            self.walk_pair(block, pixel, [a.as_slice(), b.as_slice()], then);
                        } else {
                            self.walk_one(block, pixel, a.as_slice(), then);
                        }
                    }
                }
            }
            pixel += count;
        }
    }

    fn walk_pair<'x, X: Activations + Into<AnyActivations<'x>>>(
        &self,
        block: &Block,
        pixel: usize,
        x: [X; PIXELS],
        then: &mut dyn FnMut(SpotSums<'_>),
    ) {
        let walked = self.kernels.walk(x, &block.weights, &block.start);
        for (i, (x, walked)) in x.into_iter().zip(walked).enumerate() {
            then(Spot { block, pixel: pixel + i, x: x.into(), walked });
        }
    }

    fn walk_one<'x, X: Activations + Into<AnyActivations<'x>>>(
        &self,
        block: &Block,
        pixel: usize,
        x: X,
        then: &mut dyn FnMut(SpotSums<'_>),
    ) {
        let [walked] = self.kernels.walk([x], &block.weights, &block.start);
        then(Spot { block, pixel, x: x.into(), walked });
    }

    /// Everything after the exact sums.
    fn narrow(&self, path: Path, spot: &SpotSums<'_>, task: &mut Task<'_, '_>) {
        let block = spot.block;
        let stepped = path.register.and_then(|narrow| self.step(path.check, narrow, spot));
        let channels = self.layer.dots.window.channels();
        let at = (spot.pixel - task.origin) * channels + block.first;
        let count = self.layer.order.len();
        for lane in 0..block.count {
            let channel = block.first + lane;
            let exact = spot.walked.sum[lane];
            let delivered = stepped.as_ref().map_or(exact, |stepped| stepped.value[lane]);
            let activations = spot.activations(self.finisher.reads_activations(), lane);
            let finished = self.finisher.finish(channel, delivered, exact, activations, count);
            task.codes.simulated[at + lane] = finished.code;
            task.codes.exact[at + lane] = finished.exact_code;
            if task.options.stats == StatsLevel::None {
                continue;
            }
            if delivered != exact || finished.bias_events > 0 {
                task.stats.record_errors(
                    channel,
                    DotErrors {
                        error: i128::from(delivered) - i128::from(exact),
                        harmless: finished.code == finished.exact_code,
                        bias_events: finished.bias_events,
                    },
                );
            }
            if stepped.is_some() || task.options.stats == StatsLevel::Full {
                self.record_level(path, spot, lane, stepped.as_ref(), task);
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

    /// Finds the events of a dot product again and places those that somebody wants to know.
    fn place_events(
        &self,
        check: Check,
        narrow: Narrow,
        spot: &SpotSums<'_>,
        lane: usize,
        task: &mut Task<'_, '_>,
    ) {
        let out = self.output_position(spot.pixel, spot.block.first + lane);
        let all = task.options.stats == StatsLevel::Full || task.stats.wants_events(task.sample);
        if !all && !task.stats.could_be_first(self.layer, out) {
            return;
        }
        task.events.clear();
        let limit = if all { usize::MAX } else { 1 };
        match check {
            Check::EachAdd => {
                let block = spot.block;
                let terms = block.weights.iter().enumerate();
                let products = terms.map(|(k, row)| i64::from(spot.x.at(k, lane)) * i64::from(row[lane]));
                trace::steps(narrow, block.start[lane].into(), products, limit, &mut task.events);
            }
            Check::HandOver => {
                let sum = i64::from(spot.walked.sum[lane]);
                trace::hand_over(narrow, sum, self.layer.order.len(), &mut task.events);
            }
        }
        task.stats.place_events(self.layer, task.sample, out, &task.events, task.options);
    }

    fn output_position(&self, pixel: usize, channel: usize) -> OutputPosition {
        let window = &self.layer.dots.window;
        window.output_position(pixel * window.channels() + channel)
    }

    /// The narrow sums, unless no lane can overflow.
    fn step(&self, check: Check, narrow: Narrow, spot: &SpotSums<'_>) -> Option<Stepped> {
        let walked = &spot.walked;
        let block = spot.block;
        let settled = |lane: usize| match check {
            Check::EachAdd => narrow.keeps(walked.min[lane].into(), walked.max[lane].into()),
            Check::HandOver => narrow.keeps(walked.sum[lane].into(), walked.sum[lane].into()),
        };
        if (0..block.count).all(settled) {
            return None;
        }
        Some(match check {
            Check::HandOver => hand_over(narrow, &walked.sum),
            Check::EachAdd => match spot.x {
                AnyActivations::Window(x) => self.step_block(narrow, x, block),
                AnyActivations::Lanes(x) => self.step_block(narrow, x, block),
            },
        })
    }

    fn step_block<X: Activations>(&self, narrow: Narrow, x: X, block: &Block) -> Stepped {
        match narrow.overflow {
            Overflow::Saturate | Overflow::SaturateSymmetric => {
                self.step_mode::<X, { kernels::SATURATE }>(narrow, x, block)
            }
            Overflow::Wrap if narrow.format.is_signed() => {
                self.step_mode::<X, { kernels::WRAP_SIGNED }>(narrow, x, block)
            }
            Overflow::Wrap => self.step_mode::<X, { kernels::WRAP_UNSIGNED }>(narrow, x, block),
            Overflow::SaturateZero => self.step_mode::<X, { kernels::ZERO }>(narrow, x, block),
            Overflow::Sticky => self.step_mode::<X, { kernels::STICKY }>(narrow, x, block),
            Overflow::Observe | Overflow::Trap => self.step_mode::<X, { kernels::OBSERVE }>(narrow, x, block),
        }
    }

    fn step_mode<X: Activations, const MODE: u8>(&self, narrow: Narrow, x: X, block: &Block) -> Stepped {
        let (weights, start, rails) = (&block.weights, &block.start, narrow.rails);
        let [stepped] = if narrow.sixteen {
            self.kernels.step_i16::<X, 1, MODE>([x], weights, start, rails)
        } else {
            self.kernels.step_i32::<X, 1, MODE>([x], weights, start, rails)
        };
        stepped
    }
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
fn hand_over(narrow: Narrow, sums: &[i32; LANES]) -> Stepped {
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
