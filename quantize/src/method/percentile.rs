//! A percentile of the magnitudes.

use super::{Method, within};
use crate::{Observed, Range, Target, Uniform};

/// Most bins of magnitudes: as many as ONNX Runtime's `PercentileCalibrater` has.
const BINS: usize = 2048;

/// Magnitudes up to where the bin begins in which the given part of all magnitudes is reached, or ends if it is the first
/// one; no further than values were seen on either side.
///
/// The rule of ONNX Runtime's `PercentileCalibrater` (1.31, `symmetric`, its default), but for the first bin, where that
/// gives 0, and for the bins' width, which is a power of two here.
#[derive(Debug, Clone, Copy)]
pub struct Percentile {
    /// Percent of the values that are within the range: 0 to 100.
    pub percent: f64,
}

impl Percentile {
    /// ONNX Runtime's percentile.
    pub const USUAL: Self = Self { percent: 99.999 };

    /// The threshold of a histogram of magnitudes.
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
}
