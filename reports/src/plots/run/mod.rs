//! Plots of a run.

mod fraction_bits;
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
    /// Plots of every run.
    RUN_PLOTS of RunRecord:
    sqnr
    roofline
}

plots! {
    /// Plots of integer accumulators.
    OVERFLOW_PLOTS of RunRecord:
    required_bits
    overflow_timeline
    overflow_heat_map
}

plots! {
    /// Plots of floating-point accumulators.
    FLOAT_PLOTS of RunRecord:
    fraction_bits
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
