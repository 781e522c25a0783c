//! Plots of a sizing.

mod out_of_range;
mod two_level_errors;
mod two_levels;
mod widths;

use super::Plot;
use crate::SizeRecord;

/// Every plot of a sizing, in the order of the report.
pub const SIZE_PLOTS: &[Plot<SizeRecord>] =
    &[widths::PLOT, out_of_range::PLOT, two_levels::PLOT, two_level_errors::PLOT];

const NO_LAYERS: &str = "No layer runs on the accelerator.";

fn subtitle(size: &SizeRecord) -> String {
    format!("{} on {}", size.model, size.hw)
}
