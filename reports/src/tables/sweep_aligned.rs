//! The `aligned.csv` of a sweep: the rows of every point.

use serde::Serialize;

use super::table::after_point;
use super::{AlignedRow, Column, Row};
use crate::PointRecord;

/// Row of the `aligned.csv` of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepAlignedRow {
    /// Row of `summary.csv`, from 0.
    pub point: usize,
    /// Row of `aligned.csv`, whose columns follow.
    pub layer: AlignedRow,
}

impl Row for SweepAlignedRow {
    const FILE: &'static str = AlignedRow::FILE;
    const ABOUT: &'static str =
        "A floating-point layer at one point: the columns of a run's `aligned.csv` after `point`.";
    const COLUMNS: &'static [Column] = &after_point::<{ 1 + AlignedRow::COLUMNS.len() }>(AlignedRow::COLUMNS);
}

/// Returns the rows of every point, in the order of the points.
pub fn sweep_aligned_rows(points: &[PointRecord]) -> Vec<SweepAlignedRow> {
    let rows = |(point, record): (usize, &PointRecord)| {
        let rows = record.aligned.iter().cloned();
        rows.map(|layer| SweepAlignedRow { point, layer }).collect::<Vec<_>>()
    };
    points.iter().enumerate().flat_map(rows).collect()
}
