//! Range from a percentile of the magnitudes.

use super::{Method, reach, within};
use crate::{FloatTarget, Observed, Range, Target, Uniform};

/// Maximum number of bins of magnitudes, as in ONNX Runtime's `PercentileCalibrater`.
const BINS: usize = 2048;

/// Magnitudes up to the bin in which the given percentage of all magnitudes is reached. The limit is the
/// start of that bin, or its end if it is the first one. The range is limited to the values seen on either
/// side.
///
/// This is the rule of ONNX Runtime's `PercentileCalibrater` (1.31, `symmetric`, its default), with two
/// differences: there the first bin gives 0, and here the bin width is a power of two.
#[derive(Debug, Clone, Copy)]
pub struct Percentile {
    /// Percentage of the values that are within the range: 0 to 100.
    pub percent: f64,
}

impl Percentile {
    /// ONNX Runtime's percentile.
    pub const USUAL: Self = Self { percent: 99.999 };

    /// Returns the threshold of a histogram of magnitudes.
    pub fn threshold(&self, magnitudes: &Uniform) -> f64 {
        let total = magnitudes.counts.iter().sum::<u64>() as f64;
        let mut below = 0.0;
        let reached = magnitudes.counts.iter().position(|&count| {
            below += count as f64 / total;
            below >= self.percent / 100.0
        });
        magnitudes.edge(reached.unwrap_or(magnitudes.counts.len()).max(1))
    }
}

impl Method for Percentile {
    fn name(&self) -> &str {
        "percentile"
    }

    fn range(&self, observed: &Observed, _target: &Target) -> Range {
        within(observed, self.threshold(&observed.histogram().magnitudes(BINS)))
    }

    fn magnitude(&self, observed: &Observed, _target: &FloatTarget) -> Option<f64> {
        reach(self, observed)
    }
}
