//! One design for all layers that is within a budget, in addition to widths per layer.

use guardbit_hwmodels::MacLayer;
use guardbit_num::MIN_BITS;
use guardbit_reports::{DesignLevel, Score, ScoreFigures, SizeLevelRow, Width, percentage};

use super::budget::Budget;
use super::recommend::resized;
use super::search;
use super::sizing::Sizing;
use crate::StudyError;

/// One width per level for all layers.
pub(super) struct Uniform {
    pub design: Vec<DesignLevel>,
    /// Its results as a sentence; none if the widths per layer are these.
    pub remark: Option<String>,
}

impl Uniform {
    /// Returns the design that covers the recommended widths of every layer, `covering`. If that exceeds the budget in
    /// all layers, returns the first wider one that does not, from which no level can be narrowed alone.
    pub fn within(
        sizing: &Sizing<'_>,
        budget: Budget,
        levels: &[SizeLevelRow],
        covering: Vec<DesignLevel>,
    ) -> Result<Self, StudyError> {
        let has = |row: &SizeLevelRow| bits(&covering, &row.level) == Some(row.bits_recommended);
        if levels.iter().all(has) {
            return Ok(Self { design: covering, remark: None });
        }
        let allowed = |score: &Score| budget.allows(score, sizing.codes_per_sample());
        let score = measure(sizing, &covering)?;
        let first = format!("one design for all layers, {}", words(&covering));
        let result = result(&score);
        if allowed(&score) {
            return Ok(Self {
                design: covering,
                remark: Some(format!("{first}, is within {budget}: {result}")),
            });
        }
        let exceeds = format!("the widest of these widths in every layer exceed {budget}: {result}");
        let mut design = covering.clone();
        let found = loop {
            let wider: Vec<DesignLevel> = design.iter().map(|level| widened(level, levels)).collect();
            if wider == design {
                break None;
            }
            design = wider;
            if let Some(score) = Some(measure(sizing, &design)?).filter(allowed) {
                break Some(score);
            }
        };
        let Some(mut found) = found else {
            let remark = format!("{exceeds}; no wider design for all layers was found that does not");
            return Ok(Self { design: covering, remark: Some(remark) });
        };
        loop {
            let before = design.clone();
            for at in 0..design.len() {
                while let Some(narrower) = narrowed(&design, at) {
                    let Some(score) = Some(measure(sizing, &narrower)?).filter(allowed) else { break };
                    (design, found) = (narrower, score);
                }
            }
            if design == before {
                break;
            }
        }
        let (widths, result) = (words(&design), self::result(&found));
        let remark = format!("{exceeds}; one design for all layers, {widths}, does not: {result}");
        Ok(Self { design, remark: Some(remark) })
    }
}

fn bits(design: &[DesignLevel], name: &str) -> Option<Width> {
    design.iter().find(|level| level.level == name).map(|level| level.bits)
}

/// Returns a level with one bit more, but with no more than any input needs in any layer.
fn widened(level: &DesignLevel, levels: &[SizeLevelRow]) -> DesignLevel {
    let own = levels.iter().filter(|row| row.level == level.level);
    let most = own.map(|row| row.bits_range.max(row.bits_data_prefix)).max().unwrap_or(0);
    let bits = match level.bits {
        Width::Bits(bits) if bits < most => Width::Bits(bits + 1),
        bits => bits,
    };
    DesignLevel { level: level.level.clone(), bits }
}

/// Returns the design with one bit less in level `at`.
fn narrowed(design: &[DesignLevel], at: usize) -> Option<Vec<DesignLevel>> {
    let bits = design[at].bits.bits().filter(|&bits| bits > MIN_BITS)?;
    let mut narrower = design.to_vec();
    narrower[at].bits = Width::Bits(bits - 1);
    Some(narrower)
}

fn measure(sizing: &Sizing<'_>, design: &[DesignLevel]) -> Result<Score, StudyError> {
    let width = |layer: &MacLayer, level: usize| bits(design, &layer.datapath.levels[level].name)?.bits();
    let program = sizing.subject.lower(&resized(sizing.program, width, "uniform", ""))?;
    search::score(sizing, "one design for all layers", &program)
}

fn words(design: &[DesignLevel]) -> String {
    let widths: Vec<String> = design.iter().map(|level| format!("{} {}", level.level, level.bits)).collect();
    widths.join(", ")
}

fn result(score: &Score) -> String {
    let figures = ScoreFigures::from(score);
    match (figures.accuracy, figures.accuracy_exact) {
        (Some(accuracy), Some(exact)) => {
            format!("accuracy {} instead of {}", percentage(accuracy), percentage(exact))
        }
        _ => format!("{} output codes differ", figures.output_mismatch),
    }
}
