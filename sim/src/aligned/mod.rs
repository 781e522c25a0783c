//! Layers of floating-point codes: dot products as matrix units add them, beside exact sums.
//!
//! Lanes add in aligned, truncated accumulators only. Sums in fixed-point registers and ordinary additions run on the
//! reference, in parallel.
//!
//! The exact network has the exact rational sum of each dot product, rounded once to float32. Both runs then apply the
//! scale, and after it the bias, in float32, each with one rounding, as the epilogue of a matrix kernel does.

mod dot;
mod factor;
mod held;
mod lanes;
mod statistics;
mod wide;

use std::ops::Range;
use std::sync::Arc;

use guardbit_graph::{KernelPosition, OutputPosition, real_of, word_of};
use guardbit_hwmodels::FloatMacLayer;
use guardbit_num::{FloatDot, FloatFormat, Term};
use rayon::prelude::*;

use crate::accumulate::Accumulate;
use crate::fast::{Kernels, LANES};
use crate::options::{Engine, Options, StatsLevel};
use dot::Outcome;
use factor::Factor;
use lanes::{Each, Lanes, Ones, Rows, Shared};
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

/// Runs a layer on one sample, whose index is given, and adds its dot products to `stats`.
pub(crate) fn run(
    layer: &FloatMacLayer,
    sample: usize,
    operands: &Operands,
    stats: &mut FloatStats,
    options: &Options,
) -> Made {
    let window = &layer.dots.window;
    let (channels, dots) = (window.channels(), window.dots());
    let is_fast = options.engine == Engine::Fast;
    let lanes = is_fast.then(|| Lanes::new(layer, Kernels::choose(options.isa))).flatten();
    let (pixels, blocks) = (dots / channels.max(1), channels.div_ceil(LANES));
    let cells = layer.order.iter().map(|&cell| window.kernel_position(cell)).collect();
    let (rows, level) = (Vec::new(), options.stats);
    let mut piece = Piece { layer, sample, operands, cells, lanes: lanes.as_ref(), rows, level };
    // Weights that all images share are prepared once, and their channels share activations.
    let together = match &lanes {
        Some(lanes) if piece.shares_weights() => {
            piece.rows = (0..blocks).into_par_iter().map(|block| piece.weights(lanes, 0, block)).collect();
            blocks.div_ceil(PARTS.div_ceil(pixels.div_ceil(PIXELS).max(1)))
        }
        _ => 1,
    };
    let firsts = (0..pixels).step_by(PIXELS);
    let parts =
        firsts.flat_map(|first| (0..blocks).step_by(together.max(1)).map(move |block| (first, block)));
    let parts: Vec<(usize, usize)> = parts.collect();
    let run = |&(pixel, block): &(usize, usize)| {
        let (mut stats, mut sums) = (stats.empty(), Vec::new());
        let blocks = block..(block + together).min(blocks);
        piece.run(pixel..(pixel + PIXELS).min(pixels), blocks, &mut stats, &mut sums);
        (stats, sums)
    };
    let ran: Vec<_> = parts.par_iter().map(run).collect();
    let mut made = Made { exact: vec![0; dots], delivered: vec![0; dots] };
    for (own, sums) in ran {
        stats.merge(own);
        for (index, exact, delivered) in sums {
            (made.exact[index], made.delivered[index]) = (exact, delivered);
        }
    }
    made
}

/// Activations of one pixel.
#[derive(Default)]
struct PixelActivations {
    /// Those that all channels share.
    shared: Vec<Factor>,
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
    lanes: Option<&'p Lanes>,
    /// Weights of every block of channels, if all pixels share them.
    rows: Vec<Rows>,
    level: StatsLevel,
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
    fn weights(&self, lanes: &Lanes, pixel: usize, block: usize) -> Rows {
        let window = &self.layer.dots.window;
        let first = pixel * window.channels() + block * LANES;
        let mut rows = Rows::default();
        rows.fill((self.count(block), self.cells.len()), |k, lane| {
            lanes.factor(1, self.element(1, window.output_position(first + lane), self.cells[k]))
        });
        rows
    }

    /// Runs blocks of channels at some pixels. `words` receives the index and the output words, exact and delivered, of
    /// each dot product.
    fn run(
        &self,
        pixels: Range<usize>,
        blocks: Range<usize>,
        stats: &mut FloatStats,
        words: &mut Vec<(usize, i32, i32)>,
    ) {
        let window = &self.layer.dots.window;
        let accumulation = self.layer.accumulation.dot();
        let terms = self.layer.groups.as_ref().map_or(self.cells.len(), Vec::len);
        let mut activations = PixelActivations::default();
        // Weights that not all pixels share: those of one image.
        let (mut own, mut held) = (Rows::default(), None);
        for pixel in pixels {
            let first = pixel * window.channels();
            if let Some(lanes) = self.lanes.filter(|_| window.groups == 1) {
                activations.shared.clear();
                let out = window.output_position(first);
                let factor = |&cell: &KernelPosition| lanes.factor(0, self.element(0, out, cell));
                activations.shared.extend(self.cells.iter().map(factor));
            }
            for block in blocks.clone() {
                let (index, count) = (first + block * LANES, self.count(block));
                let outcomes = self.lanes.map(|lanes| {
                    let rows = self.rows.get(block).unwrap_or_else(|| {
                        let out = window.output_position(index);
                        let place =
                            self.cells.first().map(|&cell| (block, self.layer.dots.weight(out, cell)));
                        if held != place {
                            (own, held) = (self.weights(lanes, pixel, block), place);
                        }
                        &own
                    });
                    self.outcomes(lanes, (index, count), rows, &mut activations)
                });
                for (lane, outcome) in outcomes.unwrap_or([None; LANES]).into_iter().enumerate().take(count) {
                    let index = index + lane;
                    let out = window.output_position(index);
                    let outcome = outcome.unwrap_or_else(|| self.outcome(&accumulation, out));
                    words.push((index, self.end(out.c, outcome.exact), self.end(out.c, outcome.delivered)));
                    stats.record(&outcome, &accumulation, terms, [self.sample, index]);
                }
            }
        }
    }

    /// Returns the dot products of `count` channels from output `index` on, as far as they run in lanes.
    fn outcomes(
        &self,
        lanes: &Lanes,
        (index, count): (usize, usize),
        rows: &Rows,
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
        if window.groups == 1 {
            let shared = Shared::new(&activations.shared);
            return match lanes.grouped(shared, rows, count, scale) {
                Some(terms) => lanes.run(Ones, &terms, count, self.level),
                None => lanes.run(shared, rows, count, self.level),
            };
        }
        let each = &mut activations.each;
        each.fill((count, self.cells.len()), |k, lane| lanes.factor(0, element(0, k, lane)));
        match lanes.grouped(Each::new(each), rows, count, scale) {
            Some(terms) => lanes.run(Ones, &terms, count, self.level),
            None => lanes.run(Each::new(each), rows, count, self.level),
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
    for (&exact, &delivered) in exact.iter().zip(delivered) {
        stats.output_mismatch += u64::from(exact != delivered);
        stats.outputs.add(real_of(exact), real_of(delivered));
    }
}
