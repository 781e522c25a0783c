//! Range from the mean of the samples' extremes.

use super::{Method, reach};
use crate::{FloatTarget, Observed, Range, Target};

/// Range from the mean of all samples' minima to the mean of their maxima, in float64.
///
/// ONNX Runtime's `MinMaxCalibrater` with `moving_average` computes this from all samples that it collects at
/// once.
#[derive(Debug, Clone, Copy)]
pub struct Average;

impl Method for Average {
    fn name(&self) -> &str {
        "average"
    }

    fn range(&self, observed: &Observed, _target: &Target) -> Range {
        let samples = observed.samples();
        let mean = |end: fn(&(f32, f32)) -> f32| {
            samples.iter().map(|sample| f64::from(end(sample))).sum::<f64>() / samples.len().max(1) as f64
        };
        Range { low: mean(|&(low, _)| low), high: mean(|&(_, high)| high) }
    }

    fn magnitude(&self, observed: &Observed, _target: &FloatTarget) -> Option<f64> {
        reach(self, observed)
    }
}
