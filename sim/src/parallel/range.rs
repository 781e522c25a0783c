//! Whether a layer's sums stay within 64 bits.

use guardbit_hwmodels::{MacLayer, Register};

/// Every value that the datapath can hold stays below this.
const LIMIT: i128 = 1 << 62;

/// Whether every product, sum and bias of `layer`, narrow or not, is below `2^62` in magnitude.
pub(crate) fn fits_i64(layer: &MacLayer) -> bool {
    let weight = layer.weights.iter().flatten().map(|w| w.unsigned_abs()).max().unwrap_or(0);
    // Activations have at most 16 bits, a zero point taken off one more.
    let product = i128::from(weight) << 17;
    let bias = layer.bias.iter().flatten().map(|b| b.abs()).max().unwrap_or(0);
    let count = layer.order.len().max(1) as i128;
    let mut value = product.max(reach(layer.datapath.product.register));
    for level in &layer.datapath.levels {
        value = value * count + bias + reach(level.register);
        if value >= LIMIT {
            return false;
        }
    }
    true
}

fn reach(register: Register) -> i128 {
    match register {
        Register::Auto => 0,
        Register::Fixed { format, .. } => format.max() + 1,
    }
}
