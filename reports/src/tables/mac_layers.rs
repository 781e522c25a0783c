//! What rows about accelerated layers are made from.

use guardbit_hwmodels::{MacLayer, Program, Register, Step};
use guardbit_sim::LayerStats;

use crate::Width;

/// Returns the accelerated layers with their statistics, in order of execution.
pub(crate) fn mac_layers<'a>(
    program: &'a Program,
    layers: &'a [Option<LayerStats>],
) -> impl Iterator<Item = (&'a MacLayer, &'a LayerStats)> {
    program.steps.iter().zip(layers).filter_map(|(step, stats)| match (step, stats) {
        (Step::Mac(layer), Some(stats)) => Some((layer.as_ref(), stats)),
        _ => None,
    })
}

/// Returns the width of a register, and its overflow mode if the width is limited.
pub(crate) fn register(register: Register) -> (Width, Option<String>) {
    match register {
        Register::Auto => (Width::Auto, None),
        Register::Fixed { format, overflow } => {
            (Width::Bits(format.bits()), Some(overflow.name().to_owned()))
        }
    }
}
