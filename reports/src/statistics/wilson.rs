//! Wilson's score interval of a share.

use serde::{Deserialize, Serialize};

use crate::Fraction;

/// 97.5 % quantile of the normal distribution, which gives 95 % intervals.
const Z: f64 = 1.959_963_984_540_054;

/// 95 % interval of a share, both ends rounded to six decimals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: Fraction,
    /// Upper end.
    pub high: Fraction,
}

impl Interval {
    /// Returns the interval for `part` of `whole` samples; `None` without samples.
    pub fn of(part: u64, whole: u64) -> Option<Self> {
        let [low, high] = wilson(part, whole)?;
        Some(Self { low: Fraction::new(low), high: Fraction::new(high) })
    }

    /// Returns the interval between two ends, if both are defined.
    pub(crate) fn between(low: Option<Fraction>, high: Option<Fraction>) -> Option<Self> {
        Some(Self { low: low?, high: high? })
    }

    /// Returns the distance between both ends.
    pub fn width(self) -> f64 {
        self.high.value() - self.low.value()
    }
}

/// Returns the ends of Wilson's 95 % score interval, without continuity correction, for `part` of `whole`
/// samples. With `p` as their share, `n` as `whole` and `z` = 1.96, the interval is
/// `(p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)`. Returns `None` without samples.
///
/// Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22
/// (1927).
pub fn wilson(part: u64, whole: u64) -> Option<[f64; 2]> {
    if whole == 0 {
        return None;
    }
    let n = whole as f64;
    let p = part as f64 / n;
    let z2 = Z * Z / n;
    let middle = p + z2 / 2.0;
    let half = Z * (p * (1.0 - p) / n + z2 / (4.0 * n)).sqrt();
    let end = |value: f64| (value / (1.0 + z2)).clamp(0.0, 1.0);
    // Shares of 0 and 1 fix one end exactly, regardless of rounding.
    let low = if part == 0 { 0.0 } else { end(middle - half) };
    let high = if part >= whole { 1.0 } else { end(middle + half) };
    Some([low, high])
}
