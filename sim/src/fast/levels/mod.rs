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

mod blocks;
mod codes;
mod facts;
mod kernel;
mod level;
mod loops;
mod noted;
mod order;
mod paired;
mod places;
mod placing;
mod plan;
mod random;
mod scratch;
mod sixteen;
mod special;
mod sums;
mod tally;
mod work;

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use guardbit_graph::KernelPosition;
use guardbit_hwmodels::MacLayer;

use super::finish::Finisher;
use super::image::{Geometry, Image};
use super::kernels::{LANES, Lane, Neighbours, Row};
use super::policy::Trials;
use super::prepare::{self, Reads};
use super::simd::{Kernels, VectorActivations};
use super::{Settled, traps};
use crate::codes::Codes;
use crate::error::Trap;
use crate::options::Options;
use crate::stats::LayerStats;
use blocks::{Block, blocks};
use facts::{LevelFacts, additions, facts};
use kernel::{Leave, Outer, Totals};
use noted::Heat;
use paired::{Asked, Paired};
use places::Places;
use placing::Walker;
use plan::Plan;
use random::Random;
use scratch::Scratch;
use special::{Picked, Source, WideProducts};
use tally::{Counts, Tally};
use work::Work;

/// Layer of any supported datapath, prepared.
#[derive(Debug)]
pub(crate) struct LevelsLayer<'a> {
    layer: &'a MacLayer,
    kernels: Kernels,
    geometry: Geometry,
    blocks: Vec<Block>,
    finisher: Finisher<'a>,
    /// Whether sums leave the datapath in unit 1, as the finisher requires.
    plain_end: bool,
    /// Whether the sum of activations is added with the bias.
    folds: bool,
    /// Whether windows leave out padding.
    skips: bool,
    /// Whether some stage rounds at random.
    at_random: bool,
    levels: Vec<LevelFacts>,
    lanes: Lanes,
    /// Data for stepping the innermost level two windows at a time, if supported.
    paired: Option<Paired>,
    places: Arc<Places<'a>>,
}

/// Plan of the datapath on the narrowest lanes that hold it.
#[derive(Debug)]
enum Lanes {
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
struct Spot {
    pixel: usize,
    /// Index of the block.
    block: usize,
}

/// State that is kept while some pixels are run.
struct Course<'p, V: Lane> {
    plan: &'p Plan<V>,
    buffers: Buffers,
    /// Indices of the products of the current pixel, if they differ from pixel to pixel or operands are wide.
    picked: Vec<usize>,
    tally: Tally<V>,
    /// Trials per block that decide whether bounds pay off.
    trials: Vec<Trials>,
    /// Scratch for dot products whose events are recomputed.
    again: Scratch<V>,
}

impl<'p, V: Lane> Course<'p, V> {
    fn new(plan: &'p Plan<V>, layer: &LevelsLayer<'_>) -> Self {
        let blocks = layer.blocks.len();
        Self {
            plan,
            buffers: Buffers::default(),
            picked: Vec::new(),
            tally: Tally::new(&layer.blocks, &layer.levels),
            trials: vec![Trials::default(); blocks],
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

/// Range of pixels of one sample.
pub(crate) struct LevelsTask<'t> {
    /// Codes of the sample, laid out by [`LevelsLayer::image`], and original.
    pub image: &'t Image<'t>,
    pub input: &'t Codes,
    pub pixels: Range<usize>,
    pub sample: usize,
}

/// Range of outputs of one sample.
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
    heat: Heat,
    /// Whether a bias, or the sum with it, did not fit, by lane of the current block.
    biased: [bool; LANES],
    /// Whether a register traps, and the first overflow of one that does.
    traps: bool,
    trap: Option<Trap>,
}

/// Results of some pixels on the narrow hardware.
pub(crate) struct LevelsRan {
    /// Exact codes.
    pub exact: Vec<i32>,
    /// Codes of the narrow hardware.
    pub simulated: Vec<i32>,
    /// First overflow of a register that traps.
    pub trap: Option<Trap>,
}

/// Times and places of a layer's additions, computed on first use.
#[derive(Debug, Clone)]
pub(crate) struct LevelsPlaces<'a>(Arc<Places<'a>>);

impl<'a> LevelsPlaces<'a> {
    pub fn new(layer: &'a MacLayer) -> Self {
        Self(Arc::new(Places::new(layer)))
    }
}

impl<'a> LevelsLayer<'a> {
    /// Prepares `layer`, whose activation codes lie in `codes`; `None` if it is not supported.
    pub fn new(
        layer: &'a MacLayer,
        codes: RangeInclusive<i32>,
        places: LevelsPlaces<'a>,
        options: &Options,
    ) -> Option<Self> {
        if layer.dots.window.dots() == 0 || layer.order.is_empty() {
            return None;
        }
        let geometry = Geometry::new(layer, &codes);
        let operands = prepare::operand_range(layer, &geometry, codes);
        // Operands beyond 32 bits, which only codes of 32 bits with a zero point have, are left to the
        // reference engine.
        if !operands.fits::<i32>() {
            return None;
        }
        let wide = !operands.fits::<i16>() || !prepare::weight_range(layer).fits::<i16>();
        let skips = layer.dots.weights.is_none() && geometry.reads_padding();
        let blocks = blocks(layer, wide);
        let kernels = Kernels::choose(options.isa);
        let (lanes, paired) = match Plan::new(layer, &blocks, operands) {
            Some(plan) => {
                let paired = Paired::new(layer, &geometry, kernels, &blocks, &plan);
                (Lanes::Bits32(plan), paired)
            }
            None => match Plan::new(layer, &blocks, operands) {
                Some(plan) => (Lanes::Bits64(plan), None),
                None => (Lanes::Bits128(Plan::new(layer, &blocks, operands)?), None),
            },
        };
        let shift = layer.datapath.unit_shift(layer.datapath.levels.len());
        let reach = match &lanes {
            Lanes::Bits32(plan) => plan.reach,
            Lanes::Bits64(plan) => plan.reach,
            Lanes::Bits128(plan) => plan.reach,
        };
        let finisher = Finisher::new(layer, blocks.iter().map(|block| block.delivered(reach)));
        Some(Self {
            layer,
            kernels,
            geometry,
            blocks,
            finisher,
            places: places.0,
            plain_end: shift == 0,
            skips,
            folds: layer.input_sum_factor.iter().any(|&factor| factor != 0),
            at_random: layer.datapath.rounds_at_random(),
            levels: facts(layer),
            lanes,
            paired,
        })
    }

    /// Lays out the codes of one sample.
    pub fn image<'c>(&self, codes: &'c Codes) -> Image<'c> {
        self.geometry.image(codes)
    }

    /// Runs some pixels of one sample on the narrow hardware, counted in `stats` and `settled`.
    pub fn run(
        &self,
        task: LevelsTask<'_>,
        stats: &mut LayerStats,
        settled: &mut Settled,
        options: &Options,
    ) -> LevelsRan {
        let LevelsTask { image, input, pixels, sample } = task;
        let outputs = pixels.len() * self.layer.dots.window.channels();
        stats.count_dots(pixels.len() as u64, 0, options);
        if options.stats.counts() {
            self.count_adds(pixels.clone(), stats);
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
            heat: Heat::default(),
            biased: [false; LANES],
            traps: traps(self.layer),
            trap: None,
        };
        match &self.lanes {
            Lanes::Bits32(plan) => match &self.paired {
                Some(paired) => self.run_pairs(plan, paired, image, pixels, &mut task),
                None => self.run_on(plan, image, pixels, &mut task),
            },
            Lanes::Bits64(plan) => self.run_on(plan, image, pixels, &mut task),
            Lanes::Bits128(plan) => self.run_on(plan, image, pixels, &mut task),
        }
        let Task { exact, simulated, trap, .. } = task;
        LevelsRan { exact, simulated, trap }
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

    fn run_on<V: Lane>(
        &self,
        plan: &Plan<V>,
        image: &Image<'_>,
        pixels: Range<usize>,
        task: &mut Task<'_, '_, '_>,
    ) {
        let mut scratch = Scratch::new(plan);
        let mut course = Course::new(plan, self);
        for pixel in pixels {
            self.reserve(&mut course, task);
            for block in 0..self.blocks.len() {
                self.run_at(&mut course, Spot { pixel, block }, image, &mut scratch, false, task);
            }
        }
        self.flush(&course, task);
    }

    /// Runs two pixels at a time where the distance of their windows is that of pairs.
    fn run_pairs(
        &self,
        plan: &Plan<i32>,
        paired: &Paired,
        image: &Image<'_>,
        mut pixels: Range<usize>,
        task: &mut Task<'_, '_, '_>,
    ) {
        let mut scratches = [Scratch::new(plan), Scratch::new(plan)];
        let mut course = Course::new(plan, self);
        let stats = task.options.stats;
        let asked = Asked { prefixes: stats.counts_prefixes(), places: task.options.places_all() };
        while let Some(pixel) = pixels.next() {
            let corner = self.geometry.corner(pixel);
            let second = corner + image.pair_distance();
            let mut rest = pixels.clone();
            let next = rest.next().filter(|&next| self.geometry.corner(next) == second);
            if next.is_some() {
                pixels = rest;
            }
            self.reserve(&mut course, task);
            self.reserve(&mut course, task);
            for (index, block) in self.blocks.iter().enumerate() {
                let pixels = || [Some(pixel), next].into_iter().flatten();
                let made = paired.steps(index);
                let sums = |(pixel, scratch): (usize, &mut _)| {
                    self.sums_at(&mut course, Spot { pixel, block: index }, image, scratch, task)
                };
                if made && !pixels().zip(&mut scratches).all(sums) {
                    let corners = (corner, next.map(|_| second));
                    paired.run(self.kernels, image, (index, &block.reads), corners, asked, &mut scratches);
                }
                for (pixel, scratch) in pixels().zip(&mut scratches) {
                    self.run_at(&mut course, Spot { pixel, block: index }, image, scratch, made, task);
                }
            }
        }
        self.flush(&course, task);
    }

    /// Makes room for the counts of one pixel.
    fn reserve<V: Lane>(&self, course: &mut Course<'_, V>, task: &mut Task<'_, '_, '_>) {
        let counts = Counts { stats: task.stats, level: task.options.stats };
        course.tally.reserve(self.layer.order.len() as u64, &self.blocks, &self.levels, counts);
    }

    /// Adds all counts to the statistics.
    fn flush<V: Lane>(&self, course: &Course<'_, V>, task: &mut Task<'_, '_, '_>) {
        if task.options.stats.counts() {
            let counts = Counts { stats: task.stats, level: task.options.stats };
            course.tally.flush(&self.blocks, &self.levels, counts);
            self.places.flush(self.kernels, &mut task.heat, task.stats);
        }
    }

    /// Returns the random numbers of a block at a pixel, if some stage rounds at random.
    fn random(&self, Spot { pixel, block }: Spot, task: &Task<'_, '_, '_>) -> Option<Random<'_>> {
        let (layer, sample) = (self.layer, task.sample);
        let first = pixel * layer.dots.window.channels() + self.blocks[block].first;
        self.at_random.then_some(Random { kernels: self.kernels, layer, sample, first })
    }

    fn work<'p, V: Lane>(
        &'p self,
        plan: &'p Plan<V>,
        index: usize,
        random: Option<&'p Random<'p>>,
        task: &Task<'_, '_, '_>,
    ) -> Work<'p, V> {
        let full = task.options.stats.counts_prefixes();
        let (start, certain, high) = (&plan.starts[index], plan.certain[index], plan.high[index].as_ref());
        Work { kernels: self.kernels, plan, start, certain, full, high, random }
    }

    /// Runs the dot products of a block at one pixel. `made` states whether the scratch already holds
    /// the results of the innermost level's runs.
    fn run_at<V: Lane>(
        &self,
        course: &mut Course<'_, V>,
        spot: Spot,
        image: &Image<'_>,
        scratch: &mut Scratch<V>,
        made: bool,
        task: &mut Task<'_, '_, '_>,
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
        let short = self.pick(spot.pixel, &mut course.picked);
        let (block, indices) = (&self.blocks[index], course.picked.as_slice());
        if let Some(source) = self.wide(block, image, spot.pixel) {
            self.run_products(work, spot, Picked { source, indices }, scratch, task);
        } else if short {
            let operands = self.operands(block, image, spot.pixel, &mut course.buffers);
            on_operands!(operands, x => self.run_products(work, spot, Picked::of(x, &block.weights, indices), scratch, task));
        } else if !made || !vectors {
            let operands = self.operands(block, image, spot.pixel, &mut course.buffers);
            let trials = (!made).then_some(&mut course.trials[index]);
            on_operands!(operands, x => self.run_on_window(work, spot, x, scratch, trials, task));
        }
        if vectors {
            self.finish_block(scratch, spot, &mut course.tally, task);
        }
        self.count_block(work, scratch, index, &mut course.tally, task);
        if short {
            self.place_short(scratch, spot, task);
            return;
        }
        if task.options.stats.counts_events() {
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
        spot: Spot,
        products: S,
        scratch: &mut Scratch<V>,
        task: &mut Task<'_, '_, '_>,
    ) {
        self.step_products(work, products, scratch);
        if !self.ends_on_vectors(work.plan, spot.block) {
            for lane in 0..self.blocks[spot.block].count {
                self.finish_of(work, scratch, products, lane, spot, task);
            }
        }
    }

    /// Writes the indices of the products at a pixel, unless it has all of them. Returns whether it has fewer;
    /// wide operands always have indices.
    fn pick(&self, pixel: usize, picked: &mut Vec<usize>) -> bool {
        let (layer, wide) = (self.layer, self.blocks[0].wide.is_some());
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
    fn wide<'b>(&'b self, block: &'b Block, image: &'b Image<'_>, pixel: usize) -> Option<WideProducts<'b>> {
        let (weights, lanes) = block.wide.as_ref()?;
        let cells = &self.geometry.wide(image)[self.geometry.corner(pixel)..];
        Some(WideProducts { cells, offsets: self.geometry.offsets(), lanes, weights })
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
        for (index, level) in self.levels.iter().enumerate() {
            stats.count_adds(index, (pixels.len() - short) as u64 * level.adds);
        }
    }

    /// Computes what requires the activations of one block at one pixel: its sums if trials are given, and
    /// its output codes unless they are computed on vectors.
    fn run_on_window<X: VectorActivations, V: Lane>(
        &self,
        work: Work<'_, V>,
        spot: Spot,
        x: X,
        scratch: &mut Scratch<V>,
        trials: Option<&mut Trials>,
        task: &mut Task<'_, '_, '_>,
    ) {
        if let Some(trials) = trials {
            self.sum_block(work, spot.block, x, scratch, trials);
        }
        if !self.ends_on_vectors(work.plan, spot.block) {
            let mut activations = [0; LANES];
            if self.folds {
                self.kernels.run(Totals { x, count: self.layer.order.len(), totals: &mut activations });
            }
            for lane in 0..self.blocks[spot.block].count {
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
        tally: &mut Tally<V>,
        task: &mut Task<'_, '_, '_>,
    ) {
        let block = &self.blocks[index];
        let count = block.count as u64;
        match (work.is_certain(), scratch.stepped) {
            (true, _) => task.settled.by_weights += count,
            (false, true) => task.settled.stepped += count,
            (false, false) => task.settled.by_sums += count,
        }
        let stats = task.options.stats;
        if !stats.counts() {
            return;
        }
        for lane in 0..block.count {
            let product_events = scratch.product_events[lane].wide();
            if product_events > 0 {
                task.stats.count_product_events(block.first + lane, product_events as u64);
            }
        }
        tally.count(self.kernels, (index, block), &scratch.levels, &self.levels, stats);
    }
}
