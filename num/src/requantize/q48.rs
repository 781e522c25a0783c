//! Scheme Q48: a 15-bit significand on a 48-bit sum.
//!
//! The significand is `rm = m < 0x7FFF0000 ? (m + 2^15) >> 16 : 0x7FFF`. The result is the low 32 bits of `(x*rm +
//! 2^(t-1)) >> t` with `t = 15 - e` (TensorFlow Lite `common.cc`, 64-bit overload).

use crate::{Multiplier, Rounding};

/// A multiplier of 16 bits and a shift of 8.
pub(super) const CONSTANT_BITS: u32 = 24;

pub(super) fn requantize(x: i128, multiplier: Multiplier, zero_point: i128) -> i128 {
    let m = i128::from(multiplier.significand());
    let reduced = if m < 0x7FFF_0000 { (m + (1 << 15)) >> 16 } else { 0x7FFF };
    // The runtime accepts exponents below 8. A larger one would shift by a negative amount.
    let exponent = multiplier.exponent();
    let shift = (15 - exponent.min(14)) as u32;
    let scaled = Rounding::HalfUp.shift_right(x * (reduced << (exponent - 14).max(0)), shift);
    // The result of the runtime has 32 bits and wraps.
    i128::from(scaled as i32) + zero_point
}
