//! Bandwidth that the array needs from its SRAMs to run without stalls.

use super::chain::{Chain, products_per_step};
use crate::{Accelerator, Array, ArrayKind, Dataflow};

/// Bytes of an activation or a weight.
const INT8_BYTES: usize = 1;

/// Bytes per cycle that an array needs at full speed, with int8 operands that are shared as much as possible.
/// It is a lower bound for every layer that fills the array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Feed {
    /// Bytes per cycle of the operand that needs more: activations or weights.
    pub operands: f64,
    /// Name of that operand.
    pub operand: &'static str,
    /// Bytes per cycle of sums, written and read.
    pub sums: f64,
}

impl Feed {
    pub fn new(accelerator: &Accelerator) -> Self {
        let array = Array { dot_width: products_per_step(accelerator), ..accelerator.array };
        let (rows, cols) = (array.rows * array.dot_width, array.cols * array.dot_width);
        let lanes = array.rows * array.cols;
        let (activations, weights) = match (accelerator.dataflow, array.kind) {
            (Dataflow::OutputStationary, _) | (Dataflow::Vector, ArrayKind::Block) => (rows, cols),
            // The stationary operand is loaded once for many steps.
            (Dataflow::WeightStationary, _) => (rows, 0),
            (Dataflow::InputStationary, _) => (0, rows),
            // Lanes arranged as a square of pixels and channels share the most.
            (Dataflow::Vector, ArrayKind::Outputs) => {
                let side = lanes.isqrt();
                (side * array.dot_width, side * array.dot_width)
            }
            (Dataflow::Vector, ArrayKind::Channels) => {
                (array.dot_width, (lanes * array.dot_width).div_ceil(array.stripe))
            }
            (Dataflow::Vector, ArrayKind::Folded) => (array.dot_width, lanes * array.dot_width),
        };
        let sums = if accelerator.dataflow.moves_sums() {
            2 * array.cols * Chain::new(accelerator, usize::MAX).abreast()
        } else {
            0
        };
        let (operands, operand) =
            if activations >= weights { (activations, "activations") } else { (weights, "weights") };
        Self {
            operands: (operands * INT8_BYTES) as f64,
            operand,
            sums: sums as f64 * f64::from(accelerator.datapath.sum_bits()) / 8.0,
        }
    }
}
