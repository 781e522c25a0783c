//! Selects biases and multipliers for which a change of the sum by one unit changes the output code.
//!
//! Two adjacent sums get different codes if the requantizer rounds between them. With a multiplier of
//! `(k + 1/2) / (|S| + 1/2)`, `|S|` becomes `k` and `|S| + 1` becomes `k + 1`, for any `k` whose codes are
//! not clamped. Each choice is tested with the layer's requantizer.

use guardbit_graph::Finish;
use guardbit_hwmodels::{BiasPlace, MacLayer, Register};
use guardbit_num::Multiplier;
use guardbit_sim::trace::{TraceOperand, trace};

use crate::arithmetic::one_channel;
use crate::beats::bias_word;

/// Greatest number of codes that are tried.
const TRIED: i128 = 120;

/// Returns `one`, which is one channel of `layer`, with a bias of the layer and a multiplier. `number` varies
/// the choice.
pub(super) fn biased(layer: &MacLayer, one: MacLayer, operands: &[TraceOperand], number: usize) -> MacLayer {
    let Some(biases) = &layer.bias else { return scaled(one, operands, number) };
    let with = |bias: i128| {
        let mut one = one.clone();
        one.bias = Some(vec![bias]);
        one
    };
    if layer.datapath.bias.at != BiasPlace::Post {
        // A path starts from an empty register.
        return scaled(with(0), operands, number);
    }
    let channel = biases[number % biases.len()];
    let extremes = [biases.iter().max(), biases.iter().min()].into_iter().flatten().copied();
    let candidates: Vec<i128> = [channel, 0].into_iter().chain(extremes).collect();
    let shown = candidates.iter().find_map(|&bias| {
        let layer = with(bias);
        let sum = final_sum(&layer, operands)?;
        showing(&layer, sum, number)
    });
    shown.unwrap_or_else(|| with(channel))
}

/// Returns `layer`, which has one channel, with a multiplier for which a change of its sum by one unit
/// changes the code, if there is one.
pub(super) fn scaled(layer: MacLayer, operands: &[TraceOperand], number: usize) -> MacLayer {
    let shown = fitted_sum(&layer, operands).and_then(|sum| showing(&layer, sum, number));
    shown.unwrap_or(layer)
}

/// Returns the requantizer's input; `None` if the bias adder cannot hold it.
fn final_sum(layer: &MacLayer, operands: &[TraceOperand]) -> Option<i128> {
    let sum = trace(layer, 0, operands).delivered + bias_word(layer, operands);
    match layer.datapath.bias.register {
        Register::Fixed { format, .. } if !format.holds(sum) => None,
        _ => Some(sum),
    }
}

/// Returns the requantizer's input, including any overflow of the bias adder.
fn fitted_sum(layer: &MacLayer, operands: &[TraceOperand]) -> Option<i128> {
    let delivered = trace(layer, 0, operands).delivered;
    match (layer.datapath.bias.at, layer.datapath.bias.register) {
        (BiasPlace::Post, register) => {
            let sum = delivered + if layer.bias.is_some() { bias_word(layer, operands) } else { 0 };
            Some(register.fixed().map_or(sum, |(format, overflow)| overflow.fit(sum, format).value))
        }
        (BiasPlace::Preload, _) => Some(delivered),
        (BiasPlace::PostRequantize, _) => None,
    }
}

/// Returns `layer` with a multiplier for which the sums adjacent to `sum` have other codes.
fn showing(layer: &MacLayer, sum: i128, number: usize) -> Option<MacLayer> {
    let Finish::Requantize(stage) = &layer.dots.finish else { return None };
    let (zero, clamp) = (i128::from(stage.output_zero_point), stage.clamp);
    let code = |layer: &MacLayer, sum: i128| {
        layer.requantizers[0].requantize(sum, zero).clamp(clamp.0.into(), clamp.1.into())
    };
    let shift = layer.datapath.unit_shift(layer.datapath.levels.len());
    // Alternately from a sum towards 0, or away from it.
    let inward = number.is_multiple_of(2);
    let size = sum.abs();
    let start = (number as i128 * 7) % TRIED;
    let edge = if inward && size > 0 { size * 2 - 1 } else { size * 2 + 1 } as f64;
    let away = if sum < 0 { -1 } else { 1 };
    let neighbour = if inward && size > 0 { sum - away } else { sum + away };
    let codes = (0..TRIED).map(|tried| (start + tried) % TRIED).filter(|&k| k <= size);
    codes.flat_map(|k| multipliers(k, edge)).find_map(|real| {
        let multiplier = Multiplier::new(real / 2f64.powi(shift as i32)).ok()?;
        let layer = one_channel(layer, 0, Some(multiplier));
        (code(&layer, sum) != code(&layer, neighbour)).then_some(layer)
    })
}

/// Returns multipliers up to 1 that scale `edge / 2` to between `k` and `k + 1`.
///
/// A requantizer that rounds twice rounds to a multiple of `2^e` first, for a multiplier of that size. This
/// shifts the edge by half of `2^e` in either direction.
fn multipliers(k: i128, edge: f64) -> impl Iterator<Item = f64> {
    let real = (2 * k + 1) as f64 / edge;
    let first = Multiplier::new(real).map_or(0.0, |m| 2f64.powi(m.exponent()));
    [0.0, -first, first]
        .into_iter()
        .map(move |offset| ((2 * k + 1) as f64 + offset) / edge)
        .filter(|m| *m <= 1.0)
}
