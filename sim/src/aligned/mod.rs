//! Layers of floating-point codes: dot products as matrix units add them, beside exact sums.
//!
//! Lanes add in aligned, truncated accumulators only. Sums in fixed-point registers and ordinary additions run on the
//! reference, in parallel.
//!
//! The exact network has the exact rational sum of each dot product, rounded once to float32. Both runs then apply the
//! scale, and after it the bias, in float32, each with one rounding, as the epilogue of a matrix kernel does.

mod dot;
mod factor;
mod gather;
mod held;
mod lanes;
mod required;
mod short;
mod statistics;
mod wide;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use guardbit_graph::{KernelPosition, OutputPosition, real_of, word_of};
use guardbit_hwmodels::FloatMacLayer;
use guardbit_num::{FloatDot, FloatFormat, Term};
use rayon::prelude::*;

use crate::accumulate::Accumulate;
use crate::fast::{Kernels, LANES};
use crate::options::{Engine, Options, StatsLevel};
use dot::{Outcome, Required};
use factor::Factor;
use gather::Gather;
use lanes::{Each, Lanes, Ones, Rows, Shared};
use short::{ShortLanes, ShortRows, ShortWindow};
use statistics::RealPairs;
pub use statistics::{FLOAT_BINS, FirstOverflow, FloatStats, INTEGER_BINS, Most, Overflowed, SquaredReals};

/// Number of pixels that run together.
const PIXELS: usize = 64;
/// Number of parts of a layer that run in parallel, if it has as many.
const PARTS: usize = 16;

/// Words of NaN outputs.
const NAN: i32 = 0x7FC0_0000;

/// Codes of activations and weights of one sample.
pub(crate) type Operands = [Codes; 2];

/// Codes of one operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Codes {
    pub elements: Arc<[i32]>,
    /// Codes of the scales of blocks, one per element.
    pub scales: Option<Arc<[i32]>>,
}

impl Codes {
    /// Returns the code of the scale of an element, if its operand has scales of blocks.
    fn scale(&self, at: usize) -> Option<i32> {
        self.scales.as_ref().map(|scales| scales[at])
    }
}

/// Output words of a layer for one sample.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub exact: Vec<i32>,
    pub delivered: Vec<i32>,
}

/// Runs a layer on one sample, whose index is given, and adds its dot products to `stats`. Without them, only exact sums
/// are made.
pub(crate) fn run(
    layer: &FloatMacLayer,
    sample: usize,
    operands: &Operands,
    mut stats: Option<&mut FloatStats>,
    options: &Options,
) -> Made {
    let window = &layer.dots.window;
    let (channels, dots) = (window.channels(), window.dots());
    let is_fast = options.engine == Engine::Fast;
    let lanes = is_fast.then(|| Lanes::new(layer, Kernels::choose(options.isa))).flatten();
    let (pixels, blocks) = (dots / channels.max(1), channels.div_ceil(LANES));
    let short = lanes.as_ref().and_then(|_| ShortLanes::new(layer, Kernels::choose(options.isa)));
    let cells: Vec<_> = layer.order.iter().map(|&cell| window.kernel_position(cell)).collect();
    let (lanes, short, gather) = (lanes.as_ref(), short.as_ref(), Gather::new(&cells));
    let delivers = stats.is_some();
    let (rows, level) = (Vec::new(), if delivers { options.stats } else { StatsLevel::None });
    let mut piece = Piece { layer, sample, operands, cells, gather, lanes, short, rows, level, delivers };
    // Weights that all images share are prepared once, and their channels share activations.
    let together = match lanes {
        Some(_) if piece.shares_weights() => {
            piece.rows = (0..blocks).into_par_iter().map(|block| piece.weights(0, block)).collect();
            blocks.div_ceil(PARTS.div_ceil(pixels.div_ceil(PIXELS).max(1)))
        }
        _ => 1,
    };
    let firsts = (0..pixels).step_by(PIXELS);
    let parts =
        firsts.flat_map(|first| (0..blocks).step_by(together.max(1)).map(move |block| (first, block)));
    let parts: Vec<(usize, usize)> = parts.collect();
    let run = |&(pixel, block): &(usize, usize)| {
        let (mut stats, mut sums) = (stats.as_deref().map(FloatStats::empty), Vec::new());
        let blocks = block..(block + together).min(blocks);
        piece.run(pixel..(pixel + PIXELS).min(pixels), blocks, stats.as_mut(), &mut sums);
        (stats, sums)
    };
    let ran: Vec<_> = parts.par_iter().map(run).collect();
    let mut made = Made { exact: vec![0; dots], delivered: vec![0; dots] };
    for (own, sums) in ran {
        if let Some((stats, own)) = stats.as_deref_mut().zip(own) {
            stats.merge(own);
        }
        for (index, exact, delivered) in sums {
            (made.exact[index], made.delivered[index]) = (exact, delivered);
        }
    }
    made
}

/// Weights of a block of channels.
#[derive(Debug, Default)]
struct Weights {
    short: Option<ShortRows>,
    rows: OnceLock<Rows>,
    /// Places of the weights of the first channel, and the distance of those of the next one.
    places: Vec<usize>,
    apart: usize,
    /// Number of channels.
    count: usize,
}

/// Activations of one pixel.
#[derive(Default)]
struct PixelActivations {
    /// Those that all channels share, unless they have not been needed.
    shared: Vec<Factor>,
    short: ShortWindow,
    /// Those of the channels of a block, as in groups of a convolution.
    each: Rows,
}

/// What the parts of a layer have in common.
struct Piece<'p> {
    layer: &'p FloatMacLayer,
    sample: usize,
    operands: &'p Operands,
    /// Cells of the window in the order of addition.
    cells: Vec<KernelPosition>,
    gather: Gather,
    lanes: Option<&'p Lanes>,
    /// The layer in lanes of 32 bits, if these suffice.
    short: Option<&'p ShortLanes>,
    /// Weights of every block of channels, if all pixels share them.
    rows: Vec<Weights>,
    level: StatsLevel,
    /// Whether delivered sums are wanted beside exact ones.
    delivers: bool,
}

impl Piece<'_> {
    /// Returns whether all pixels have the same weights, and all channels of a pixel the same activations.
    fn shares_weights(&self) -> bool {
        let window = &self.layer.dots.window;
        let place = |index: usize| {
            let out = window.output_position(index);
            self.cells.first().map(|&cell| self.layer.dots.weight(out, cell))
        };
        window.groups == 1
            && (0..window.dots()).step_by(window.channels().max(1)).all(|index| place(index) == place(0))
    }

    /// Returns the number of channels of a block.
    fn count(&self, block: usize) -> usize {
        LANES.min(self.layer.dots.window.channels() - block * LANES)
    }

    /// Returns the weights of a block of channels at a pixel.
    fn weights(&self, pixel: usize, block: usize) -> Weights {
        let dots = &self.layer.dots;
        let (first, count) = (pixel * dots.window.channels() + block * LANES, self.count(block));
        let out = dots.window.output_position(first);
        let places: Vec<_> = self.cells.iter().map(|&cell| dots.weight(out, cell)).collect();
        // Weights of successive channels are equally far apart.
        let next = OutputPosition { c: out.c + 1, ..out };
        let apart = self.cells.first().filter(|_| count > 1);
        let apart = apart.map_or(0, |&cell| dots.weight(next, cell) - places[0]);
        let codes = &self.operands[1].elements;
        let code = |k: usize, lane: usize| codes[places[k] + lane * apart];
        let short = self.short.and_then(|short| short.rows((count, places.len()), code));
        Weights { short, rows: OnceLock::new(), places, apart, count }
    }

    /// Returns the weights of a block as factors, which lanes of 32 bits do not need.
    fn factors<'w>(&self, lanes: &Lanes, weights: &'w Weights) -> &'w Rows {
        let Weights { rows, places, apart, count, .. } = weights;
        let codes = &self.operands[1];
        rows.get_or_init(|| {
            let mut rows = Rows::default();
            rows.fill((*count, places.len()), |k, lane| {
                let at = places[k] + lane * apart;
                lanes.factor(1, (codes.elements[at], codes.scale(at)))
            });
            rows
        })
    }

    /// Runs blocks of channels at some pixels. `words` receives the index and the output words, exact and delivered, of
    /// each dot product.
    fn run(
        &self,
        pixels: Range<usize>,
        blocks: Range<usize>,
        mut stats: Option<&mut FloatStats>,
        words: &mut Vec<(usize, i32, i32)>,
    ) {
        let window = &self.layer.dots.window;
        let accumulation = self.layer.accumulation.dot();
        let terms = self.layer.groups.as_ref().map_or(self.cells.len(), Vec::len);
        let terms = (accumulation.terms(terms) as u64, accumulation.fraction_bits());
        let mut sums = RealPairs::default();
        let mut activations = PixelActivations::default();
        // Weights that not all pixels share: those of one image.
        let (mut own, mut held) = (Weights::default(), None);
        let mut places = Vec::new();
        for pixel in pixels {
            let first = pixel * window.channels();
            activations.shared.clear();
            if let Some(short) = self.short {
                let elements = &self.operands[0].elements;
                self.gather.places(&self.layer.dots, window.output_position(first), &mut places);
                let codes = self.gather.cells(&places).map(|at| at.map(|at| elements[at]));
                short.take(codes, &mut activations.short);
            }
            for block in blocks.clone() {
                let (index, count) = (first + block * LANES, self.count(block));
                let outcomes = self.lanes.map(|lanes| {
                    let rows = self.rows.get(block).unwrap_or_else(|| {
                        let out = window.output_position(index);
                        let place =
                            self.cells.first().map(|&cell| (block, self.layer.dots.weight(out, cell)));
                        if held != place {
                            (own, held) = (self.weights(pixel, block), place);
                        }
                        &own
                    });
                    self.outcomes(lanes, (index, count), rows, &mut activations)
                });
                for (lane, outcome) in outcomes.unwrap_or([None; LANES]).into_iter().enumerate().take(count) {
                    let (index, channel) = (index + lane, block * LANES + lane);
                    let reference = || self.outcome(&accumulation, window.output_position(index));
                    let outcome = outcome.unwrap_or_else(reference);
                    let [exact, delivered] =
                        [outcome.exact, outcome.delivered].map(|sum| self.end(channel, sum));
                    words.push((index, exact, delivered));
                    if let Some(stats) = stats.as_deref_mut() {
                        stats.record(&outcome, terms, &mut sums, [self.sample, index]);
                    }
                }
            }
        }
        if let Some(stats) = stats {
            sums.end(&mut stats.sums);
        }
    }

    /// Returns the dot products of `count` channels from output `index` on, as far as they run in lanes.
    fn outcomes(
        &self,
        lanes: &Lanes,
        (index, count): (usize, usize),
        weights: &Weights,
        activations: &mut PixelActivations,
    ) -> [Option<Outcome>; LANES] {
        let window = &self.layer.dots.window;
        let element = |operand: usize, k: usize, lane: usize| {
            self.element(operand, window.output_position(index + lane), self.cells[k])
        };
        let scale = |operand: usize, k: usize, lane: usize| {
            let scaled = self.operands[operand].scales.is_some();
            scaled.then(|| element(operand, k, lane).1)?
        };
        let wanted = self.delivers.then_some(self.level);
        if window.groups == 1 {
            let PixelActivations { shared, short: own, .. } = activations;
            let short = self.short.zip(weights.short.as_ref());
            let run = |bits: Option<u32>| short.and_then(|(short, weights)| short.run(own, weights, bits));
            let sums = match self.delivers {
                true => run(None),
                false => short.and_then(|(short, weights)| short.exact(own, weights)),
            };
            if let (Some(sums), Some((short, weights))) = (&sums, short) {
                let mut outcomes = lanes.outcomes(sums, weights, count);
                if !self.level.counts_prefixes() {
                    return outcomes;
                }
                let runs = outcomes.each_ref().map(Option::is_some);
                if let Some(required) = short.required(own, weights, sums, runs) {
                    for (outcome, required) in outcomes.iter_mut().zip(required) {
                        outcome.iter_mut().for_each(|outcome| outcome.required = Some(required));
                    }
                    return outcomes;
                }
            }
            if shared.is_empty() {
                let out = window.output_position(index);
                let factor = |&cell: &KernelPosition| lanes.factor(0, self.element(0, out, cell));
                shared.extend(self.cells.iter().map(factor));
            }
            let (shared, rows) = (Shared::new(shared), self.factors(lanes, weights));
            if let (Some(sums), Some((_, weights))) = (sums, short) {
                let mut outcomes = lanes.outcomes(&sums, weights, count);
                let with = |bits: u32| match run(Some(bits)) {
                    Some(sums) => sums.lost().map(Some),
                    None => lanes.sums(bits, shared, rows, count),
                };
                Required::count(&self.layer.accumulation.dot(), with, &mut outcomes);
                return outcomes;
            }
            return match lanes.grouped(shared, rows, count, scale) {
                Some(terms) => lanes.run(Ones, &terms, count, wanted),
                None => lanes.run(shared, rows, count, wanted),
            };
        }
        let (each, codes, rows) = (&mut activations.each, &self.operands[0], self.factors(lanes, weights));
        let mut places = Vec::new();
        self.gather.places(&self.layer.dots, window.output_position(index), &mut places);
        // Groups of channels lie side by side.
        let group = |lane: usize| window.group(index % window.channels() + lane);
        let mut offsets = [0; LANES];
        for (lane, offset) in offsets.iter_mut().enumerate().take(count) {
            *offset = (group(lane) - group(0)) * window.kernel[2];
        }
        each.fill((count, self.cells.len()), |k, lane| {
            let at = self.gather.cell(&places, k).map(|at| at + offsets[lane]);
            lanes.factor(0, at.map_or((0, None), |at| (codes.elements[at], codes.scale(at))))
        });
        match lanes.grouped(Each::new(each), rows, count, scale) {
            Some(terms) => lanes.run(Ones, &terms, count, wanted),
            None => lanes.run(Each::new(each), rows, count, wanted),
        }
    }

    /// Returns the codes of an element and of the scale of its block: of the activations (0), or of the weights (1).
    /// Padding is a zero.
    fn element(&self, operand: usize, out: OutputPosition, cell: KernelPosition) -> (i32, Option<i32>) {
        let dots = &self.layer.dots;
        let at = if operand == 0 { dots.activation(out, cell) } else { Some(dots.weight(out, cell)) };
        let codes = &self.operands[operand];
        at.map_or((0, None), |at| (codes.elements[at], codes.scale(at)))
    }

    /// Runs a dot product on the reference.
    fn outcome(&self, accumulation: &FloatDot, out: OutputPosition) -> Outcome {
        let exact = self.terms(out, &|_, code| code);
        match accumulation {
            FloatDot::Ordinary(dot) if dot.unit.flush => {
                let products = self.terms(out, &|format, code| dot.unit.operand(format, code));
                Outcome::new(accumulation, &exact, &products, self.level)
            }
            _ => Outcome::new(accumulation, &exact, &exact, self.level),
        }
    }

    /// Returns the terms of a dot product in the order of addition: products, or groups of products, times the scales of
    /// their blocks. `taken` returns the code as which the unit takes that of an operand.
    fn terms(&self, out: OutputPosition, taken: &dyn Fn(FloatFormat, u32) -> u32) -> Vec<Term> {
        let operands = [&self.layer.dots.activations, &self.layer.dots.weights];
        let mut products = self.cells.iter().map(|&cell| {
            let of = |operand: usize| {
                let (code, scale) = self.element(operand, out, cell);
                let format = operands[operand].format;
                let blocks = operands[operand].blocks.as_ref();
                let scale = blocks.zip(scale).map(|(blocks, code)| Term::of(blocks.format, code as u32));
                (Term::of(format, taken(format, code as u32)), scale)
            };
            let ((a, of_a), (w, of_w)) = (of(0), of(1));
            (a.times(w), [of_a, of_w])
        });
        let scaled =
            |term: Term, scales: [Option<Term>; 2]| scales.into_iter().flatten().fold(term, Term::times);
        let Some(groups) = &self.layer.groups else {
            return products.map(|(product, scales)| scaled(product, scales)).collect();
        };
        let group = |&count: &usize| {
            let group: Vec<_> = products.by_ref().take(count).collect();
            let scales = group.first().map_or([None; 2], |(_, scales)| *scales);
            scaled(Term::exact(group.into_iter().map(|(product, _)| product)), scales)
        };
        groups.iter().map(group).collect()
    }

    /// Returns the output word of a sum: scale and bias are applied in float32, with one rounding each.
    fn end(&self, channel: usize, sum: u32) -> i32 {
        let dots = &self.layer.dots;
        let scaled = f32::from_bits(sum) * dots.scale(channel);
        let real = dots.bias.as_ref().map_or(scaled, |bias| scaled + bias[channel]);
        if real.is_nan() { NAN } else { word_of(real) }
    }
}

/// Adds the difference of a layer's output words from those of the exact network.
pub(crate) fn compare(stats: &mut FloatStats, exact: &[i32], delivered: &[i32]) {
    let mut outputs = RealPairs::default();
    for (&exact, &delivered) in exact.iter().zip(delivered) {
        stats.output_mismatch += u64::from(exact != delivered);
        outputs.add(real_of(exact), real_of(delivered));
    }
    outputs.end(&mut stats.outputs);
}
