//! Plots of a sizing.

mod out_of_range;
mod two_level_errors;
mod two_levels;
mod widths;

use super::plots;
use crate::SizeRecord;

plots! {
    /// All plots of a sizing, in the order of the report.
    SIZE_PLOTS of SizeRecord:
    widths
    out_of_range
    two_levels
    two_level_errors
}

const NO_LAYERS: &str = "No layer runs on the accelerator.";

fn subtitle(size: &SizeRecord) -> String {
    format!("{} on {}", size.model, size.hw)
}
