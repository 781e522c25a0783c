//! Programs with other registers.

use std::collections::BTreeMap;

use guardbit_graph::NodeId;
use guardbit_hwmodels::{Accelerator, Level, MacLayer, Program, Register, Step};
use guardbit_num::{Format, MAX_BITS, MIN_BITS, Overflow};

use crate::StudyError;
use crate::subject::Subject;

/// Returns the program with the registers that `register` returns for the levels of its layers; `None` keeps
/// a register.
pub(crate) fn with(
    subject: &Subject,
    program: &Program,
    register: impl Fn(&MacLayer, &Level) -> Option<Register>,
) -> Result<Program, StudyError> {
    let mut accelerator = program.accelerator.clone();
    resize(&mut accelerator, program, register);
    subject.lower_any(&accelerator)
}

/// Returns the program with accumulators that hold every sum, so that each layer reads activations without
/// overflow. Other stages that trap observe instead.
pub(crate) fn unlimited(subject: &Subject, program: &Program) -> Result<Program, StudyError> {
    Ok(observing_traps(&with(subject, program, |_, level| Some(wide(level)))?))
}

/// Returns the program with trapping stages changed to observe: overflow is counted and stops nothing.
pub(crate) fn observing_traps(program: &Program) -> Program {
    let mut observing = program.clone();
    for step in &mut observing.steps {
        let Step::Mac(layer) = step else { continue };
        let datapath = &mut layer.datapath;
        let levels = datapath.levels.iter_mut().map(|level| &mut level.register);
        for register in levels.chain([&mut datapath.product.register, &mut datapath.bias.register]) {
            if let Register::Fixed { overflow: overflow @ Overflow::Trap, .. } = register {
                *overflow = Overflow::Observe;
            }
        }
    }
    observing
}

/// Gives every layer of `program` its own registers in the accelerator; an adder that lanes share is left
/// unchanged.
pub(crate) fn resize(
    accelerator: &mut Accelerator,
    program: &Program,
    register: impl Fn(&MacLayer, &Level) -> Option<Register>,
) {
    let common = Accelerator { layers: Default::default(), ..accelerator.clone() };
    // Entries of layers that the program does not run are kept.
    let entries = accelerator.layers.iter();
    let mut named: BTreeMap<Option<NodeId>, (String, Accelerator)> = entries
        .map(|(name, own)| (program.graph.find_node(name).ok(), (name.to_owned(), own.clone())))
        .collect();
    for layer in program.mac_layers() {
        let mut own = named.remove(&Some(layer.node)).map_or_else(|| common.clone(), |(_, own)| own);
        for (index, level) in own.datapath.levels.iter_mut().enumerate() {
            if !layer.packing.gives_register(index) {
                level.register = register(layer, level).unwrap_or(level.register);
            }
        }
        named.insert(Some(layer.node), (layer.short_name.clone(), own));
    }
    accelerator.layers = named.into_values().collect();
}

/// Returns a register that holds every sum. An unsigned register keeps a width, because its requirement is
/// counted without a sign.
pub(crate) fn wide(level: &Level) -> Register {
    match level.register {
        Register::Fixed { format, .. } if !format.is_signed() => {
            fixed(level, MAX_BITS, Overflow::Wrap).unwrap_or(Register::Auto)
        }
        _ => Register::Auto,
    }
}

/// Returns a register of `bits` bits with the level's signedness; `None` if the width is not supported.
pub(crate) fn fixed(level: &Level, bits: u32, overflow: Overflow) -> Option<Register> {
    let format = Format::new(bits.max(MIN_BITS), level.register.is_signed()).ok()?;
    Some(Register::Fixed { format, overflow })
}

/// Returns the overflow mode of a level; saturation if it has no width yet.
pub(crate) fn overflow(level: &Level) -> Overflow {
    match level.register {
        Register::Auto => Overflow::Saturate,
        Register::Fixed { overflow, .. } => overflow,
    }
}
