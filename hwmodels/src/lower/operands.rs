//! Weight operands of the multiplier, and the terms that remain from zero points.
//!
//! `sum (x - zx)(w - zw) = sum x*w - zw * sum x - zx * sum w + K * zx * zw`, with sums over all K window
//! cells and padding with the code `zx`. Under `subtract` the left side is computed. Under `fold` the first
//! term is computed, and the others are added later: constants with the bias, sums of activations in addition
//! to it.

use guardbit_graph::{DotProducts, DotWeights};

use crate::{Weights, ZeroPoint};

/// Returns `[out channel][k]` in the order of addition: all 1 without weights, empty if the weights are
/// activations.
pub(super) fn weights(dots: &DotProducts, zero_point: ZeroPoint, order: &[usize]) -> Weights {
    let (channels, terms) = (dots.window.channels(), order.len());
    let Some(weights) = &dots.weights else { return Weights::new(channels, terms, |_, _| 1) };
    let Some(codes) = weights.constant() else { return Weights::none() };
    // Cells of the first channel; those of others lie at equal distances.
    let cells: Vec<usize> =
        order.iter().map(|&k| weights.index(0, 0, dots.window.kernel_position(k))).collect();
    let [by_channel, ..] = weights.strides;
    Weights::new(channels, terms, |channel, k| {
        let offset = match zero_point {
            ZeroPoint::Subtract => weights.zero_points[channel],
            ZeroPoint::Fold => 0,
        };
        codes[cells[k] + channel * by_channel] - offset
    })
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
    let code =
        |codes: &[i32], k| i128::from(codes[weights.index(0, channel, dots.window.kernel_position(k))]);
    let sum: i128 = weights.constant().map_or(0, |codes| cells.map(|k| code(codes, k)).sum());
    let terms = dots.window.terms() as i128;
    terms * i128::from(weights.zero_points[channel]) - sum
}
