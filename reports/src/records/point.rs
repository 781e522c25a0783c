//! One point of a sweep.

use guardbit_hwmodels::Program;
use guardbit_sim::{LayerStats, Options};
use serde::{Deserialize, Serialize};

use super::LevelHistogram;
use crate::Outcome;
use crate::tables::{LayerRow, Point, SummaryRow, layer_rows};

/// All that a sweep keeps of one point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointRecord {
    /// Its row of `summary.csv`.
    pub summary: SummaryRow,
    /// Its rows of `layers.csv`.
    pub layers: Vec<LayerRow>,
    /// Required bits per level; empty unless everything was counted.
    pub histograms: Vec<LevelHistogram>,
}

impl PointRecord {
    /// The record of a point. `layers` are the statistics per node, `unlimited` those of [`layer_rows`].
    pub fn new(
        point: &Point,
        program: &Program,
        layers: &[Option<LayerStats>],
        unlimited: &[Option<LayerStats>],
        options: &Options,
        outcome: &Outcome,
    ) -> Self {
        let rows = layer_rows(program, layers, unlimited, options.stats);
        Self {
            summary: SummaryRow::new(point, options.mode, outcome, &rows),
            histograms: LevelHistogram::all(program, layers, options.stats),
            layers: rows,
        }
    }
}
