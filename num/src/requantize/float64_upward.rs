//! Scheme V64: `floor(M * x + zero_point + 0.5)` in float64 (TVM `requantize.cc`, UPWARD).

use crate::Multiplier;

/// A float64.
pub(super) const CONSTANT_BITS: u32 = 64;

pub(super) fn requantize(x: i128, multiplier: Multiplier, zero_point: i128) -> i128 {
    let real = (x as f64) * multiplier.real() + zero_point as f64;
    (real + 0.5).floor() as i128
}
