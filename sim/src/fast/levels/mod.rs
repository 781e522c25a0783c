//! Any datapath, vectorized across outputs: several levels, trees, hand-overs, shifts, narrow products.
//!
//! What it does not cover is left to the reference: stages that trap, lanes that share an adder, pools over
//! padding, operands beyond 16 bits, sums beyond 62.

#![allow(clippy::needless_range_loop, reason = "lanes are walked by index, in several arrays at once")]

mod kernel;
mod lane;
mod level;
mod loops;
mod places;
mod plan;
mod scratch;
mod sixteen;

use std::ops::{Range, RangeInclusive};

use guardbit_hwmodels::{MacLayer, Packing, Register};
use guardbit_num::Overflow;

use super::Settled;
use super::finish::Finisher;
use super::image::{Geometry, Image};
use super::kernels::{Activations, LANES, Neighbours, Pair, Row, Walked};
use super::prepare::{self, Reads};
use super::simd::{Kernels, VectorActivations};
use crate::codes::Codes;
use crate::dot::{DotEngine, DotOutcome, LevelOutcome};
use crate::options::Options;
use crate::output;
use crate::reference::ReferenceEngine;
use crate::stats::{DotErrors, LayerStats};
use kernel::{Exact, Inner, Outer, Work};
use lane::Lane;
use places::Places;
use plan::Plan;
use scratch::{Scratch, Seen};

/// A layer prepared for any datapath.
#[derive(Debug)]
pub(crate) struct LevelsLayer<'a> {
    layer: &'a MacLayer,
    kernels: Kernels,
    geometry: Geometry,
    blocks: Vec<Block>,
    finisher: Finisher<'a>,
    /// Whether sums leave the datapath in unit 1: what the finisher knows.
    plain_end: bool,
    levels: Vec<LevelFacts>,
    lanes: Lanes,
    places: Places<'a>,
}

/// The datapath on the narrowest lanes that hold it.
#[derive(Debug)]
enum Lanes {
    Bits32(Plan<i32>),
    Bits64(Plan<i64>),
}

/// Up to [`LANES`] output channels.
#[derive(Debug)]
struct Block {
    /// The first channel and their number.
    first: usize,
    count: usize,
    reads: Reads,
    /// `[k][lane]`, 0 where there is no channel.
    weights: Vec<Row>,
    /// The same, two steps at a time.
    pairs: Vec<Pair>,
}

/// The activations of one block at one pixel.
enum Operands<'b> {
    /// The same for all lanes.
    Window(&'b [i16]),
    Neighbours(Neighbours<'b>),
    Lanes(&'b [Row]),
}

/// Where activations are gathered.
#[derive(Default)]
struct Buffers {
    window: Vec<i16>,
    rows: Vec<Row>,
}

/// What the statistics of a level need to know.
#[derive(Debug, Clone, Copy)]
struct LevelFacts {
    /// Additions per dot product.
    adds: u64,
    signed: bool,
    /// Least and greatest value of the format: what persistent and transient speak of.
    held: (i64, i64),
}

/// Some pixels of one sample.
pub(crate) struct LevelsTask<'t> {
    /// Its codes as [`LevelsLayer::image`] lays them out, and as they are.
    pub image: &'t Image<'t>,
    pub input: &'t Codes,
    pub pixels: Range<usize>,
    pub sample: usize,
}

/// A range of outputs of one sample.
struct Task<'t, 's, 'i> {
    layer: &'i MacLayer,
    sample: usize,
    input: &'i Codes,
    options: &'t Options,
    stats: &'s mut LayerStats,
    exact: Vec<i32>,
    simulated: Vec<i32>,
    /// First pixel of the range.
    origin: usize,
    settled: &'s mut Settled,
    walker: Option<Walker>,
}

impl<'a> LevelsLayer<'a> {
    /// Prepares `layer`, whose activation codes lie in `codes`; `None` if it is not covered.
    pub fn new(layer: &'a MacLayer, codes: RangeInclusive<i32>, options: &Options) -> Option<Self> {
        let window = &layer.dots.window;
        let geometry = Geometry::new(layer, &codes);
        let pool = layer.dots.weights.is_none();
        let traps = |register| matches!(register, Register::Fixed { overflow: Overflow::Trap, .. });
        if window.dots() == 0
            || layer.order.is_empty()
            || layer.packing != Packing::None
            // Orders of single dot products and random numbers by place are the reference's.
            || layer.datapath.order.walk.depends_on_data()
            || layer.datapath.rounds_at_random()
            || traps(layer.datapath.bias.register)
            // Such a window has fewer products at the edges.
            || (pool && geometry.reads_padding())
        {
            return None;
        }
        let operands = prepare::operand_range(layer, &geometry, codes);
        let fits = |value: i64| i16::try_from(value).is_ok();
        if !fits(operands.0) || !fits(operands.1) {
            return None;
        }
        let blocks = blocks(layer)?;
        let lanes = match Plan::new(layer, &blocks, operands) {
            Some(plan) => Lanes::Bits32(plan),
            None => Lanes::Bits64(Plan::new(layer, &blocks, operands)?),
        };
        let shift = layer.datapath.unit_shift(layer.datapath.levels.len());
        Some(Self {
            layer,
            kernels: Kernels::choose(options.isa),
            geometry,
            blocks,
            finisher: Finisher::new(layer, &[], None),
            places: Places::new(layer),
            plain_end: shift == 0,
            levels: facts(layer),
            lanes,
        })
    }

    /// Lays out the codes of one sample.
    pub fn image<'c>(&self, codes: &'c Codes) -> Image<'c> {
        self.geometry.image(codes)
    }

    /// The narrow run of some pixels of one sample, counted in `stats` and `settled`. Gives the exact codes and those
    /// of the narrow hardware.
    pub fn run(
        &self,
        task: LevelsTask<'_>,
        stats: &mut LayerStats,
        settled: &mut Settled,
        options: &Options,
    ) -> (Vec<i32>, Vec<i32>) {
        let LevelsTask { image, input, pixels, sample } = task;
        let outputs = pixels.len() * self.layer.dots.window.channels();
        stats.count_dots(pixels.len() as u64, 0, options);
        if options.stats.counts() {
            for (index, level) in self.levels.iter().enumerate() {
                stats.count_adds(index, pixels.len() as u64 * level.adds);
            }
        }
        let mut task = Task {
            layer: self.layer,
            sample,
            input,
            options,
            stats,
            exact: vec![0; outputs],
            simulated: vec![0; outputs],
            origin: pixels.start,
            settled,
            walker: None,
        };
        match &self.lanes {
            Lanes::Bits32(plan) => self.run_on(plan, image, pixels, &mut task),
            Lanes::Bits64(plan) => self.run_on(plan, image, pixels, &mut task),
        }
        (task.exact, task.simulated)
    }

    /// The exact output codes of one sample.
    pub fn exact_codes(&self, image: &Image<'_>) -> Vec<i32> {
        match &self.lanes {
            Lanes::Bits32(_) => self.exact_codes_on::<i32>(image),
            Lanes::Bits64(_) => self.exact_codes_on::<i64>(image),
        }
    }

    fn exact_codes_on<V: Lane>(&self, image: &Image<'_>) -> Vec<i32> {
        let channels = self.layer.dots.window.channels();
        let mut codes = vec![0; self.geometry.pixels() * channels];
        let mut buffers = Buffers::default();
        for pixel in 0..self.geometry.pixels() {
            for block in &self.blocks {
                let codes = &mut codes[pixel * channels + block.first..][..block.count];
                match self.operands(block, image, pixel, &mut buffers) {
                    Operands::Window(x) => self.exact_codes_at::<_, V>(block, x, codes),
                    Operands::Neighbours(x) => self.exact_codes_at::<_, V>(block, x, codes),
                    Operands::Lanes(x) => self.exact_codes_at::<_, V>(block, x, codes),
                }
            }
        }
        codes
    }

    fn exact_codes_at<X: VectorActivations, V: Lane>(&self, block: &Block, x: X, codes: &mut [i32]) {
        let mut sums = [V::ZERO; LANES];
        self.kernels.run(Exact { x, weights: &block.weights, sums: &mut sums });
        for (lane, code) in codes.iter_mut().enumerate() {
            let channel = block.first + lane;
            let exact = output::exact_sum(self.layer, channel, sums[lane].wide().into());
            *code = self.exact_code(channel, exact, x, lane);
        }
    }

    fn exact_code(&self, channel: usize, exact: i128, x: impl Activations, lane: usize) -> i32 {
        match i32::try_from(exact) {
            Ok(exact) => self.finisher.exact_code(channel, exact, x, lane),
            Err(_) => output::exact_code(self.layer, channel, &self.sum(exact, exact, x, lane)),
        }
    }

    fn sum(&self, delivered: i128, exact: i128, x: impl Activations, lane: usize) -> output::Sum {
        let count = self.layer.order.len();
        let activations = (0..count).map(|k| i128::from(x.at(k, lane))).sum();
        output::Sum { delivered, exact, activations, count }
    }

    /// What the lanes of a block multiply at a pixel.
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

    fn run_on<V: Lane>(
        &self,
        plan: &Plan<V>,
        image: &Image<'_>,
        pixels: Range<usize>,
        task: &mut Task<'_, '_, '_>,
    ) {
        let mut scratch = Scratch::new(plan);
        let mut buffers = Buffers::default();
        for pixel in pixels {
            for index in 0..self.blocks.len() {
                match self.operands(&self.blocks[index], image, pixel, &mut buffers) {
                    Operands::Window(x) => self.run_block(plan, (pixel, index), x, &mut scratch, task),
                    Operands::Neighbours(x) => self.run_block(plan, (pixel, index), x, &mut scratch, task),
                    Operands::Lanes(x) => self.run_block(plan, (pixel, index), x, &mut scratch, task),
                }
            }
        }
    }

    /// The dot products of block `index` at one pixel.
    fn run_block<X: VectorActivations, V: Lane>(
        &self,
        plan: &Plan<V>,
        (pixel, index): (usize, usize),
        x: X,
        scratch: &mut Scratch<V>,
        task: &mut Task<'_, '_, '_>,
    ) {
        let (block, certain) = (&self.blocks[index], plan.certain[index]);
        let full = task.options.stats.counts_prefixes();
        let work = Work { plan, start: &plan.starts[index], certain, full };
        let is_certain = certain > plan.levels.len();
        let count = block.count as u64;
        if is_certain && !full && !plan.drops_bits && V::BITS == 32 {
            let mut walked = [Walked::ZERO];
            let mut start = [0; LANES];
            start.iter_mut().zip(&work.start.unbounded).for_each(|(start, bias)| *start = bias.wide() as i32);
            self.kernels.sum::<X, false>(&[x], &block.pairs, &start, &mut walked);
            scratch.settle(&walked[0].sum);
        } else {
            let weights = block.weights.as_slice();
            self.kernels.run(Inner { work, x, weights, scratch });
            if plan.levels.len() > 1 {
                self.kernels.run(Outer { work, scratch });
            }
        }
        match (is_certain, scratch.stepped) {
            (true, _) => task.settled.by_weights += count,
            (false, true) => task.settled.stepped += count,
            (false, false) => task.settled.by_sums += count,
        }
        let channels = self.layer.dots.window.channels();
        let mut touched = [false; LANES];
        for (lane, touched) in touched[..block.count].iter_mut().enumerate() {
            let channel = block.first + lane;
            self.finish(work, scratch, x, lane, (pixel, channel), task);
            if task.options.stats.counts() {
                *touched = self.record(scratch, lane, channel, task);
            }
        }
        if touched.contains(&true) {
            self.place(scratch, pixel * channels + block.first, &touched[..block.count], task);
        }
    }

    /// The output codes of one dot product, and what is wrong with them.
    fn finish<V: Lane>(
        &self,
        work: Work<'_, V>,
        scratch: &Scratch<V>,
        x: impl Activations,
        lane: usize,
        (pixel, channel): (usize, usize),
        task: &mut Task<'_, '_, '_>,
    ) {
        let layer = self.layer;
        let delivered = scratch.delivered()[lane].wide();
        let exact = if work.plan.drops_bits {
            output::exact_sum(layer, channel, scratch.products[lane].wide().into())
        } else {
            scratch.unbounded()[lane].wide().into()
        };
        let plain = i32::try_from(delivered).ok().zip(i32::try_from(exact).ok()).filter(|_| self.plain_end);
        let (code, exact_code, error, bias_events) = match plain {
            Some((delivered, exact)) => {
                let (code, bias_events) = self.finisher.finish(channel, delivered, exact, x, lane);
                let same = delivered == exact && bias_events == 0;
                let exact_code = if same { code } else { self.finisher.exact_code(channel, exact, x, lane) };
                (code, exact_code, i128::from(delivered) - i128::from(exact), bias_events)
            }
            None => {
                let mut outcome = DotOutcome::default();
                let sum = self.sum(delivered.into(), exact, x, lane);
                output::finish(layer, channel, &sum, &mut outcome);
                (outcome.code, outcome.exact_code, outcome.error, outcome.bias_events)
            }
        };
        let at = (pixel - task.origin) * layer.dots.window.channels() + channel;
        task.simulated[at] = code;
        task.exact[at] = exact_code;
        let bias_events = bias_events + u64::from(work.start.misfit[lane]);
        if (error != 0 || bias_events > 0) && task.options.stats.counts() {
            let harmless = code == exact_code;
            task.stats.record_errors(channel, DotErrors { error, harmless, bias_events });
        }
    }

    /// Counts what every level did in one dot product; whether any had an event that counts.
    fn record<V: Lane>(
        &self,
        scratch: &Scratch<V>,
        lane: usize,
        channel: usize,
        task: &mut Task<'_, '_, '_>,
    ) -> bool {
        let mut touched = false;
        let stats = task.options.stats;
        let product_events = scratch.product_events[lane].wide();
        if product_events > 0 {
            task.stats.count_product_events(channel, product_events as u64);
        }
        for (index, (seen, level)) in scratch.levels.iter().zip(&self.levels).enumerate() {
            let outcome = level.outcome(seen, lane);
            touched |= outcome.touched();
            if stats.counts_prefixes() || outcome.touched() || outcome.persistent {
                task.stats.record_level(index, channel, &outcome, level.signed, stats);
            }
        }
        touched && stats.counts_events()
    }

    /// Places the events of neighbouring dot products where that makes a difference; the first is that of output
    /// `first`. Where each event is listed, it is found again.
    fn place<V: Lane>(
        &self,
        scratch: &Scratch<V>,
        first: usize,
        touched: &[bool],
        task: &mut Task<'_, '_, '_>,
    ) {
        let lists = task.stats.wants_events(task.sample);
        if task.options.places_all() {
            for (level, (log, seen)) in scratch.logs.iter().zip(&scratch.levels).enumerate() {
                let mut totals = [0; LANES];
                for (lane, total) in totals.iter_mut().enumerate() {
                    *total = (seen.counts.high[lane].wide() + seen.counts.low[lane].wide()) as u64;
                }
                let totals = &totals[..touched.len()];
                if totals.iter().any(|&total| total > 0) {
                    self.places.count(level, first, log.rows(), totals, self.kernels, task.stats);
                }
            }
            if !lists {
                return;
            }
        }
        for index in (first..).zip(touched).filter_map(|(index, &touched)| touched.then_some(index)) {
            let before = match lists {
                true => task.stats.listed_before(task.sample),
                false => task.stats.first_event_cycle,
            };
            if before.is_none_or(|cycle| self.places.earliest(index) < cycle) {
                let (layer, input) = (task.layer, task.input);
                let out = layer.dots.window.output_position(index);
                let walker = task
                    .walker
                    .get_or_insert_with(|| Walker { input: input.to_vec(), outcome: DotOutcome::default() });
                let mut engine = ReferenceEngine::new(layer, &walker.input, task.sample);
                engine.run(out, &mut walker.outcome);
                task.stats.list_events(layer, task.sample, out, &walker.outcome.events);
            }
        }
    }
}

/// Walks single dot products again to find their events.
struct Walker {
    input: Vec<i32>,
    outcome: DotOutcome,
}

impl LevelFacts {
    fn outcome<V: Lane>(&self, seen: &Seen<V>, lane: usize) -> LevelOutcome {
        let (min_prefix, max_prefix) = (seen.prefixes.min[lane].wide(), seen.prefixes.max[lane].wide());
        let (min_final, max_final) = (seen.finals.min[lane].wide(), seen.finals.max[lane].wide());
        let misfit = |min: i64, max: i64| min < self.held.0 || max > self.held.1;
        LevelOutcome {
            adds: 0,
            events_high: seen.counts.high[lane].wide() as u64,
            events_low: seen.counts.low[lane].wide() as u64,
            persistent: misfit(min_final, max_final),
            prefix_misfit: misfit(min_prefix, max_prefix),
            min_prefix: min_prefix.into(),
            max_prefix: max_prefix.into(),
            min_final: min_final.into(),
            max_final: max_final.into(),
        }
    }
}

fn facts(layer: &MacLayer) -> Vec<LevelFacts> {
    let mut values = layer.order.len();
    let of_level = |level: &guardbit_hwmodels::Level| {
        let runs = values.div_ceil(level.terms.run_length(values));
        let adds = if level.reduce.takes_run_at_once() { values - runs } else { values };
        values = runs;
        let (signed, held) = match level.register {
            Register::Auto => (true, (i64::MIN, i64::MAX)),
            Register::Fixed { format, .. } => {
                // Sums stay within 62 bits.
                let near = |value: i128| value.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
                (format.is_signed(), (near(format.min()), near(format.max())))
            }
        };
        LevelFacts { adds: adds as u64, signed, held }
    };
    layer.datapath.levels.iter().map(of_level).collect()
}

/// Channels that share lanes; `None` if a weight does not fit.
fn blocks(layer: &MacLayer) -> Option<Vec<Block>> {
    let window = &layer.dots.window;
    let channels = window.channels();
    let per_group = channels / window.groups;
    // Groups that would leave lanes empty share them.
    let shared = window.groups > 1 && per_group < LANES;
    let together = if shared { channels } else { per_group };
    let mut blocks = Vec::new();
    for start in (0..channels).step_by(together) {
        for first in (start..start + together).step_by(LANES) {
            let count = LANES.min(start + together - first);
            let read = |channel: usize| window.group(channel) * window.kernel[2];
            let reads = if shared {
                Reads::lanes((first..first + count).map(read).collect())
            } else {
                Reads::Window(read(first))
            };
            let mut weights = vec![[0; LANES]; layer.order.len()];
            for lane in 0..count {
                for (row, &weight) in weights.iter_mut().zip(&layer.weights[first + lane]) {
                    row[lane] = i16::try_from(weight).ok()?;
                }
            }
            let pairs = prepare::pairs(&weights);
            blocks.push(Block { first, count, reads, weights, pairs });
        }
    }
    Some(blocks)
}
