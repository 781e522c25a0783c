//! Plots of an exploration.

use super::plots;
use crate::ExploreRecord;
use crate::tables::PointRow;

plots! {
    /// Every plot of an exploration, in the order of the report.
    EXPLORE_PLOTS of ExploreRecord:
    pareto
}

/// What is compared of a design, with both ends of its interval: from 0 to 1, or a number of codes, which has none.
fn quality(record: &ExploreRecord, row: &PointRow) -> Option<[f64; 3]> {
    let share = match record.quality.as_str() {
        "accuracy" => row.accuracy?,
        "top1_agreement" => row.top1_agreement?,
        _ => return row.output_mismatch.map(|codes| [codes as f64; 3]),
    };
    let (low, high) = row.interval_low.zip(row.interval_high)?;
    Some([share.value(), low.value(), high.value()])
}
