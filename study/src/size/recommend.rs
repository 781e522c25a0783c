//! Accelerator with the recommended widths.

use guardbit_hwmodels::{Accelerator, Level, MacLayer, Program, Register, description_of, name_of};
use guardbit_reports::Score;

use super::fractions;
use super::layers::SizedLayer;
use super::search;
use super::sizing::Sizing;
use crate::{StudyError, registers};

/// Recommended widths, and the network's results with them.
pub(super) struct Recommendation {
    /// Network on the recommended accelerator.
    pub program: Program,
    /// Score on the samples in propagated mode.
    pub score: Score,
}

impl Recommendation {
    /// Creates the recommendation. Without a budget, or if no budget can be met, it has the proved widths, at
    /// which no input overflows an accumulator. With a budget it has the widths within it, at which the
    /// search measured `score`. Layers of floating-point codes have `fraction_bits`.
    pub fn new(
        sizing: &Sizing<'_>,
        layers: &[SizedLayer<'_>],
        fraction_bits: Option<u32>,
        score: Option<Score>,
    ) -> Result<Self, StudyError> {
        let mut accelerator = accelerator(sizing, layers);
        if let Some(bits) = fraction_bits {
            fractions::set(&mut accelerator, bits);
        }
        let program = sizing.subject.lower(&accelerator)?;
        let score = match score {
            Some(score) => score,
            None => search::score(sizing, "recommended widths", &program)?,
        };
        Ok(Self { program, score })
    }

    /// Returns the text of the accelerator's file.
    pub fn yaml(&self) -> String {
        self.program.accelerator.resolved_yaml()
    }
}

/// Returns the recommended bits of one level.
fn width(layer: &SizedLayer<'_>, level: usize) -> u32 {
    match &layer.together {
        Some(widths) => widths[level].unwrap_or_else(|| layer.unsearched_bits(level)),
        None => layer.range_bits(level),
    }
}

/// Returns the accelerator in which every layer has its own widths.
fn accelerator(sizing: &Sizing<'_>, layers: &[SizedLayer<'_>]) -> Accelerator {
    let within = sizing.request.budget.filter(|_| layers.iter().any(|layer| layer.together.is_some()));
    let what = within.map_or_else(|| proved(sizing, layers), |budget| format!("within {budget}"));
    let what = format!("widths for {}, {what}", sizing.subject.model.file);
    let own = |layer: &MacLayer, level: usize| {
        let sized = layers.iter().find(|sized| sized.layer.node == layer.node)?;
        Some(width(sized, level))
    };
    resized(sizing.program, own, "sized", &what)
}

/// Describes what is proved about every layer at its own widths.
fn proved(sizing: &Sizing<'_>, layers: &[SizedLayer<'_>]) -> String {
    let graph = &sizing.program.graph;
    let stages =
        |layer: &SizedLayer<'_>| layer.products_may_overflow(graph) || layer.biases_may_overflow(graph);
    let out_of_reach = |layer: &SizedLayer<'_>| (0..=layer.last()).any(|level| layer.is_out_of_reach(level));
    match (layers.iter().any(out_of_reach), layers.iter().any(stages)) {
        _ if layers.is_empty() => "fraction bits by samples",
        (true, _) => "some sums fit no width",
        (false, true) => "no input overflows an accumulator",
        (false, false) => "no input overflows",
    }
    .into()
}

/// Returns the accelerator of a program with widths per layer and level; all other layers have the widest of
/// them. `suffix` is appended to the name, and `what` is the description.
pub(crate) fn resized(
    program: &Program,
    width: impl Fn(&MacLayer, usize) -> Option<u32>,
    suffix: &str,
    what: &str,
) -> Accelerator {
    let mut accelerator = program.accelerator.clone();
    let register = |layer: &MacLayer, level: &Level| {
        let index = search::level_index(layer, &level.name)?;
        registers::fixed(level, width(layer, index)?, registers::overflow(level))
    };
    registers::resize(&mut accelerator, program, register);
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
    accelerator.description = description_of(&format!("{}: {what}", accelerator.name));
    accelerator.name = name_of(&format!("{}-{suffix}", accelerator.name));
    let (name, description) = (accelerator.name.clone(), accelerator.description.clone());
    for own in accelerator.layers.values_mut() {
        (own.name, own.description) = (name.clone(), description.clone());
    }
    // A layer whose settings equal the common ones needs no entry.
    let common = Accelerator { layers: Default::default(), ..accelerator.clone() };
    accelerator.layers.retain(|_, own| *own != common);
    accelerator
}
