//! Whether one design for all layers is within a budget, in addition to widths per layer.

use guardbit_hwmodels::MacLayer;
use guardbit_reports::{DesignLevel, ScoreFigures, SizeLevelRow, percentage};

use super::budget::Budget;
use super::recommend::resized;
use super::search;
use super::sizing::Sizing;
use crate::StudyError;

/// Measures the narrowest design that covers the recommended widths of every layer, and returns a remark on it. Returns
/// none if all layers have its widths already.
pub(super) fn remark(
    sizing: &Sizing<'_>,
    budget: Budget,
    levels: &[SizeLevelRow],
    design: &[DesignLevel],
) -> Result<Option<String>, StudyError> {
    let bits = |name: &str| design.iter().find(|level| level.level == name).map(|level| level.bits);
    if levels.iter().all(|row| bits(&row.level) == Some(row.bits_recommended)) {
        return Ok(None);
    }
    let width = |layer: &MacLayer, level: usize| bits(&layer.datapath.levels[level].name)?.bits();
    let program = sizing.subject.lower(&resized(sizing.program, width, "uniform", ""))?;
    let score = search::score(sizing, "one design for all layers", &program)?;
    let within = if budget.allows(&score, sizing.codes_per_sample()) { "is" } else { "is not" };
    let widths: Vec<String> = design.iter().map(|level| format!("{} {}", level.level, level.bits)).collect();
    let figures = ScoreFigures::from(&score);
    let result = match (figures.accuracy, figures.accuracy_exact) {
        (Some(accuracy), Some(exact)) => {
            format!("accuracy {} instead of {}", percentage(accuracy), percentage(exact))
        }
        _ => format!("{} output codes differ", figures.output_mismatch),
    };
    Ok(Some(format!("one design for all layers, {}, {within} within {budget}: {result}", widths.join(", "))))
}
