//! Range with the least mean squared error.

use super::Method;
use crate::{FloatTarget, Histogram, Observed, Range, Symmetry, Target};

/// Range whose codes have the least squared error, with each value at the middle of its histogram bin.
///
/// Ends are hundredths of the extremes. For a symmetric target both ends have equal magnitude. Otherwise the
/// search first varies both ends together, and then each end in turn with the other fixed, until nothing
/// changes. A tie goes to the widest range. The error is that of `x' = scale * (code - zero point)` in
/// float64, with the target's own scale and zero point.
#[derive(Debug, Clone, Copy)]
pub struct Mse {
    /// Number of steps into which an extreme is divided.
    pub steps: u32,
}

impl Mse {
    /// One hundred steps.
    pub const USUAL: Self = Self { steps: 100 };

    /// Returns the sum of the squared errors of all values, each at the middle of its bin.
    pub fn error(histogram: &Histogram, target: &Target, range: Range) -> f64 {
        let parameters = target.parameters(range);
        let (scale, zero) = (f64::from(parameters.scale), f64::from(parameters.zero_point));
        let (min, max) = (f64::from(target.codes.min()), f64::from(target.codes.max()));
        let squared = |(middle, count): (f64, u64)| {
            let code = ((middle / scale).round_ties_even() + zero).clamp(min, max);
            let error = scale * (code - zero) - middle;
            error * error * count as f64
        };
        histogram.middles().map(squared).sum()
    }
}

impl Method for Mse {
    fn name(&self) -> &str {
        "mse"
    }

    fn range(&self, observed: &Observed, target: &Target) -> Range {
        let (low, high) = observed.extremes();
        let part = |end: f64, steps: u32| end * f64::from(steps) / f64::from(self.steps);
        let range = |(below, above): (u32, u32)| Range { low: part(low, below), high: part(high, above) };
        let error = |ends| Self::error(observed.histogram(), target, range(ends));
        let least = |candidates: &mut dyn Iterator<Item = (u32, u32)>| {
            let scored = candidates.map(|ends| (error(ends), ends));
            scored.reduce(|best, next| if next.0 < best.0 { next } else { best })
        };
        let steps = self.steps.max(1);
        let Some(mut best) = least(&mut (1..=steps).rev().map(|step| (step, step))) else {
            return Range { low, high };
        };
        let one_sided = low == 0.0 || high == 0.0;
        if target.symmetry == Symmetry::Symmetric || one_sided {
            return range(best.1);
        }
        loop {
            let (_, ends) = best;
            let below = least(&mut (1..=steps).rev().map(|step| (step, best.1.1)));
            best = below.filter(|found| found.0 < best.0).unwrap_or(best);
            let above = least(&mut (1..=steps).rev().map(|step| (best.1.0, step)));
            best = above.filter(|found| found.0 < best.0).unwrap_or(best);
            if best.1 == ends {
                return range(best.1);
            }
        }
    }

    /// Candidates are hundredths of the greatest magnitude.
    fn magnitude(&self, observed: &Observed, target: &FloatTarget) -> Option<f64> {
        let steps = self.steps.max(1);
        let part = |step: u32| observed.magnitude() * f64::from(step) / f64::from(steps);
        let error = |step| target.error(observed.histogram().middles(), target.scale(part(step)));
        let scored = (1..=steps).rev().map(|step| (error(step), step));
        scored.reduce(|best, next| if next.0 < best.0 { next } else { best }).map(|(_, step)| part(step))
    }
}
