//! Figures of a network on accelerators with one resource doubled.

use std::sync::Arc;

use guardbit_hwmodels::{Program, Resource, lower};
use guardbit_reports::{NetworkTiming, SensitivityRow};
use rayon::prelude::*;

use crate::StudyError;

/// Returns cycles and latency of a program, then those with each resource of its accelerator doubled.
///
/// # Errors
/// [`StudyError`] if the network cannot be lowered onto one of these accelerators.
pub fn sensitivity(program: &Program) -> Result<Vec<SensitivityRow>, StudyError> {
    with_each_doubled(program, |program| {
        let timing = NetworkTiming::new(program);
        SensitivityRow { cycles: timing.cycles, latency_us: timing.latency_us, ..SensitivityRow::default() }
    })
}

/// Returns the `figures` of a program, then those with each resource of its accelerator doubled.
pub(crate) fn with_each_doubled(
    program: &Program,
    figures: impl Fn(&Program) -> SensitivityRow + Sync,
) -> Result<Vec<SensitivityRow>, StudyError> {
    let base = figures(program);
    let doubled = |resource: Resource| -> Option<Result<SensitivityRow, StudyError>> {
        let accelerator = resource.doubled(&program.accelerator)?;
        let one = || {
            let row = figures(&lower(Arc::clone(&program.graph), &accelerator)?);
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
