//! Plots of a sweep.

mod accuracy;
mod axes;
mod dimensions;
mod group;
mod layer_curves;
mod output_mismatch;
mod overflow_rate;
mod overlay;
mod required_bits;
mod sqnr;

use super::{Drawing, plots};
use crate::PointRecord;

pub(in crate::plots) use dimensions::axis_title;
pub(crate) use group::{Group, Groups};

plots! {
    /// All plots of a sweep, in the order of the report.
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

/// Reason why points are in no [`Group`]; shown instead of plots against width and findings by width.
pub(crate) const NO_WIDTH: &str = "No width of a level is swept for the whole network. \"Accuracy over the axes\" shows these points, \
     and summary.csv and sweep.csv have their other figures.";

/// Returns the points by width, or the reason why there is nothing to show if no point has a width.
fn by_width(points: &[PointRecord]) -> Result<Groups<'_>, Drawing> {
    let groups = Groups::shown(points);
    match (groups.shown.is_empty(), points.is_empty()) {
        (true, true) => Err(Drawing::Nothing(NO_POINTS.into())),
        (true, false) => Err(Drawing::Nothing(NO_WIDTH.into())),
        (false, _) => Ok(groups),
    }
}
