//! What the multipliers see.

use guardbit_graph::{OutputPosition, Tap};
use guardbit_hwmodels::MacLayer;

use super::order::arrange;
use crate::output;

/// One pair of operands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operand {
    /// The activation as the multiplier sees it.
    pub activation: i128,
    /// The weight as the multiplier sees it.
    pub weight: i128,
}

/// The operands of the dot product at `out`, in the order of addition.
///
/// Padding keeps its place; only pools, means and sums leave it out.
pub(crate) fn read(layer: &MacLayer, input: &[i32], out: OutputPosition) -> Vec<Operand> {
    let window = &layer.dots.window;
    let offset = layer.activation_offset();
    let skips_padding = layer.dots.weights.is_none();
    let mut operands = Vec::with_capacity(layer.order.len());
    for (k, &cell) in layer.order.iter().enumerate() {
        let activation = match window.tap(out, window.kernel_position(cell)) {
            Tap::Input(at) => i128::from(input[at]) - i128::from(offset.subtract),
            Tap::Padding if skips_padding => continue,
            Tap::Padding => offset.padding.into(),
        };
        operands.push(Operand { activation, weight: layer.weights[out.c][k].into() });
    }
    let walk = &layer.datapath.order.walk;
    arrange(walk, operands, |o| o.activation * o.weight, output::exact_sum(layer, out.c, 0))
}
