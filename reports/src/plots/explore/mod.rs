//! Plots of an exploration.

mod pareto;

use super::plots;
use crate::ExploreRecord;
use crate::tables::PointRow;

plots! {
    /// All plots of an exploration, in the order of the report.
    EXPLORE_PLOTS of ExploreRecord:
    pareto
}

/// Returns the compared quality of a design with both ends of its interval: a share from 0 to 1, or a number
/// of codes, which has no interval and is repeated.
pub(crate) fn quality(record: &ExploreRecord, row: &PointRow) -> Option<[f64; 3]> {
    let share = match record.quality.as_str() {
        "accuracy" => row.accuracy?,
        "top1_agreement" => row.top1_agreement?,
        _ => return row.output_mismatch.map(|codes| [codes as f64; 3]),
    };
    let (low, high) = row.interval_low.zip(row.interval_high)?;
    Some([share.value(), low.value(), high.value()])
}
