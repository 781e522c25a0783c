//! What the adder of biases makes.

use guardbit_graph::Graph;

use super::layer::weight_range;
use super::{Range, operand_range};
use crate::{BiasPlace, MacLayer};

/// All that the register of the adder behind the last level is asked to hold, over all channels: `sums` has what that level
/// can make, per channel and in its own unit. `None` where nothing is added there.
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

/// A sum with its bias, and with the side sums of operands where zero points are folded; `None` if there is neither.
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
    // What is added is read by itself, and stays where the sum is 0.
    Some(sum.shift_right(last.shift, last.round).plus(added).hull(added))
}
