//! The axes of a sweep as columns of its tables.

use crate::PointRecord;
use crate::tables::{Parameter, Row, SummaryRow, SweepRow};

/// Returns the keys of the axes, in order.
pub(crate) fn parameter_keys(points: &[PointRecord]) -> Vec<&str> {
    points.first().map_or(Vec::new(), |point| point.parameters.iter().map(|one| one.key.as_str()).collect())
}

/// Returns the column names of the axes, in order.
pub(crate) fn parameter_columns(points: &[PointRecord]) -> Vec<String> {
    points.first().map_or(Vec::new(), |point| point.parameters.iter().map(Parameter::column).collect())
}

impl Parameter {
    /// Returns the name of its column: its key, or `axis.` followed by the key if tables have a column of
    /// that name.
    pub fn column(&self) -> String {
        let taken = SummaryRow::COLUMNS.iter().chain(SweepRow::COLUMNS).any(|column| column.name == self.key);
        if taken { format!("axis.{}", self.key) } else { self.key.clone() }
    }
}
