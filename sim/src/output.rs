//! Computes the output code from the last level's sum: bias, requantization and clamp. Both engines use it.

use guardbit_graph::{Finish, OutputStage};
use guardbit_hwmodels::{BiasPlace, MacLayer, OutputFit, Register, ZeroPoint};
use guardbit_num::Overflow;

use crate::dot::{DotEvent, DotOutcome};
use crate::event::EventStage;

/// Delivered and exact sum of a dot product, with the sums of its operands.
pub(crate) struct Sum {
    /// Sum that the last level delivered, in the unit at the end of the datapath.
    pub delivered: i128,
    /// Exact sum at unit 1, including a preloaded bias.
    pub exact: i128,
    /// Sum of all activations at the multiplier.
    pub activations: i128,
    /// Sum of all weights at the multiplier; needed only if the weights are activations.
    pub weights: i128,
    /// Number of products.
    pub count: usize,
}

/// Returns the bias with which the last level starts, in that level's unit.
pub(crate) fn preload(layer: &MacLayer, channel: usize) -> Option<i128> {
    let datapath = &layer.datapath;
    if datapath.bias.at != BiasPlace::Preload {
        return None;
    }
    let last = datapath.levels.len() - 1;
    let bias = layer.bias.as_ref()?[channel];
    Some(datapath.unit_rounding(last).shift_right(bias, datapath.unit_shift(last)))
}

/// Returns the exact sum of a dot product whose products sum to `products`, including a preloaded bias.
pub(crate) fn exact_sum(layer: &MacLayer, channel: usize, products: i128) -> i128 {
    match layer.datapath.bias.at {
        BiasPlace::Preload => products + layer.bias.as_ref().map_or(0, |bias| bias[channel]),
        BiasPlace::Post | BiasPlace::PostRequantize => products,
    }
}

/// Returns the output code of an exact sum, as returned by [`exact_sum`].
pub(crate) fn exact_code(layer: &MacLayer, channel: usize, sum: &Sum) -> i32 {
    match &layer.dots.finish {
        Finish::Divide(division) => division.finish(sum.exact + raw_offset(layer, sum.count), sum.count),
        Finish::Requantize(stage) => {
            let exact = layer.exact_requantizers[channel];
            let bias = layer.bias.as_ref().map_or(0, |bias| bias[channel]);
            let with_side = sum.exact + side_sum(layer, channel, sum);
            let zero_point = i128::from(stage.output_zero_point);
            let code = match layer.datapath.bias.at {
                BiasPlace::Post => exact.requantize(with_side + bias, zero_point),
                BiasPlace::Preload => exact.requantize(with_side, zero_point),
                BiasPlace::PostRequantize => exact.requantize(with_side, zero_point) + exact.scale(bias),
            };
            fit_code(layer, stage, code)
        }
    }
}

/// Results of the output stage.
pub(crate) struct Finished {
    /// Output code.
    pub code: i32,
    /// Output code of the exact sum.
    pub exact_code: i32,
    /// Difference of the delivered sum, shifted back to unit 1, and the exact sum.
    pub error: i128,
    /// Overflow of the bias adder.
    pub misfit: Option<DotEvent>,
}

/// Writes the sums and both output codes to `outcome`.
pub(crate) fn finish(layer: &MacLayer, channel: usize, sum: &Sum, outcome: &mut DotOutcome) {
    let Finished { code, exact_code, error, misfit } = finished(layer, channel, sum);
    (outcome.delivered, outcome.error) = (sum.delivered, error);
    (outcome.code, outcome.exact_code) = (code, exact_code);
    if let Some(misfit) = misfit {
        outcome.bias_events += 1;
        outcome.narrowings.push(misfit);
        if matches!(layer.datapath.bias.register, Register::Fixed { overflow: Overflow::Trap, .. }) {
            outcome.trap_at(misfit.stage, misfit.k);
        }
    }
}

/// Returns both output codes of a sum, without memory of its own for events.
pub(crate) fn finished(layer: &MacLayer, channel: usize, sum: &Sum) -> Finished {
    let shift = unit_shift(layer);
    let (code, misfit) = match &layer.dots.finish {
        Finish::Requantize(stage) => narrow_code(layer, stage, channel, sum),
        Finish::Divide(division) => {
            (division.finish((sum.delivered << shift) + raw_offset(layer, sum.count), sum.count), None)
        }
    };
    let (exact_code, error) = (exact_code(layer, channel, sum), (sum.delivered << shift) - sum.exact);
    Finished { code, exact_code, error, misfit }
}

/// Returns the sum after the bias adder.
pub(crate) fn biased(layer: &MacLayer, channel: usize, sum: &Sum) -> i128 {
    let (bias, side) = (layer.bias.as_ref().map(|bias| bias[channel]), side_sum(layer, channel, sum));
    match layer.datapath.bias.at {
        BiasPlace::Post => post_bias(layer, sum.delivered, bias, side).0,
        BiasPlace::Preload | BiasPlace::PostRequantize => sum.delivered + to_unit(layer, side),
    }
}

/// Returns the output code of the delivered sum, and the overflow of the bias adder.
fn narrow_code(layer: &MacLayer, stage: &OutputStage, channel: usize, sum: &Sum) -> (i32, Option<DotEvent>) {
    let requantizer = layer.requantizers[channel];
    let zero_point = i128::from(stage.output_zero_point);
    let bias = layer.bias.as_ref().map(|bias| bias[channel]);
    let side = side_sum(layer, channel, sum);
    let (code, misfit) = match layer.datapath.bias.at {
        BiasPlace::Post => {
            let (biased, misfit) = post_bias(layer, sum.delivered, bias, side);
            (requantizer.requantize(biased, zero_point), misfit)
        }
        BiasPlace::Preload => {
            (requantizer.requantize(sum.delivered + to_unit(layer, side), zero_point), None)
        }
        BiasPlace::PostRequantize => {
            let scaled = bias.map_or(0, |bias| layer.exact_requantizers[channel].scale(bias));
            let (bias, misfit) = fit_bias(layer, 0, scaled);
            (requantizer.requantize(sum.delivered + to_unit(layer, side), zero_point) + bias, misfit)
        }
    };
    (fit_code(layer, stage, code), misfit)
}

/// Returns the output code that is stored, for the narrow and the exact run alike.
fn fit_code(layer: &MacLayer, stage: &OutputStage, code: i128) -> i32 {
    let (least, greatest) = (i128::from(stage.clamp.0), i128::from(stage.clamp.1));
    match layer.datapath.requantize.output {
        // The bounds are those of the restricted range if the accelerator has one.
        OutputFit::Saturate | OutputFit::SaturateSymmetric => code.clamp(least, greatest) as i32,
        OutputFit::Wrap => {
            let (below, above) = stage.activation.clips();
            let code = if below { code.max(least) } else { code };
            layer.output_range.wrap(if above { code.min(greatest) } else { code })
        }
    }
}

/// Returns the exact side sums `-zw * sum(x) - zx * sum(w)`. The second term is part of the bias if weights
/// are constants.
fn side_sum(layer: &MacLayer, channel: usize, sum: &Sum) -> i128 {
    let weights = i128::from(layer.weight_sum_factor) * sum.weights;
    i128::from(layer.input_sum_factor[channel]) * sum.activations + weights
}

/// Returns the sum of the weights of a channel, for [`Sum::weights`].
pub(crate) fn weight_sum(layer: &MacLayer, channel: usize) -> i128 {
    if layer.weight_sum_factor == 0 {
        return 0;
    }
    layer.weights.channel(channel).iter().map(|&weight| i128::from(weight)).sum()
}

/// Returns `n * zx`, which a pool's division must add again if it was subtracted from the operands.
pub(crate) fn raw_offset(layer: &MacLayer, count: usize) -> i128 {
    match layer.datapath.operands.zero_point {
        ZeroPoint::Subtract => count as i128 * i128::from(layer.dots.input_zero_point),
        ZeroPoint::Fold => 0,
    }
}

/// Adds the bias after the last level. A layer without a bias, and whose zero points leave none, has no bias
/// adder.
fn post_bias(layer: &MacLayer, delivered: i128, bias: Option<i128>, side: i128) -> (i128, Option<DotEvent>) {
    if bias.is_none() && !layer.has_side_sums() {
        return (delivered, None);
    }
    fit_bias(layer, delivered, to_unit(layer, bias.unwrap_or(0) + side))
}

/// Fits the sum of `held` and `addend` to the bias adder's register. Returns its overflow, if any.
fn fit_bias(layer: &MacLayer, held: i128, addend: i128) -> (i128, Option<DotEvent>) {
    let exact = held + addend;
    let Register::Fixed { format, overflow } = layer.datapath.bias.register else { return (exact, None) };
    let fit = overflow.fit(exact, format);
    let misfit = fit.overflow.map(|direction| {
        let k = layer.order.len().saturating_sub(1);
        DotEvent { stage: EventStage::Bias, run: 0, k, held, addend, stored: fit.value, direction }
    });
    (fit.value, misfit)
}

/// Returns a value at unit 1 in the unit at the end of the datapath.
fn to_unit(layer: &MacLayer, value: i128) -> i128 {
    let end = layer.datapath.levels.len();
    layer.datapath.unit_rounding(end).shift_right(value, unit_shift(layer))
}

fn unit_shift(layer: &MacLayer) -> u32 {
    layer.datapath.unit_shift(layer.datapath.levels.len())
}
