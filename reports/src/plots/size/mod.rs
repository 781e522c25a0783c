//! Plots of a sizing.

mod fraction_bits;
mod out_of_range;
mod two_level_errors;
mod two_levels;
mod widths;

use super::plots;
use crate::SizeRecord;

plots! {
    /// Plots of a sizing, in the order of the report.
    SIZE_PLOTS of SizeRecord:
    widths
    out_of_range
    two_levels
    two_level_errors
}

plots! {
    /// Plots of a sizing of layers of floating-point codes.
    SIZE_FLOAT_PLOTS of SizeRecord:
    fraction_bits
}

const NO_LAYERS: &str = "No layer runs on the accelerator.";

fn subtitle(size: &SizeRecord) -> String {
    format!("{} on {}", size.model, size.hw)
}
