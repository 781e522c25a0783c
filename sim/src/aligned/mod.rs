//! Layers of floating-point codes: dot products in aligned, truncated accumulators, beside exact sums.
//!
//! The exact network has the exact rational sum of each dot product, rounded once to float32. Both runs then apply the
//! scale, and after it the bias, in float32, each with one rounding, as the epilogue of a matrix kernel does.

mod dot;
mod held;
mod lanes;
mod statistics;
mod wide;

use std::ops::Range;
use std::sync::Arc;

use guardbit_graph::{KernelPosition, OutputPosition, real_of, word_of};
use guardbit_hwmodels::FloatMacLayer;
use guardbit_num::Term;
use rayon::prelude::*;

use crate::accumulate::Accumulate;
use crate::fast::{Kernels, LANES};
use crate::options::{Engine, Options, StatsLevel};
use dot::Outcome;
use lanes::{Each, Lanes, Ones, Rows, Shared};
pub use statistics::{FLOAT_BINS, FloatStats, Most, SquaredReals};

/// Number of pixels of a block of channels that run together.
const PIXELS: usize = 64;

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

/// Runs a layer on one sample and adds its dot products to `stats`.
pub(crate) fn run(
    layer: &FloatMacLayer,
    operands: &Operands,
    stats: &mut FloatStats,
    options: &Options,
) -> Made {
    let window = &layer.dots.window;
    let (channels, dots) = (window.channels(), window.dots());
    let is_fast = options.engine == Engine::Fast;
    let lanes = is_fast.then(|| Lanes::new(layer, Kernels::choose(options.isa))).flatten();
    let blocks: Vec<usize> = (0..channels).step_by(LANES).collect();
    let pixels: Vec<usize> = (0..dots / channels.max(1)).step_by(PIXELS).collect();
    let parts = pixels.iter().flat_map(|&pixel| blocks.iter().map(move |&first| (pixel, first)));
    let parts: Vec<(usize, usize)> = parts.collect();
    let piece = Piece { layer, operands, lanes: lanes.as_ref(), level: options.stats };
    let run = |&(pixel, first): &(usize, usize)| {
        let (mut stats, mut sums) = (stats.empty(), Vec::new());
        piece.run(pixel..(pixel + PIXELS).min(dots / channels), first, &mut stats, &mut sums);
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

/// What the parts of a layer have in common.
struct Piece<'p> {
    layer: &'p FloatMacLayer,
    operands: &'p Operands,
    lanes: Option<&'p Lanes>,
    level: StatsLevel,
}

impl Piece<'_> {
    /// Runs the channels of a block from `first` on at some pixels. `words` receives the index and the output words, exact and
    /// delivered, of each dot product.
    fn run(
        &self,
        pixels: Range<usize>,
        first: usize,
        stats: &mut FloatStats,
        words: &mut Vec<(usize, i32, i32)>,
    ) {
        let Self { layer, operands, lanes, level } = *self;
        let window = &layer.dots.window;
        let accumulation = layer.accumulation.dot();
        let cells: Vec<_> = layer.order.iter().map(|&cell| window.kernel_position(cell)).collect();
        let count = LANES.min(window.channels() - first);
        let (mut rows, mut own) = (Rows::default(), Rows::default());
        let mut factors = Vec::new();
        let mut held = None;
        for pixel in pixels {
            let index = pixel * window.channels() + first;
            let out = window.output_position(index);
            let mut outcomes = [None; LANES];
            if let Some(lanes) = lanes {
                // Pixels share weights, unless each image has its own.
                let place = cells.first().map(|&cell| layer.dots.weight(out, cell));
                if held != place {
                    held = place;
                    rows.fill((count, cells.len()), |k, lane| {
                        lanes.factor(1, self.element(1, window.output_position(index + lane), cells[k]))
                    });
                }
                let scale = |operand: usize, k: usize, lane: usize| {
                    let scaled = operands[operand].scales.is_some();
                    scaled.then(|| self.element(operand, window.output_position(index + lane), cells[k]).1)?
                };
                outcomes = if window.groups == 1 {
                    factors.clear();
                    factors.extend(cells.iter().map(|&cell| lanes.factor(0, self.element(0, out, cell))));
                    let activations = Shared::new(&factors);
                    match lanes.grouped(activations, &rows, count, scale) {
                        Some(terms) => lanes.run(Ones, &terms, count, level),
                        None => lanes.run(activations, &rows, count, level),
                    }
                } else {
                    own.fill((count, cells.len()), |k, lane| {
                        lanes.factor(0, self.element(0, window.output_position(index + lane), cells[k]))
                    });
                    match lanes.grouped(Each::new(&own), &rows, count, scale) {
                        Some(terms) => lanes.run(Ones, &terms, count, level),
                        None => lanes.run(Each::new(&own), &rows, count, level),
                    }
                };
            }
            for (lane, outcome) in outcomes.into_iter().enumerate().take(count) {
                let index = index + lane;
                let outcome = outcome.unwrap_or_else(|| {
                    Outcome::new(&accumulation, &self.terms(window.output_position(index), &cells), level)
                });
                words.push((index, self.end(index, outcome.exact), self.end(index, outcome.delivered)));
                let terms = layer.groups.as_ref().map_or(cells.len(), Vec::len);
                stats.record(&outcome, &accumulation, terms);
            }
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

    /// Returns the terms of a dot product in the order of addition: products, or groups of products, times the scales of
    /// their blocks.
    fn terms(&self, out: OutputPosition, cells: &[KernelPosition]) -> Vec<Term> {
        let operands = [&self.layer.dots.activations, &self.layer.dots.weights];
        let mut products = cells.iter().map(|&cell| {
            let of = |operand: usize| {
                let (code, scale) = self.element(operand, out, cell);
                let blocks = operands[operand].blocks.as_ref();
                let scale = blocks.zip(scale).map(|(blocks, code)| Term::of(blocks.format, code as u32));
                (Term::of(operands[operand].format, code as u32), scale)
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
    fn end(&self, index: usize, sum: u32) -> i32 {
        let dots = &self.layer.dots;
        let channel = dots.window.output_position(index).c;
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
