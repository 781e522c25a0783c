//! Weight operands of the multiplier, and the terms that remain from zero points.
//!
//! `sum (x - zx)(w - zw) = sum x*w - zw * sum x - zx * sum w + K * zx * zw`, with sums over all K window
//! cells and padding with the code `zx`. Under `subtract` the left side is computed. Under `fold` the first
//! term is computed, and the others are added later: constants with the bias, sums of activations in addition
//! to it.

use guardbit_graph::{DotProducts, DotWeights, IntegerSlice};

use crate::{Weights, ZeroPoint};

/// Returns `[out channel][k]` in the order of addition: all 1 without weights, empty if the weights are
/// activations. They share the memory of the codes if these are the operands in this order.
pub(super) fn weights(dots: &DotProducts, zero_point: ZeroPoint, order: &[usize]) -> Weights {
    let (channels, terms) = (dots.window.channels(), order.len());
    let Some(weights) = &dots.weights else { return Weights::new(channels, terms, |_, _| 1) };
    let Some(codes) = weights.constant() else { return Weights::none() };
    // Cells of the first channel; those of others lie at equal distances.
    let cells: Vec<usize> =
        order.iter().map(|&k| weights.index(0, 0, dots.window.kernel_position(k))).collect();
    let [by_channel, ..] = weights.strides;
    let offset = |channel: usize| match zero_point {
        ZeroPoint::Subtract => weights.zero_points[channel],
        ZeroPoint::Fold => 0,
    };
    let is_in_order = cells.iter().enumerate().all(|(k, &cell)| k == cell)
        && (by_channel == terms || channels == 1)
        && codes.len() == channels * terms;
    if is_in_order && (0..channels).all(|channel| offset(channel) == 0) {
        return Weights::of_rows(channels, terms, codes.clone());
    }
    let rows = Rows { channels, cells, by_channel };
    match codes.all() {
        IntegerSlice::I8(codes) => rows.of(codes, offset),
        IntegerSlice::U8(codes) => rows.of(codes, offset),
        IntegerSlice::I16(codes) => rows.of(codes, offset),
        IntegerSlice::I32(codes) => rows.of(codes, offset),
    }
}

/// The places of operands in the codes of weights.
struct Rows {
    channels: usize,
    /// Those of the first channel, in the order of addition.
    cells: Vec<usize>,
    /// Distance between channels.
    by_channel: usize,
}

impl Rows {
    /// Returns the codes at the places minus the offset of their channel.
    fn of<T: Copy + Into<i32>>(&self, codes: &[T], offset: impl Fn(usize) -> i32) -> Weights {
        Weights::new(self.channels, self.cells.len(), |channel, k| {
            codes[self.cells[k] + channel * self.by_channel].into() - offset(channel)
        })
    }
}

/// Returns the model's bias and, under `fold`, the constants of the zero points, per output channel.
pub(super) fn bias(dots: &DotProducts, zero_point: ZeroPoint) -> Option<Vec<i128>> {
    let folded =
        dots.weights.as_ref().filter(|_| zero_point == ZeroPoint::Fold && dots.input_zero_point != 0);
    if dots.bias.is_none() && folded.is_none() {
        return None;
    }
    let own = |c: usize| dots.bias.as_ref().map_or(0, |bias| bias.values[c].into());
    let zero = i128::from(dots.input_zero_point);
    let constant = |c: usize| folded.map_or(0, |weights| zero * zero_point_factor(dots, weights, c));
    Some((0..dots.window.channels()).map(|c| own(c) + constant(c)).collect())
}

/// Returns `-zw` per output channel under `fold`, otherwise 0.
pub(super) fn input_sum_factor(dots: &DotProducts, zero_point: ZeroPoint) -> Vec<i64> {
    match (&dots.weights, zero_point) {
        (Some(weights), ZeroPoint::Fold) => weights.zero_points.iter().map(|&z| -i64::from(z)).collect(),
        _ => vec![0; dots.window.channels()],
    }
}

/// Returns `-zx` if the weights are activations under `fold`, otherwise 0.
pub(super) fn weight_sum_factor(dots: &DotProducts, zero_point: ZeroPoint) -> i64 {
    match zero_point {
        ZeroPoint::Fold if dots.streams_weights() => -i64::from(dots.input_zero_point),
        _ => 0,
    }
}

/// Returns the factor of `zx` in the constants: `K * zw - sum(w)`, or `K * zw` if the weights are
/// activations.
fn zero_point_factor(dots: &DotProducts, weights: &DotWeights, channel: usize) -> i128 {
    let cells = 0..dots.window.terms();
    let places = cells.map(|k| weights.index(0, channel, dots.window.kernel_position(k)));
    let sum = match weights.constant().map(|codes| codes.all()) {
        None => 0,
        Some(IntegerSlice::I8(codes)) => sum_at(codes, places),
        Some(IntegerSlice::U8(codes)) => sum_at(codes, places),
        Some(IntegerSlice::I16(codes)) => sum_at(codes, places),
        Some(IntegerSlice::I32(codes)) => sum_at(codes, places),
    };
    let terms = dots.window.terms() as i128;
    terms * i128::from(weights.zero_points[channel]) - sum
}

fn sum_at<T: Copy + Into<i128>>(codes: &[T], places: impl Iterator<Item = usize>) -> i128 {
    places.map(|at| codes[at].into()).sum()
}
