//! Layers of floating-point codes: dot products in aligned, truncated accumulators, beside exact sums.
//!
//! The exact network has the exact rational sum of each dot product, rounded once to float32. Both runs then apply the
//! scale, and after it the bias, in float32, each with one rounding, as the epilogue of a matrix kernel does.

mod dot;
mod statistics;
mod wide;

use std::sync::Arc;

use guardbit_graph::{real_of, word_of};
use guardbit_hwmodels::FloatMacLayer;
use guardbit_num::{FloatFormat, Term};
use rayon::prelude::*;

use crate::options::StatsLevel;
use dot::Outcome;
pub use statistics::{FLOAT_BINS, FloatStats, Most, SquaredReals};

/// Number of dot products whose outcomes are held at a time.
const PIECE: usize = 1 << 16;

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
    level: StatsLevel,
) -> Made {
    let dots = &layer.dots;
    let tables = [&dots.activations, &dots.weights].map(|operand| table(operand.format));
    let window = &dots.window;
    let cells: Vec<_> = layer.order.iter().map(|&cell| window.kernel_position(cell)).collect();
    let accumulation = layer.accumulation.dot();
    let outcome = |products: &mut Vec<Term>, index: usize| {
        let out = window.output_position(index);
        products.clear();
        products.extend(cells.iter().map(|&cell| {
            // Padding is a zero.
            let activation = dots.activation(out, cell).map_or(0, |at| operands[0][at]);
            let weight = operands[1][dots.weight(out, cell)];
            tables[0][activation as usize].times(tables[1][weight as usize])
        }));
        Outcome::new(&accumulation, products, level)
    };
    let epilogue = |index: usize, sum: u32| {
        let channel = window.output_position(index).c;
        let scaled = f32::from_bits(sum) * dots.scale(channel);
        let real = dots.bias.as_ref().map_or(scaled, |bias| scaled + bias[channel]);
        if real.is_nan() { NAN } else { word_of(real) }
    };
    let mut made = Made { exact: Vec::new(), delivered: Vec::new() };
    for start in (0..window.dots()).step_by(PIECE) {
        let piece = start..(start + PIECE).min(window.dots());
        let outcomes: Vec<Outcome> =
            piece.into_par_iter().with_min_len(16).map_init(Vec::new, outcome).collect();
        for (index, outcome) in (start..).zip(&outcomes) {
            made.exact.push(epilogue(index, outcome.exact));
            made.delivered.push(epilogue(index, outcome.delivered));
            stats.record(outcome, &accumulation, cells.len());
        }
    }
    made
}

/// Adds the difference of a layer's output words from those of the exact network.
pub(crate) fn compare(stats: &mut FloatStats, exact: &[i32], delivered: &[i32]) {
    for (&exact, &delivered) in exact.iter().zip(delivered) {
        stats.output_mismatch += u64::from(exact != delivered);
        stats.outputs.add(real_of(exact), real_of(delivered));
    }
}

/// Returns the term of every code.
fn table(format: FloatFormat) -> Vec<Term> {
    (0..1 << format.bits()).map(|code| Term::of(format, code)).collect()
}
