//! What decides the values of a design's layers.

use guardbit_graph::NodeId;
use guardbit_hwmodels::{Datapath, MacLayer, Packing, Program, Register};
use guardbit_num::{Format, MAX_BITS};

/// Everything that decides the values of a layer, apart from the network.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LayerShape {
    pub node: NodeId,
    pub datapath: Datapath,
    pub packing: Packing,
}

impl LayerShape {
    /// Returns the shapes of a program's layers, in order of execution.
    pub fn all(program: &Program) -> Vec<Self> {
        let shape = |layer: &MacLayer| Self {
            node: layer.node,
            datapath: layer.datapath.clone(),
            packing: layer.packing,
        };
        program.mac_layers().map(shape).collect()
    }
}

/// Returns the part that designs which differ only in widths share.
pub(super) fn structure(shapes: &[LayerShape]) -> String {
    let mut shapes = shapes.to_vec();
    for level in shapes.iter_mut().flat_map(|shape| &mut shape.datapath.levels) {
        level.register = widened(level.register);
    }
    format!("{shapes:?}")
}

/// Returns the register with the maximum width, and its sign and overflow mode.
fn widened(register: Register) -> Register {
    match register {
        Register::Auto => Register::Auto,
        Register::Fixed { format, overflow } => {
            let widest = Format::new(MAX_BITS, format.is_signed()).unwrap_or(format);
            Register::Fixed { format: widest, overflow }
        }
    }
}

/// Returns the widths of every level, over all layers: `chain 14, acc 12-16`.
pub(super) fn widths(shapes: &[LayerShape]) -> String {
    let mut levels: Vec<(&str, Vec<Option<u32>>)> = Vec::new();
    for level in shapes.iter().flat_map(|shape| &shape.datapath.levels) {
        let bits = match level.register {
            Register::Auto => None,
            Register::Fixed { format, .. } => Some(format.bits()),
        };
        match levels.iter_mut().find(|(name, _)| *name == level.name) {
            Some((_, all)) => all.push(bits),
            None => levels.push((&level.name, vec![bits])),
        }
    }
    let shown = |(name, bits): &(&str, Vec<Option<u32>>)| {
        let numbers = || bits.iter().flatten();
        match (numbers().min(), numbers().max(), bits.contains(&None)) {
            (Some(low), Some(high), false) if low == high => format!("{name} {low}"),
            (Some(low), Some(high), false) => format!("{name} {low}-{high}"),
            (Some(low), Some(_), true) => format!("{name} {low}-auto"),
            _ => format!("{name} auto"),
        }
    };
    levels.iter().map(shown).collect::<Vec<_>>().join(", ")
}
