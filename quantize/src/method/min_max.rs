//! Range from the extremes of all values.

use super::{Method, reach};
use crate::{FloatTarget, Observed, Range, Target};

/// Range from the smallest to the largest value seen, extended to contain 0.
#[derive(Debug, Clone, Copy)]
pub struct MinMax;

impl Method for MinMax {
    fn name(&self) -> &str {
        "min-max"
    }

    fn range(&self, observed: &Observed, _target: &Target) -> Range {
        let (low, high) = observed.extremes();
        Range { low, high }
    }

    fn magnitude(&self, observed: &Observed, _target: &FloatTarget) -> Option<f64> {
        reach(self, observed)
    }
}
