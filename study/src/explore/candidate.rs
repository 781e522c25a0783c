//! Designs with all their figures, and their prices.

use std::collections::BTreeMap;

use guardbit_hwmodels::Accelerator;
use guardbit_reports::Parameter;

use super::objective::Objective;
use super::outcome::Outcome;
use super::plan::{Figures, PartFigures, Plan};
use super::values::Values;

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
    pub fn name(self) -> &'static str {
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

    /// Parts that do not count, of the energy and of the area of a model.
    pub fn untold(&self, model: usize) -> [Vec<String>; 2] {
        [&self.energy, &self.area].map(|price| Self::without(price.as_ref(), model))
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
