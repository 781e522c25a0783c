//! The record of an exploration.

use guardbit_hwmodels::cost::CostModel;
use guardbit_reports::{CoverageRecord, ExploreCost, ExploreRecord, Fraction, PointRow, wilson};

use super::candidate::{Candidate, Prices};
use super::front::front;
use super::plan::Plan;
use super::quality::Quality;

/// Creates the record of an exploration.
pub(super) fn record(
    plan: &Plan,
    coverage: CoverageRecord,
    candidates: &[Candidate],
    recommended: Option<usize>,
) -> ExploreRecord {
    let prices = Prices::new(plan);
    let quality = Quality::of(plan);
    let on_front = front(plan, candidates, &prices);
    let mut keys = Vec::new();
    let mut rows = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let known = keys.iter().position(|key| *key == candidate.values.key);
        let values = known.unwrap_or_else(|| {
            keys.push(candidate.values.key);
            keys.len() - 1
        });
        let within = plan.request.budget.map(|budget| {
            candidate.outcome.trapped.is_none()
                && budget.keeps(&candidate.outcome.counts(), plan.codes_per_sample())
        });
        rows.push(PointRow {
            point: index,
            design: candidate.design.name().to_owned(),
            within,
            front: on_front[index],
            recommended: recommended == Some(index),
            values,
            ran: ran(candidate, known.is_some()).to_owned(),
            ..row(plan, candidate, &prices)
        });
    }
    let cost = |(index, model): (usize, &CostModel)| {
        let [energy_without, area_without] = prices.untold(index);
        ExploreCost {
            model: model.name.clone(),
            source: model.source.clone(),
            leaves_out: model.leaves_out.clone(),
            tells_energy: plan.energy_model() == Some(index),
            tells_area: plan.area_model() == Some(index),
            energy_without,
            area_without,
        }
    };
    let count = |is: &dyn Fn(&PointRow) -> bool| rows.iter().filter(|row| is(row)).count();
    ExploreRecord {
        model: plan.subject.model.file.clone(),
        hw: plan.base.name.clone(),
        mode: plan.request.settings.mode.name().to_owned(),
        samples: plan.subject.samples.count() as u64,
        quality: quality.name().to_owned(),
        budget: plan.request.budget.map(|budget| budget.to_string()),
        objectives: plan.objectives.iter().map(|objective| objective.name().to_owned()).collect(),
        costs: plan.models.iter().enumerate().map(cost).collect(),
        points: plan.points.len(),
        searched: candidates.len() - plan.points.len(),
        simulated: count(&|row| row.ran == SIMULATED),
        exact: count(&|row| row.ran == EXACT),
        shared: count(&|row| row.ran == SHARED),
        coverage,
        remarks: remarks(plan, recommended),
        parameters: candidates.iter().map(|candidate| candidate.parameters.clone()).collect(),
        rows,
        warnings: candidates.iter().map(|candidate| candidate.warnings.clone()).collect(),
        sensitivity: Vec::new(),
    }
}

const SIMULATED: &str = "simulated";
const EXACT: &str = "nothing overflows";
const SHARED: &str = "shared";

/// Describes how the values of a design were obtained.
fn ran(candidate: &Candidate, seen: bool) -> &'static str {
    match (candidate.values.is_exact, seen) {
        (true, _) => EXACT,
        (false, true) => SHARED,
        (false, false) => SIMULATED,
    }
}

fn row(plan: &Plan, candidate: &Candidate, prices: &Prices) -> PointRow {
    let Candidate { figures, outcome, .. } = candidate;
    let share = |count: Option<u64>| count.and_then(|count| Fraction::of(count, outcome.samples));
    let quality = Quality::of(plan);
    let interval = quality.count(outcome).and_then(|count| wilson(count, outcome.samples));
    let end = |index: usize| interval.map(|ends| Fraction::new(ends[index]));
    let model = |index: Option<usize>| index.map(|index| &plan.models[index]);
    let (energy_pj, area) = (prices.energy_pj(figures), prices.area(figures));
    let name = |bound: &Option<(String, f64)>| bound.as_ref().map_or(String::new(), |(name, _)| name.clone());
    let ratio = |bound: &Option<(String, f64)>| bound.as_ref().map(|(_, ratio)| *ratio);
    PointRow {
        point: 0,
        design: String::new(),
        widths: candidate.widths.clone(),
        samples: outcome.samples,
        accuracy: share(outcome.right),
        accuracy_exact: share(outcome.right_exact),
        top1_agreement: share(outcome.agreeing),
        interval_low: end(0),
        interval_high: end(1),
        output_mismatch: outcome.trapped.is_none().then_some(outcome.mismatch),
        mismatch_share: Some(outcome.mismatch).filter(|_| outcome.trapped.is_none()).and_then(|mismatch| {
            Fraction::of(mismatch, outcome.samples.saturating_mul(plan.codes_per_sample()))
        }),
        bound: name(&figures.bound),
        bound_ratio: ratio(&figures.bound),
        accelerator_bound: name(&figures.accelerator_bound),
        accelerator_bound_ratio: ratio(&figures.accelerator_bound),
        cycles: figures.cycles,
        latency_us: figures.latency_us,
        host_cycles: figures.host_cycles,
        overlapped_cycles: figures.overlapped_cycles,
        utilization: figures.utilization.and_then(|(macs, all)| Fraction::of(macs, all)),
        energy_model: energy_pj
            .and_then(|_| model(plan.energy_model()))
            .map_or(String::new(), |m| m.name.clone()),
        area_unit: area.and_then(|_| model(plan.area_model())).map_or(String::new(), |m| m.area_unit.clone()),
        area_model: area.and_then(|_| model(plan.area_model())).map_or(String::new(), |m| m.name.clone()),
        energy_pj,
        area,
        within: None,
        front: false,
        recommended: false,
        values: 0,
        ran: String::new(),
        trapped: outcome.trapped.clone(),
        agreeing: outcome.agreeing,
        right_exact: outcome.right_exact,
        right: outcome.right,
        warnings: candidate.warnings.join(" | "),
    }
}

/// Returns the remarks for readers of the figures.
fn remarks(plan: &Plan, recommended: Option<usize>) -> Vec<String> {
    let Some(budget) = plan.request.budget else { return Vec::new() };
    let samples = plan.subject.samples.count() as u64;
    let none = recommended.is_none().then(|| format!("no design keeps the budget {budget}"));
    budget.finer_than_one(samples, plan.codes_per_sample()).into_iter().chain(none).collect()
}
