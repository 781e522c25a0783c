//! The `classes.csv` of a sweep: the rows of every point.

use serde::Serialize;

use super::table::after_point;
use super::{ClassRow, Column, Row};
use crate::PointRecord;

/// Row of the `classes.csv` of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepClassRow {
    /// Row of `summary.csv`, from 0.
    pub point: usize,
    /// Row of the point's own table, whose columns follow.
    pub class: ClassRow,
}

impl Row for SweepClassRow {
    const FILE: &'static str = ClassRow::FILE;
    const ABOUT: &'static str = "A class at one point: the columns of a run's `classes.csv` after `point`.";
    const COLUMNS: &'static [Column] = &COLUMNS;
}

const COLUMNS: [Column; 1 + ClassRow::COLUMNS.len()] = after_point(ClassRow::COLUMNS);

/// Returns the rows of every point, in the order of the points.
pub fn sweep_class_rows(points: &[PointRecord]) -> Vec<SweepClassRow> {
    let of = |(point, record): (usize, &PointRecord)| {
        record.classes.iter().map(|class| SweepClassRow { point, class: class.clone() }).collect::<Vec<_>>()
    };
    points.iter().enumerate().flat_map(of).collect()
}
