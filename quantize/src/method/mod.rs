//! Calibration methods: one file each.
//!
//! To add one, write its file and add its line to [`METHODS`], or to [`LAYER_METHODS`](crate::LAYER_METHODS) where it chooses for
//! whole layers on their accelerator.

mod average;
mod fitting;
mod guaranteed;
mod inputs;
mod kl;
mod kl_tvm;
mod min_max;
mod moving_average;
mod mse;
mod overflow_aware;
mod percentile;
mod smoothing;

pub use average::Average;
pub use guaranteed::Guaranteed;
pub(crate) use guaranteed::overflowing;
pub use kl::Kl;
pub use kl_tvm::KlTvm;
pub use min_max::MinMax;
pub use moving_average::MovingAverage;
pub use mse::Mse;
pub use overflow_aware::OverflowAware;
pub use percentile::Percentile;

use crate::{Observed, Range, Target};

/// Chooses the real values that the codes of a tensor cover.
pub trait Method: Send + Sync {
    /// The name on the command line.
    fn name(&self) -> &str;

    /// The range for a tensor of which `observed` was seen.
    fn range(&self, observed: &Observed, target: &Target) -> Range;
}

/// Every method that needs nothing but what was observed.
pub const METHODS: &[&dyn Method] = &[
    &MinMax,
    &MovingAverage::USUAL,
    &Average,
    &Percentile::USUAL,
    &Kl::USUAL,
    &Kl::TENSOR_RT,
    &KlTvm::USUAL,
    &Mse::USUAL,
];

/// Magnitudes up to `threshold`, as far as values were seen.
fn within(observed: &Observed, threshold: f64) -> Range {
    let (low, high) = observed.extremes();
    Range { low: low.max(-threshold), high: high.min(threshold) }
}
