//! Wilson's score interval of a share.

use serde::{Deserialize, Serialize};

use crate::Fraction;

/// The 97.5 % point of the normal distribution: an interval of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// An interval of 95 % of a share, both ends to six decimals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Its lower end.
    pub low: Fraction,
    /// Its upper end.
    pub high: Fraction,
}

impl Interval {
    /// That of `part` of `whole` samples; `None` without samples.
    pub fn of(part: u64, whole: u64) -> Option<Self> {
        let [low, high] = wilson(part, whole)?;
        Some(Self { low: Fraction::new(low), high: Fraction::new(high) })
    }

    /// From two ends, if both are there.
    pub(crate) fn between(low: Option<Fraction>, high: Option<Fraction>) -> Option<Self> {
        Some(Self { low: low?, high: high? })
    }

    /// From end to end.
    pub fn width(self) -> f64 {
        self.high.value() - self.low.value()
    }
}

/// Wilson's score interval of 95 %, without continuity correction, of `part` of `whole` samples: with `p` their share and
/// `z` = 1.96 it is `(p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)`. `None` without samples.
///
/// Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22 (1927).
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
    // None of them, or all, leaves one end where it is, whatever is rounded.
    let low = if part == 0 { 0.0 } else { end(middle - half) };
    let high = if part >= whole { 1.0 } else { end(middle + half) };
    Some([low, high])
}
