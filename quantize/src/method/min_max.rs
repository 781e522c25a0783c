//! The extremes.

use super::Method;
use crate::{Observed, Range, Target};

/// The least and the greatest value seen, joined with 0.
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
}
