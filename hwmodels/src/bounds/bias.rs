//! Range of the results of the bias adder.

use guardbit_graph::Graph;

use super::layer::weight_range;
use super::{Range, operand_range};
use crate::{BiasPlace, MacLayer};

/// Returns the range of all values that the register of the bias adder after the last level must hold, over
/// all channels. `sums` holds the range of the last level per channel, in its own unit. Returns `None` if
/// nothing is added after the last level.
pub fn bias_adder_range(graph: &Graph, layer: &MacLayer, sums: impl Iterator<Item = Range>) -> Option<Range> {
    let added = |(channel, sum)| match layer.datapath.bias.at {
        BiasPlace::Preload => None,
        BiasPlace::Post => added_to(graph, layer, channel, sum),
        BiasPlace::PostRequantize => {
            let bias = layer.bias.as_ref()?[channel];
            Some(Range::point(layer.exact_requantizers[channel].scale(bias)))
        }
    };
    sums.enumerate().filter_map(added).reduce(Range::hull)
}

/// Returns the range of a sum with its bias, and with the side sums of operands if zero points are folded;
/// `None` if there is neither.
fn added_to(graph: &Graph, layer: &MacLayer, channel: usize, sum: Range) -> Option<Range> {
    let (datapath, factors) = (&layer.datapath, &layer.input_sum_factor);
    if layer.bias.is_none() && !layer.has_side_sums() {
        return None;
    }
    let (last, end) = (datapath.levels.last()?, datapath.levels.len());
    let factor = factors.get(channel).copied().unwrap_or_default();
    let all = |operand: Range, factor: i64| operand.repeated(layer.order.len()).times(Range::point(factor));
    let weights = weight_range(graph, layer, channel).hull(Range::ZERO);
    let side = all(operand_range(graph, layer), factor).plus(all(weights, layer.weight_sum_factor));
    let bias = Range::point(layer.bias.as_ref().map_or(0, |bias| bias[channel]));
    let added = bias.plus(side).shift_right(datapath.unit_shift(end), datapath.unit_rounding(end));
    // The addend is a value of its own, and remains if the sum is 0.
    Some(sum.shift_right(last.shift, last.round).plus(added).hull(added))
}
