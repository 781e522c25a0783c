//! Sensitivity: the gain from doubling one resource.

use std::sync::Arc;

use guardbit_hwmodels::{Resource, lower};
use guardbit_reports::SensitivityRow;
use rayon::prelude::*;

use super::candidate::{Candidate, Prices};
use super::plan::{Figures, Plan};
use crate::StudyError;

/// Returns rows for the chosen design as it is, then with twice as much of each resource.
pub(super) fn rows(plan: &Plan, point: usize, chosen: &Candidate) -> Result<Vec<SensitivityRow>, StudyError> {
    let prices = Prices::new(plan);
    let program = plan.subject.lower(&chosen.accelerator)?;
    let figures = |figures: &Figures| SensitivityRow {
        point,
        cycles: figures.cycles,
        latency_us: figures.latency_us,
        area: prices.area(figures),
        energy_pj: prices.energy_pj(figures),
        ..SensitivityRow::default()
    };
    let base = figures(&chosen.figures);
    let (graph, models) = (&plan.subject.graph, &plan.models);
    let doubled = |resource: Resource| -> Option<Result<SensitivityRow, StudyError>> {
        let accelerator = resource.doubled(&program.accelerator)?;
        let one = || {
            let row = figures(&Figures::of(&lower(Arc::clone(graph), &accelerator)?, models));
            let part = |new: f64, old: f64| (old > 0.0).then_some(new / old);
            let both =
                |new: Option<f64>, old: Option<f64>| new.zip(old).and_then(|(new, old)| part(new, old));
            Ok(SensitivityRow {
                doubled: resource.key().to_owned(),
                value: Some(resource.of(&program.accelerator)),
                cycles_ratio: part(row.cycles as f64, base.cycles as f64),
                latency_ratio: part(row.latency_us, base.latency_us),
                area_ratio: both(row.area, base.area),
                energy_ratio: both(row.energy_pj, base.energy_pj),
                ..row
            })
        };
        Some(one())
    };
    let all: Vec<Option<Result<SensitivityRow, StudyError>>> =
        Resource::ALL.into_par_iter().map(doubled).collect();
    let rest = all.into_iter().flatten().collect::<Result<Vec<_>, _>>()?;
    Ok(std::iter::once(base).chain(rest).collect())
}
