//! Cost of an accumulator before synthesis.

use guardbit_hwmodels::{MacLayer, Register};

/// Bits and bytes of one accumulator with all its levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cost {
    /// Bits of its adders: one adder in a serial level, one less than the run's length in a tree.
    pub adder_bits: u64,
    /// Bits of its registers: a tree has none.
    pub register_bits: u64,
    /// Bytes of sums to and from their memory in one inference. A complete sum leaves once. Each run of inner
    /// levels before the last one reads and writes the outer sum.
    pub psum_bytes: u64,
}

impl Cost {
    /// Returns the cost of a layer's datapath.
    pub fn of(layer: &MacLayer) -> Self {
        let mut cost = Self::default();
        let mut values = layer.order.len();
        for level in &layer.datapath.levels {
            let run = level.terms.run_length(values);
            let bits = width(level.register);
            let (adders, registers) = match level.reduce.takes_run_at_once() {
                false => (1, 1),
                true => (level.reduce.additions(run) as u64, 0),
            };
            cost.adder_bits += adders * bits;
            cost.register_bits += registers * bits;
            let moves = if layer.datapath.levels.len() == 1 { 1 } else { 2 * values.max(1) as u64 - 1 };
            cost.psum_bytes = moves * layer.dots.window.dots() as u64 * bits.div_ceil(8);
            values = values.div_ceil(run.max(1));
        }
        cost
    }
}

/// Returns the cost of two levels, from inner and outer bits, runs per dot product, and dot products per
/// inference.
pub(super) fn two_levels(inner: u32, outer: u32, tiles: usize, dots: usize) -> Cost {
    let bits = u64::from(inner) + u64::from(outer);
    let moves = (2 * tiles.max(1) as u64 - 1) * dots as u64;
    Cost { adder_bits: bits, register_bits: bits, psum_bytes: moves * u64::from(outer).div_ceil(8) }
}

fn width(register: Register) -> u64 {
    match register {
        Register::Auto => 0,
        Register::Fixed { format, .. } => format.bits().into(),
    }
}
