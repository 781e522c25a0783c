//! The exploration of accelerators for one network.

use serde::{Deserialize, Serialize};

use super::CoverageRecord;
use crate::tables::{Parameter, PointRow, SensitivityRow};

/// All that is reported of one exploration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExploreRecord {
    /// The model, as it is called in the report.
    pub model: String,
    /// The accelerator that the axes vary.
    pub hw: String,
    /// What each layer read.
    pub mode: String,
    /// Samples.
    pub samples: u64,
    /// What of a design's results is compared: `accuracy`, `top1_agreement` or `output_mismatch`.
    pub quality: String,
    /// The error budget, in words.
    pub budget: Option<String>,
    /// What designs are to have little of.
    pub objectives: Vec<String>,
    /// The cost models.
    pub costs: Vec<ExploreCost>,
    /// Points of the axes.
    pub points: usize,
    /// Designs that were found beside them within the budget.
    pub searched: usize,
    /// Designs that were simulated.
    pub simulated: usize,
    /// Designs in which provably nothing overflows.
    pub exact: usize,
    /// Designs whose values are provably those of another one.
    pub shared: usize,
    /// What the accelerator runs of the network; of accelerators that differ in it, the one that runs least.
    pub coverage: CoverageRecord,
    /// What a reader has to know, as sentences.
    pub remarks: Vec<String>,
    /// `points.csv`.
    #[serde(skip)]
    pub rows: Vec<PointRow>,
    /// What each row has of the axes.
    #[serde(skip)]
    pub parameters: Vec<Vec<Parameter>>,
    /// What `guardbit hw check --model` warns of each row's accelerator.
    #[serde(skip)]
    pub warnings: Vec<Vec<String>>,
    /// `sensitivity.csv`.
    #[serde(skip)]
    pub sensitivity: Vec<SensitivityRow>,
}

/// A cost model in an exploration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExploreCost {
    /// Its name.
    pub model: String,
    /// Where its figures are from.
    pub source: String,
    /// What no figure of it covers.
    pub leaves_out: String,
    /// Whether the energies are its own.
    pub tells_energy: bool,
    /// Whether the areas are its own.
    pub tells_area: bool,
    /// Parts that do not count in energies, since it does not tell them.
    pub energy_without: Vec<String>,
    /// Parts that do not count in areas.
    pub area_without: Vec<String>,
}

impl ExploreRecord {
    /// The warnings about designs that no other beats, each once, with the designs that it is about; the first come first.
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

    /// The rows of designs that no other beats, the first objective ascending.
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
