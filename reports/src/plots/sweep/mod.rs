//! Plots of a sweep.

mod accuracy;
mod group;
mod layer_curves;
mod output_mismatch;
mod overflow_rate;
mod required_bits;
mod sqnr;

use super::Plot;
use crate::PointRecord;

pub(crate) use group::Group;

/// Every plot of a sweep, in the order of the report.
pub const SWEEP_PLOTS: &[Plot<[PointRecord]>] =
    &[accuracy::PLOT, output_mismatch::PLOT, overflow_rate::PLOT, sqnr::PLOT, required_bits::PLOT];

const NO_POINTS: &str = "No point ran to its end.";
