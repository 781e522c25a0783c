//! Scheme V32N: `round(M * x + zero_point)` in float32, half away from zero (TVM `requantize.cc`, TONEAREST).

use crate::Multiplier;

/// A float32.
pub(super) const CONSTANT_BITS: u32 = 32;

pub(super) fn requantize(x: i128, multiplier: Multiplier, zero_point: i128) -> i128 {
    let real = (x as f32) * (multiplier.real() as f32) + zero_point as f32;
    real.round() as i128
}
