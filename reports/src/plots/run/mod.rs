//! Plots of a run.

mod overflow_heat_map;
mod overflow_timeline;
mod required_bits;
mod roofline;
mod sqnr;
mod sum_histograms;

use super::plots;
use crate::RunRecord;
use crate::numbers::counted;

plots! {
    /// All plots of a run, in the order of the report.
    RUN_PLOTS of RunRecord:
    required_bits
    sqnr
    overflow_timeline
    overflow_heat_map
    roofline
}

plots! {
    /// Plots of a run whose sums were counted.
    SUM_PLOTS of RunRecord:
    sum_histograms
}

const EVENTS_NOT_PLACED: &str = "Not counted: this plot needs --stats full.";
const NO_EVENTS: &str = "No addition overflowed.";

fn subtitle(run: &RunRecord) -> String {
    format!("{} on {} · {} · {}", run.model, run.hw, counted(run.outcome.samples, "sample"), run.mode)
}

/// Returns a note that names the layers a plot leaves out.
fn left_out(why: &str, labels: &[String]) -> String {
    const NAMED: usize = 5;
    let named = labels[..labels.len().min(NAMED)].join(", ");
    match labels.len().checked_sub(NAMED) {
        None | Some(0) => format!("{why}: {named}"),
        Some(more) => format!("{why}: {named} and {more} more"),
    }
}
