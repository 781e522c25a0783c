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

use guardbit_graph::{real_of, word_of};
use guardbit_hwmodels::FloatMacLayer;
use guardbit_num::Term;
use rayon::prelude::*;

use crate::accumulate::Accumulate;
use crate::fast::{Kernels, LANES};
use crate::options::{Engine, Options, StatsLevel};
use dot::Outcome;
use lanes::{Each, Lanes, Rows, Shared};
pub use statistics::{FLOAT_BINS, FloatStats, Most, SquaredReals};

/// Number of pixels of a block of channels that run together.
const PIXELS: usize = 64;

/// Words of NaN outputs.
const NAN: i32 = 0x7FC0_0000;

/// Codes of activations and weights of one sample.
pub(crate) type Operands = [Arc<[i32]>; 2];

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
        let Self { layer, operands: [activations, weights], lanes, level } = *self;
        let (dots, window) = (&layer.dots, &layer.dots.window);
        let accumulation = layer.accumulation.dot();
        let cells: Vec<_> = layer.order.iter().map(|&cell| window.kernel_position(cell)).collect();
        let count = LANES.min(window.channels() - first);
        // Padding is a zero.
        let activation = |out, cell| dots.activation(out, cell).map_or(0, |at| activations[at]);
        let (mut rows, mut own) = (Rows::default(), Rows::default());
        let (mut factors, mut products) = (Vec::new(), Vec::new());
        let mut held = None;
        for pixel in pixels {
            let index = pixel * window.channels() + first;
            let out = window.output_position(index);
            let mut outcomes = [None; LANES];
            if let Some(lanes) = lanes {
                // Pixels share weights, unless each image has its own.
                let place = cells.first().map(|&cell| dots.weight(out, cell));
                if held != place {
                    held = place;
                    rows.fill(lanes.factors(1), (count, cells.len()), |k, lane| {
                        let out = window.output_position(index + lane);
                        weights[dots.weight(out, cells[k])]
                    });
                }
                let of_code = lanes.factors(0);
                outcomes = if window.groups == 1 {
                    factors.clear();
                    factors.extend(cells.iter().map(|&cell| of_code[activation(out, cell) as usize]));
                    lanes.run(Shared::new(&factors), &rows, count, level)
                } else {
                    own.fill(of_code, (count, cells.len()), |k, lane| {
                        activation(window.output_position(index + lane), cells[k])
                    });
                    lanes.run(Each::new(&own), &rows, count, level)
                };
            }
            for (lane, outcome) in outcomes.into_iter().enumerate().take(count) {
                let index = index + lane;
                let outcome = outcome.unwrap_or_else(|| {
                    let out = window.output_position(index);
                    let [a, w] = [&dots.activations, &dots.weights].map(|operand| operand.format);
                    products.clear();
                    products.extend(cells.iter().map(|&cell| {
                        let weight = weights[dots.weight(out, cell)];
                        Term::of(a, activation(out, cell) as u32).times(Term::of(w, weight as u32))
                    }));
                    Outcome::new(&accumulation, &products, level)
                });
                words.push((index, self.end(index, outcome.exact), self.end(index, outcome.delivered)));
                stats.record(&outcome, &accumulation, cells.len());
            }
        }
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
