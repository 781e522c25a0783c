//! Exploration of accelerators for one network.

use serde::{Deserialize, Serialize};

use super::CoverageRecord;
use crate::tables::{Parameter, PointRow, SensitivityRow};

/// All results of one exploration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExploreRecord {
    /// Name of the model in the report.
    pub model: String,
    /// Name of the accelerator that the axes vary.
    pub hw: String,
    /// Input of each layer: `isolated` or `propagated`.
    pub mode: String,
    /// Number of samples.
    pub samples: u64,
    /// Quality by which designs are compared: `accuracy`, `top1_agreement` or `output_mismatch`.
    pub quality: String,
    /// Error budget in words.
    pub budget: Option<String>,
    /// Objectives to minimize.
    pub objectives: Vec<String>,
    /// Cost models.
    pub costs: Vec<ExploreCost>,
    /// Number of points of the axes.
    pub points: usize,
    /// Number of designs within the budget that the search found in addition to the points.
    pub searched: usize,
    /// Number of simulated designs.
    pub simulated: usize,
    /// Number of designs in which provably nothing overflows.
    pub exact: usize,
    /// Number of designs whose values provably equal those of another design.
    pub shared: usize,
    /// Part of the network that the accelerator runs; if accelerators differ, that of the one that runs
    /// least.
    pub coverage: CoverageRecord,
    /// Remarks for the reader, as sentences.
    pub remarks: Vec<String>,
    /// Rows of `points.csv`.
    #[serde(skip)]
    pub rows: Vec<PointRow>,
    /// Values of the axes for each row.
    #[serde(skip)]
    pub parameters: Vec<Vec<Parameter>>,
    /// Warnings of `guardbit hw check --model` for each row's accelerator.
    #[serde(skip)]
    pub warnings: Vec<Vec<String>>,
    /// Rows of `sensitivity.csv`.
    #[serde(skip)]
    pub sensitivity: Vec<SensitivityRow>,
}

/// Cost model in an exploration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExploreCost {
    /// Name of the model.
    pub model: String,
    /// Source of its figures.
    pub source: String,
    /// Costs that none of its figures covers.
    pub leaves_out: String,
    /// Whether the energies of the exploration come from this model.
    pub tells_energy: bool,
    /// Whether the areas of the exploration come from this model.
    pub tells_area: bool,
    /// Parts that energies leave out because the model has no figure for them.
    pub energy_without: Vec<String>,
    /// Parts that areas leave out because the model has no figure for them.
    pub area_without: Vec<String>,
}

impl ExploreRecord {
    /// Returns the warnings about designs on the Pareto front, each once with the designs it applies to, in
    /// order of first occurrence.
    pub fn front_warnings(&self) -> Vec<(&str, Vec<usize>)> {
        let mut all: Vec<(&str, Vec<usize>)> = Vec::new();
        for row in self.front() {
            for warning in &self.warnings[row] {
                match all.iter_mut().find(|(known, _)| known == warning) {
                    Some((_, rows)) => rows.push(row),
                    None => all.push((warning, vec![row])),
                }
            }
        }
        all
    }

    /// Returns the unit of areas; empty if no model gives areas.
    pub(crate) fn area_unit(&self) -> &str {
        self.rows.iter().find_map(|row| row.area.map(|_| row.area_unit.as_str())).unwrap_or("")
    }

    /// Returns the rows of the Pareto front, sorted by the first objective.
    pub fn front(&self) -> Vec<usize> {
        let mut front: Vec<usize> = (0..self.rows.len()).filter(|&row| self.rows[row].front).collect();
        front.sort_by(|&a, &b| {
            let takes = |row: usize| self.rows[row].takes(self.objectives.first().map_or("", String::as_str));
            let order = takes(a).unwrap_or(f64::MAX).total_cmp(&takes(b).unwrap_or(f64::MAX));
            order.then(a.cmp(&b))
        });
        front
    }
}
