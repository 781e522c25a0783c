//! The same network with other registers.

use guardbit_hwmodels::{Accelerator, Level, MacLayer, Program, Register};
use guardbit_num::{Format, MAX_BITS, MIN_BITS, Overflow};

use super::Sizing;
use crate::StudyError;

/// The program with the registers that `register` gives for the levels of its layers; `None` leaves one as it is.
pub(super) fn with(
    sizing: &Sizing<'_>,
    register: impl Fn(&MacLayer, &Level) -> Option<Register>,
) -> Result<Program, StudyError> {
    let mut accelerator = sizing.program.accelerator.clone();
    resize(&mut accelerator, sizing.program, register);
    sizing.subject.lower(&accelerator)
}

/// Gives every layer of `program` registers of its own.
pub(super) fn resize(
    accelerator: &mut Accelerator,
    program: &Program,
    register: impl Fn(&MacLayer, &Level) -> Option<Register>,
) {
    let common = Accelerator { layers: Default::default(), ..accelerator.clone() };
    for layer in program.mac_layers() {
        let is_own = |name: &String| program.graph.find_node(name) == Ok(layer.node);
        let key = accelerator.layers.keys().find(|name| is_own(name)).cloned();
        let mut own = key.and_then(|key| accelerator.layers.remove(&key)).unwrap_or_else(|| common.clone());
        for level in &mut own.datapath.levels {
            level.register = register(layer, level).unwrap_or(level.register);
        }
        accelerator.layers.insert(layer.short_name.clone(), own);
    }
}

/// A register that holds every sum. One without a sign keeps a width, since what it needs is counted without one.
pub(super) fn wide(level: &Level) -> Register {
    match level.register {
        Register::Fixed { format, .. } if !format.is_signed() => {
            fixed(level, MAX_BITS, Overflow::Wrap).unwrap_or(Register::Auto)
        }
        _ => Register::Auto,
    }
}

/// A register of `bits` with the sign of the level's own; `None` beyond the widths that registers can have.
pub(super) fn fixed(level: &Level, bits: u32, overflow: Overflow) -> Option<Register> {
    let signed = match level.register {
        Register::Auto => true,
        Register::Fixed { format, .. } => format.is_signed(),
    };
    let format = Format::new(bits.max(MIN_BITS), signed).ok()?;
    Some(Register::Fixed { format, overflow })
}

/// What a level does with what does not fit; saturation, if it has no width yet.
pub(super) fn overflow(level: &Level) -> Overflow {
    match level.register {
        Register::Auto => Overflow::Saturate,
        Register::Fixed { overflow, .. } => overflow,
    }
}
