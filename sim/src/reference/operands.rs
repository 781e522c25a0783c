//! Operands of the multipliers.

use guardbit_graph::{OutputPosition, Tap};
use guardbit_hwmodels::MacLayer;

use super::order::arrange;
use crate::output;
use crate::reads::Reads;
pub(crate) use crate::trace::TraceOperand as Operand;

/// Returns the operands of the dot product at `out`, in the order of addition.
///
/// Padding keeps its place; only pools, means and sums leave it out.
pub(crate) fn read(layer: &MacLayer, reads: Reads<'_, [i32]>, out: OutputPosition) -> Vec<Operand> {
    let window = &layer.dots.window;
    let offset = layer.activation_offset();
    let skips_padding = layer.dots.weights.is_none();
    let mut operands = Vec::with_capacity(layer.order.len());
    for (k, &cell) in layer.order.iter().enumerate() {
        let activation = match window.tap(out, window.kernel_position(cell)) {
            Tap::Input(at) => i128::from(reads.activations[at]) - i128::from(offset.subtract),
            Tap::Padding if skips_padding => continue,
            Tap::Padding => offset.padding.into(),
        };
        operands.push(Operand { activation, weight: weight(layer, reads.weights, out, k).into() });
    }
    let walk = &layer.datapath.order.walk;
    arrange(walk, operands, |o| o.activation * o.weight, output::exact_sum(layer, out.c, 0))
}

/// Returns the weight for activation `k` of the dot product at `out`: a constant, or a value of `second`,
/// which comes from the sample.
fn weight(layer: &MacLayer, second: Option<&[i32]>, out: OutputPosition, k: usize) -> i32 {
    match (&layer.dots.weights, second) {
        (Some(weights), Some(codes)) => {
            let cell = layer.dots.window.kernel_position(layer.order[k]);
            layer.weight_operand(out.c, codes[weights.index(out.n, out.c, cell)])
        }
        _ => layer.weights.at(out.c, k),
    }
}

/// Returns the weights of the lane below the lane of `out` in a shared adder, in the order of addition;
/// `None` if there is no such lane.
pub(super) fn low_lane(layer: &MacLayer, second: Option<&[i32]>, out: OutputPosition) -> Option<Vec<i32>> {
    let low = OutputPosition { c: layer.low_lane(out.c)?, ..out };
    Some((0..layer.order.len()).map(|k| weight(layer, second, low, k)).collect())
}
