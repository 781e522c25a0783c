//! Range from the moving average of the samples' extremes.

use super::{Method, reach};
use crate::{FloatTarget, Observed, Range, Target};

/// Moving average `a <- a + factor * (x - a)` in float32 over the samples in order, starting from the first
/// sample's extreme; for both extremes.
///
/// ONNX Runtime's `MinMaxCalibrater` with `moving_average` and one sample collected at a time computes this.
/// PyTorch's `MovingAverageMinMaxObserver` has an equal rule.
#[derive(Debug, Clone, Copy)]
pub struct MovingAverage {
    /// Weight of a new sample: above 0, at most 1.
    pub factor: f32,
}

impl MovingAverage {
    /// Factor of ONNX Runtime and PyTorch.
    pub const USUAL: Self = Self { factor: 0.01 };
}

impl Method for MovingAverage {
    fn name(&self) -> &str {
        "moving-average"
    }

    fn range(&self, observed: &Observed, _target: &Target) -> Range {
        let step = |average: f32, value: f32| average + self.factor * (value - average);
        let both = |(low, high): (f32, f32), &(least, greatest): &(f32, f32)| {
            (step(low, least), step(high, greatest))
        };
        let Some((&first, rest)) = observed.samples().split_first() else {
            return Range { low: 0.0, high: 0.0 };
        };
        let (low, high) = rest.iter().fold(first, both);
        Range { low: low.into(), high: high.into() }
    }

    fn magnitude(&self, observed: &Observed, _target: &FloatTarget) -> Option<f64> {
        reach(self, observed)
    }
}
