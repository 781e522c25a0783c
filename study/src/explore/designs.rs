//! Cheapest widths within a budget, uniform and layer by layer, for all hardware of the axes.

use guardbit_hwmodels::{Accelerator, MacLayer, Program, check_yaml};

use super::candidate::{Candidate, Design};
use super::explorer::Explorer;
use super::folder::SEARCHES;
use super::found::Found;
use super::outcome::Outcome;
use super::plan::{Figures, warnings_of};
use super::shape::{LayerShape, widths};
use super::values::Measured;
use crate::settings::{ReferenceRtl, SizeRequest};
use crate::size::{Designs, resized};
use crate::{Budget, Grid, StudyError};

/// Returns the designs on all hardware, in the order of the axes.
///
/// Widths are searched once for all hardware that differs only in place and time. Results are monotonic in
/// the budget: no level of the design for a looser budget is wider.
pub(super) fn search(
    explorer: &Explorer<'_>,
    budget: Budget,
    measured: &[Measured],
) -> Result<Vec<Candidate>, StudyError> {
    let plan = explorer.plan;
    let found: Vec<Vec<Found>> = (0..plan.structures.len())
        .map(|structure| of_structure(explorer, budget, structure))
        .collect::<Result<_, _>>()?;
    let mut candidates = Vec::new();
    for &first in &plan.variants {
        let point = &plan.points[first];
        let program = plan.subject.lower(&point.accelerator)?;
        for one in &found[point.structure] {
            let accelerator = with_widths(&program, &one.widths, budget);
            let program = plan.subject.lower(&accelerator)?;
            let shapes = LayerShape::all(&program);
            let (_, doubtful) = check_yaml(&program.accelerator.resolved_yaml(), "design.yaml", &[]);
            let is_width = |key: &str| key.starts_with("accumulation.") && key.ends_with(".bits");
            let mut parameters = point.parameters.clone();
            let own = parameters.iter_mut().filter(|parameter| is_width(&parameter.key));
            own.for_each(|parameter| parameter.value.clear());
            candidates.push(Candidate {
                design: one.design,
                parameters,
                widths: widths(&shapes),
                figures: Figures::of(&program, &plan.models),
                values: measured[point.structure].values(plan, &shapes),
                outcome: one.outcome.clone(),
                warnings: warnings_of(doubtful, &program),
                accelerator,
            });
        }
    }
    Ok(candidates)
}

fn of_structure(explorer: &Explorer<'_>, budget: Budget, structure: usize) -> Result<Vec<Found>, StudyError> {
    let plan = explorer.plan;
    let key = plan.search_key(structure, budget);
    if let Some(found) = explorer.seen(SEARCHES, key) {
        return Ok(found);
    }
    let program = plan.subject.lower(&plan.points[plan.structures[structure]].accelerator)?;
    let request = SizeRequest {
        model: plan.request.model.clone(),
        hw: plan.request.hw.clone(),
        settings: plan.request.settings.clone(),
        budget: Some(budget),
        area: None,
        grid: Grid::None,
        rtl: ReferenceRtl::NONE,
    };
    let designs = Designs::find(&request, &plan.subject, &program, budget, explorer.progress)?;
    let of = |design: Design| {
        move |(widths, score): (Vec<Vec<u32>>, guardbit_reports::Score)| Found {
            design,
            widths,
            outcome: Outcome::from(&score),
        }
    };
    let mixed = designs.mixed.into_iter().map(of(Design::Mixed));
    let mut found: Vec<Found> = Vec::new();
    for one in mixed.chain(designs.uniform.into_iter().map(of(Design::Uniform))) {
        if !found.iter().any(|other| other.widths == one.widths) {
            found.push(one);
        }
    }
    explorer.store_seen(SEARCHES, key, &found)?;
    Ok(found)
}

/// Returns the accelerator of `program` with these widths.
fn with_widths(program: &Program, widths: &[Vec<u32>], budget: Budget) -> Accelerator {
    let nodes: Vec<_> = program.mac_layers().map(|layer| layer.node).collect();
    let width = |layer: &MacLayer, level: usize| {
        let index = nodes.iter().position(|node| *node == layer.node)?;
        widths.get(index)?.get(level).copied()
    };
    resized(program, width, "explored", &format!("widths within {budget}"))
}
