//! Figures of the chosen design with each resource doubled.

use guardbit_reports::SensitivityRow;

use super::candidate::{Candidate, Prices};
use super::plan::{Figures, Plan};
use crate::StudyError;
use crate::doubled::with_each_doubled;

/// Returns the figures of the chosen design, then those with twice as much of each resource.
pub(super) fn rows(plan: &Plan, point: usize, chosen: &Candidate) -> Result<Vec<SensitivityRow>, StudyError> {
    let (prices, models) = (Prices::new(plan), &plan.models);
    let program = plan.subject.lower(&chosen.accelerator)?;
    with_each_doubled(&program, |program| {
        let figures = Figures::of(program, models);
        SensitivityRow {
            point,
            cycles: figures.cycles,
            latency_us: figures.latency_us,
            area: prices.area(&figures),
            energy_pj: prices.energy_pj(&figures),
            ..SensitivityRow::default()
        }
    })
}
