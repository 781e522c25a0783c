//! The accelerator with the widths that came out.

use guardbit_hwmodels::{Accelerator, Level, MacLayer, Program, Register};
use guardbit_reports::Outcome;

use super::layers::SizedLayer;
use super::{Sizing, budget};
use crate::{StudyError, registers};

/// Recommended widths, and what the network does at them.
pub(super) struct Recommendation {
    /// The network on the recommended accelerator.
    pub program: Program,
    /// Over the samples, each layer reading what the one before it made.
    pub outcome: Outcome,
}

impl Recommendation {
    /// Without a budget: the proved widths, at which no input overflows anywhere. With one: the last levels at the
    /// widths within it, all widened by a bit at a time until the network as a whole is within it too; inner levels
    /// proved.
    pub fn new(sizing: &Sizing<'_>, layers: &[SizedLayer<'_>]) -> Result<Self, StudyError> {
        let graph = &sizing.subject.graph;
        let codes = sizing.subject.outputs.compared.iter().map(|&id| graph.tensor(id).ty.len() as u64).sum();
        for wider in 0.. {
            let accelerator = accelerator(sizing, layers, wider);
            let program = sizing.subject.lower(&accelerator)?;
            let outcome = budget::outcome(sizing, "recommended widths", &program)?;
            let within = sizing.request.budget.is_none_or(|budget| budget.allows(&outcome, codes));
            let widest = layers
                .iter()
                .all(|layer| width(layer, layer.last(), wider) == width(layer, layer.last(), wider + 1));
            if within || widest {
                return Ok(Self { program, outcome });
            }
        }
        unreachable!("widths end")
    }

    /// The accelerator's file.
    pub fn yaml(&self) -> String {
        self.program.accelerator.resolved_yaml()
    }
}

/// The recommended bits of one level.
fn width(layer: &SizedLayer<'_>, level: usize, wider: u32) -> u32 {
    let proved = layer.range_bits(level);
    match layer.budget {
        Some(bits) if level == layer.last() => (bits + wider).min(proved),
        _ => proved,
    }
}

/// Every layer with its own widths; for all others, the widest of them.
fn accelerator(sizing: &Sizing<'_>, layers: &[SizedLayer<'_>], wider: u32) -> Accelerator {
    let mut accelerator = sizing.program.accelerator.clone();
    let register = |layer: &MacLayer, level: &Level| {
        let sized = layers.iter().find(|sized| sized.layer.node == layer.node)?;
        let index = layer.datapath.levels.iter().position(|other| other.name == level.name)?;
        registers::fixed(level, width(sized, index, wider), registers::overflow(level))
    };
    registers::resize(&mut accelerator, sizing.program, register);
    let resized: Vec<Level> =
        accelerator.layers.values().flat_map(|own| own.datapath.levels.clone()).collect();
    for level in &mut accelerator.datapath.levels {
        let bits = |register| match register {
            Register::Auto => None,
            Register::Fixed { format, .. } => Some(format.bits()),
        };
        let widest = resized
            .iter()
            .filter(|other| other.name == level.name)
            .filter_map(|other| bits(other.register))
            .max();
        let register = widest.and_then(|bits| registers::fixed(level, bits, registers::overflow(level)));
        level.register = register.unwrap_or(level.register);
    }
    let what = sizing.request.budget.map_or("no input overflows".into(), |budget| format!("within {budget}"));
    accelerator.description =
        format!("{}: widths for {}, {what}", accelerator.name, sizing.subject.model.file);
    accelerator.name = format!("{}-sized", accelerator.name);
    let (name, description) = (accelerator.name.clone(), accelerator.description.clone());
    for own in accelerator.layers.values_mut() {
        (own.name, own.description) = (name.clone(), description.clone());
    }
    // What a layer has in common with all others needs no entry.
    let common = Accelerator { layers: Default::default(), ..accelerator.clone() };
    accelerator.layers.retain(|_, own| *own != common);
    accelerator
}
