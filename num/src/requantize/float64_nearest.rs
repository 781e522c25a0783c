//! Scheme V64N: `round(M * x + zero_point)` in float64, half away from zero (TVM `requantize.cc`, TONEAREST).

use crate::Multiplier;

/// A float64.
pub(super) const CONSTANT_BITS: u32 = 64;

pub(super) fn requantize(x: i128, multiplier: Multiplier, zero_point: i128) -> i128 {
    let real = (x as f64) * multiplier.real() + zero_point as f64;
    real.round() as i128
}
