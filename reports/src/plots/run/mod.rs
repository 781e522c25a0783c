//! Plots of one run.

mod overflow_heat_map;
mod overflow_timeline;
mod required_bits;
mod sqnr;

use super::Plot;
use crate::RunRecord;

/// Every plot of a run, in the order of the report.
pub const RUN_PLOTS: &[Plot<RunRecord>] =
    &[required_bits::PLOT, sqnr::PLOT, overflow_timeline::PLOT, overflow_heat_map::PLOT];

const EVENTS_NOT_PLACED: &str = "Not counted: this plot needs --stats full.";
const NO_EVENTS: &str = "No addition overflowed.";

fn subtitle(run: &RunRecord) -> String {
    let samples = run.outcome.samples;
    let plural = if samples == 1 { "" } else { "s" };
    format!("{} on {} · {samples} sample{plural} · {}", run.model, run.hw, run.mode)
}

/// Names the layers that a plot leaves out.
fn left_out(why: &str, labels: &[String]) -> String {
    const NAMED: usize = 5;
    let named = labels[..labels.len().min(NAMED)].join(", ");
    match labels.len().checked_sub(NAMED) {
        None | Some(0) => format!("{why}: {named}"),
        Some(more) => format!("{why}: {named} and {more} more"),
    }
}
