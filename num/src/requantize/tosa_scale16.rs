//! Scheme T16: `(x*m16 + 2^(s-1)) >> s` with a significand in `[2^14, 2^15)` (TOSA specification, `apply_scale_16`).

use crate::{Multiplier, Rounding};

/// A multiplier of 16 bits and a shift of 8.
pub(super) const CONSTANT_BITS: u32 = 24;

pub(super) fn requantize(x: i128, multiplier: Multiplier, zero_point: i128) -> i128 {
    let mut significand = Rounding::HalfAway.shift_right(multiplier.significand().into(), 16);
    let mut shift = 15 - multiplier.exponent();
    if significand == 1 << 15 {
        significand /= 2;
        shift -= 1;
    }
    // TOSA allows shifts of 2 and more. A negative shift here means that the multiplier is a whole number.
    let product = (x * significand) << (-shift).max(0);
    Rounding::HalfUp.shift_right(product, shift.max(0) as u32) + zero_point
}
