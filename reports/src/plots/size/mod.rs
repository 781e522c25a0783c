//! Plots of a sizing.

mod grid;
mod grid_errors;
mod rates;
mod widths;

use super::Plot;
use crate::SizeRecord;

/// Every plot of a sizing, in the order of the report.
pub const SIZE_PLOTS: &[Plot<SizeRecord>] = &[widths::PLOT, rates::PLOT, grid::PLOT, grid_errors::PLOT];

const NO_LAYERS: &str = "No layer runs on the accelerator.";

fn subtitle(size: &SizeRecord) -> String {
    format!("{} on {}", size.model, size.hw)
}
