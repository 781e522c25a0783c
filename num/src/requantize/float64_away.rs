//! Scheme F64: `x * M` in float64, rounded half away from zero.
//!
//! This is LiteRT 2.3.0's reference kernel of int8 FULLY_CONNECTED, measured on 6020 sums on which it differs from
//! every scheme with a 31-bit significand.

use crate::Multiplier;

/// A float64.
pub(super) const CONSTANT_BITS: u32 = 64;

pub(super) fn requantize(x: i128, multiplier: Multiplier, zero_point: i128) -> i128 {
    (x as f64 * multiplier.real()).round() as i128 + zero_point
}
