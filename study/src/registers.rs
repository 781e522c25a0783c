//! The same network with other registers.

use std::collections::BTreeMap;

use guardbit_graph::NodeId;
use guardbit_hwmodels::{Accelerator, Level, MacLayer, Program, Register, Step};
use guardbit_num::{Format, MAX_BITS, MIN_BITS, Overflow};

use crate::StudyError;
use crate::subject::Subject;

/// The program with the registers that `register` gives for the levels of its layers; `None` leaves one as it is.
pub(crate) fn with(
    subject: &Subject,
    program: &Program,
    register: impl Fn(&MacLayer, &Level) -> Option<Register>,
) -> Result<Program, StudyError> {
    let mut accelerator = program.accelerator.clone();
    resize(&mut accelerator, program, register);
    subject.lower_any(&accelerator)
}

/// The program with accumulators that hold every sum: nothing overflows in them, so each layer reads what it would
/// read of any accumulators that are wide enough. Other stages that trap observe.
pub(crate) fn unlimited(subject: &Subject, program: &Program) -> Result<Program, StudyError> {
    Ok(observing_traps(&with(subject, program, |_, level| Some(wide(level)))?))
}

/// The same program with every stage that traps made to observe: overflow is noted and stops nothing.
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

/// Gives every layer of `program`, whose accelerator this is, registers of its own; an adder that lanes share stays as it is.
pub(crate) fn resize(
    accelerator: &mut Accelerator,
    program: &Program,
    register: impl Fn(&MacLayer, &Level) -> Option<Register>,
) {
    let common = Accelerator { layers: Default::default(), ..accelerator.clone() };
    // Entries of layers that the program does not run stay as they are.
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

/// A register that holds every sum. One without a sign keeps a width, since what it needs is counted without one.
pub(crate) fn wide(level: &Level) -> Register {
    match level.register {
        Register::Fixed { format, .. } if !format.is_signed() => {
            fixed(level, MAX_BITS, Overflow::Wrap).unwrap_or(Register::Auto)
        }
        _ => Register::Auto,
    }
}

/// A register of `bits` with the sign of the level's own; `None` beyond the widths that registers can have.
pub(crate) fn fixed(level: &Level, bits: u32, overflow: Overflow) -> Option<Register> {
    let format = Format::new(bits.max(MIN_BITS), level.register.is_signed()).ok()?;
    Some(Register::Fixed { format, overflow })
}

/// What a level does with what does not fit; saturation, if it has no width yet.
pub(crate) fn overflow(level: &Level) -> Overflow {
    match level.register {
        Register::Auto => Overflow::Saturate,
        Register::Fixed { overflow, .. } => overflow,
    }
}
