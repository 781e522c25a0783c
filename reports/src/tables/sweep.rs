//! `sweep.csv`: the rows of `layers.csv` of every point.

use serde::Serialize;

use super::{Column, LayerRow, Row};
use crate::PointRecord;

/// Row of `sweep.csv`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepRow {
    /// The model.
    pub model: String,
    /// The accelerator.
    pub hw: String,
    /// Width of the swept level; `None` if no level is swept.
    pub point_bits: Option<u32>,
    /// Overflow mode of the swept level.
    pub point_overflow: String,
    /// Name of the swept level.
    pub point_level: String,
    /// Row of `layers.csv`, whose columns follow.
    pub layer: LayerRow,
}

impl Row for SweepRow {
    const FILE: &'static str = "sweep.csv";
    const ABOUT: &'static str = "One row of `layers.csv` of one point.";
    const COLUMNS: &'static [Column] = &COLUMNS;
}

const POINT: [Column; 5] = [
    Column::new::<String>("model", "The model."),
    Column::new::<String>("hw", "The accelerator."),
    Column::new::<Option<u32>>("point_bits", "Width of the swept level; blank if no level is swept.")
        .unit("bits"),
    Column::new::<String>("point_overflow", "Overflow mode of the swept level; blank if no level is swept."),
    Column::new::<String>("point_level", "Name of the swept level; blank if no level is swept."),
];

const COLUMNS: [Column; POINT.len() + LayerRow::COLUMNS.len()] = {
    let mut all = [POINT[0]; POINT.len() + LayerRow::COLUMNS.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = if i < POINT.len() { POINT[i] } else { LayerRow::COLUMNS[i - POINT.len()] };
        i += 1;
    }
    all
};

/// Returns the rows of every point, in the order of the points.
pub fn sweep_rows(points: &[PointRecord]) -> Vec<SweepRow> {
    let rows = |point: &PointRecord| {
        let summary = point.summary.clone();
        let row = move |layer: &LayerRow| SweepRow {
            model: summary.model.clone(),
            hw: summary.hw.clone(),
            point_bits: summary.bits,
            point_overflow: summary.overflow.clone(),
            point_level: summary.level.clone(),
            layer: layer.clone(),
        };
        point.layers.iter().map(row).collect::<Vec<_>>()
    };
    points.iter().flat_map(rows).collect()
}
