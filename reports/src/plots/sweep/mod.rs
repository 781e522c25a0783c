//! Plots of a sweep.

mod dimensions;
mod group;
mod layer_curves;

use super::plots;
use crate::PointRecord;

pub(crate) use group::Group;

plots! {
    /// Every plot of a sweep, in the order of the report.
    SWEEP_PLOTS of [PointRecord]:
    accuracy
    axes
    overlay
    output_mismatch
    overflow_rate
    sqnr
    required_bits
}

const NO_POINTS: &str = "No point ran to its end.";
