//! Calibration methods, one file each.
//!
//! To add one, write its file and add its line to [`METHODS`], or to [`LAYER_METHODS`](crate::LAYER_METHODS)
//! if it chooses parameters of whole layers on their accelerator.

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

use guardbit_graph::DType;

use crate::{CodeSetting, FloatTarget, Observed, Range, Scales, Target};

/// Chooses the range of real values that the codes of a tensor cover.
pub trait Method: Send + Sync {
    /// Returns the name used on the command line.
    fn name(&self) -> &str;

    /// Returns the range for a tensor with the observed values `observed`.
    fn range(&self, observed: &Observed, target: &Target) -> Range;

    /// Returns the magnitude that the largest floating-point code gets for a tensor with the observed values
    /// `observed`, or `None` if the method chooses ranges only for integer codes.
    fn magnitude(&self, _observed: &Observed, _target: &FloatTarget) -> Option<f64> {
        None
    }

    /// Returns whether the method chooses ranges of floating-point codes too.
    fn chooses_floats(&self) -> bool {
        let target = FloatTarget::new(DType::Float8E4M3Fn, Scales::Any);
        target.is_some_and(|target| self.magnitude(&Observed::default(), &target).is_some())
    }
}

/// All methods that need only the observed values.
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

/// Returns the greatest magnitude of the range of a method that depends only on the observed values.
fn reach(method: &dyn Method, observed: &Observed) -> Option<f64> {
    let Range { low, high } = method.range(observed, &CodeSetting::WEIGHTS.target());
    Some(high.max(-low))
}

/// Returns the range of magnitudes up to `threshold`, limited to the values seen.
fn within(observed: &Observed, threshold: f64) -> Range {
    let (low, high) = observed.extremes();
    Range { low: low.max(-threshold), high: high.min(threshold) }
}
