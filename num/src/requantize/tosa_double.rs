//! Scheme T: `(x*m + r) >> s` with `s = 31 - e` and `r = 2^(s-1)`. If `s > 31`, `r` is adjusted by `+- 2^30`
//! according to the sign of `x` (TOSA specification, `apply_scale_32` with `double_round`).

use crate::Multiplier;

/// A multiplier of 32 bits and a shift of 8.
pub(super) const CONSTANT_BITS: u32 = 40;

pub(super) fn requantize(x: i128, multiplier: Multiplier, zero_point: i128) -> i128 {
    let shift = 31 - multiplier.exponent();
    let mut round = 1i128 << (shift - 1);
    if shift > 31 {
        round += if x >= 0 { 1 << 30 } else { -(1 << 30) };
    }
    ((x * i128::from(multiplier.significand()) + round) >> shift) + zero_point
}
