//! Designs with all their figures, and the record created from them.

use std::collections::BTreeMap;

use guardbit_hwmodels::Accelerator;
use guardbit_reports::{CoverageRecord, ExploreCost, ExploreRecord, Fraction, Parameter, PointRow, wilson};

use super::front::{self, Quality};
use super::plan::{Figures, PartFigures, Plan};
use super::values::Values;
use super::{Objective, Outcome};

/// Origin of a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Design {
    /// Point of the axes.
    Axes,
    /// Found within the budget, with different widths per layer.
    Mixed,
    /// Found within the budget, with equal widths for all layers.
    Uniform,
}

/// Design with its figures.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub design: Design,
    pub parameters: Vec<Parameter>,
    /// Widths of all levels, in words.
    pub widths: String,
    pub figures: Figures,
    pub outcome: Outcome,
    pub values: Values,
    pub accelerator: Accelerator,
    /// Warnings of `guardbit hw check --model`.
    pub warnings: Vec<String>,
}

impl Design {
    fn name(self) -> &'static str {
        match self {
            Self::Axes => "axes",
            Self::Mixed => "mixed",
            Self::Uniform => "uniform",
        }
    }
}

/// Comparable energies and areas.
///
/// Memories that the model cannot price at some point of the axes are left out for all points, and so are
/// other parts that it cannot price at any point. If the model prices a part for other designs but not for
/// this one, this design has no figure.
pub(super) struct Prices {
    energy: Option<Price>,
    area: Option<Price>,
}

/// Parts that count for a price.
struct Price {
    /// Index of the model.
    model: usize,
    /// Parts that do not count.
    untold: Vec<String>,
    /// Returns whether there is such a part, and its price.
    of: fn(&PartFigures) -> Option<Option<f64>>,
}

fn energy(part: &PartFigures) -> Option<Option<f64>> {
    part.is_used.then_some(part.energy_pj)
}

fn area(part: &PartFigures) -> Option<Option<f64>> {
    part.is_there.then_some(part.area)
}

impl Prices {
    pub fn new(plan: &Plan) -> Self {
        Self {
            energy: plan.energy_model().map(|model| Price::new(plan, model, energy)),
            area: plan.area_model().map(|model| Price::new(plan, model, area)),
        }
    }

    pub fn energy_pj(&self, figures: &Figures) -> Option<f64> {
        self.energy.as_ref()?.of(figures)
    }

    pub fn area(&self, figures: &Figures) -> Option<f64> {
        self.area.as_ref()?.of(figures)
    }

    fn without(price: Option<&Price>, model: usize) -> Vec<String> {
        price.filter(|price| price.model == model).map_or(Vec::new(), |price| price.untold.clone())
    }
}

impl Price {
    fn new(plan: &Plan, model: usize, of: fn(&PartFigures) -> Option<Option<f64>>) -> Self {
        // Per part: whether it is priced at some point, and whether it is not priced at some point.
        let mut parts: BTreeMap<&str, [bool; 2]> = BTreeMap::new();
        for part in plan.points.iter().flat_map(|point| &point.figures.costs[model]) {
            if let Some(cost) = of(part) {
                parts.entry(&part.label).or_default()[usize::from(cost.is_none())] = true;
            }
        }
        let is_memory = |label: &str| label.starts_with("sram") || label.starts_with("dram");
        let untold =
            parts.into_iter().filter(|(label, [told, untold])| *untold && (is_memory(label) || !told));
        Self { model, of, untold: untold.map(|(label, _)| label.to_owned()).collect() }
    }

    /// Returns the price of a design; `None` if the model does not price all parts that count.
    fn of(&self, figures: &Figures) -> Option<f64> {
        let counted = figures.costs[self.model].iter().filter(|part| !self.untold.contains(&part.label));
        let costs: Vec<f64> = counted.filter_map(self.of).collect::<Option<_>>()?;
        // Rounds to six decimals, so that sums of decimals stay short.
        (!costs.is_empty()).then(|| (costs.iter().sum::<f64>() * 1e6).round() / 1e6)
    }
}

/// Creates the record of an exploration.
pub(super) fn record(
    plan: &Plan,
    coverage: CoverageRecord,
    candidates: &[Candidate],
    recommended: Option<usize>,
) -> ExploreRecord {
    let prices = Prices::new(plan);
    let quality = Quality::of(plan);
    let on_front = front::front(plan, candidates, &prices);
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
    let cost = |(index, model): (usize, &guardbit_hwmodels::cost::CostModel)| ExploreCost {
        model: model.name.clone(),
        source: model.source.clone(),
        leaves_out: model.leaves_out.clone(),
        tells_energy: plan.energy_model() == Some(index),
        tells_area: plan.area_model() == Some(index),
        energy_without: Prices::without(prices.energy.as_ref(), index),
        area_without: Prices::without(prices.area.as_ref(), index),
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
        bound: figures.bound.as_ref().map_or(String::new(), |(bound, _)| bound.clone()),
        bound_ratio: figures.bound.as_ref().map(|(_, ratio)| *ratio),
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
    let none = recommended.is_none().then(|| format!("no design is within the budget {budget}"));
    budget.finer_than_one(samples, plan.codes_per_sample()).into_iter().chain(none).collect()
}

impl Objective {
    /// Returns a design's value of the objective; `None` if it is unknown.
    pub(super) fn of(self, figures: &Figures, prices: &Prices) -> Option<f64> {
        match self {
            Self::Cycles => Some(figures.cycles as f64),
            Self::Latency => Some(figures.latency_us),
            Self::Area => prices.area(figures),
            Self::Energy => prices.energy_pj(figures),
        }
    }
}
