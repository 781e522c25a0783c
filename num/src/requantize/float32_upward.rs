//! Scheme V32: `floor(M * x + zero_point + 0.5)` in float32 (TVM `requantize.cc`, UPWARD).

use crate::Multiplier;

/// A float32.
pub(super) const CONSTANT_BITS: u32 = 32;

pub(super) fn requantize(x: i128, multiplier: Multiplier, zero_point: i128) -> i128 {
    let real = (x as f32) * (multiplier.real() as f32) + zero_point as f32;
    (real + 0.5).floor() as i128
}
