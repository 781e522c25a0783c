//! Scheme A: one rounding, ties away from zero (TVM `qnn/utils.cc` TONEAREST; QNNPACK precise).

use crate::{Multiplier, Rounding};

/// A multiplier of 32 bits and a shift of 8.
pub(super) const CONSTANT_BITS: u32 = 40;

pub(super) fn requantize(x: i128, multiplier: Multiplier, zero_point: i128) -> i128 {
    let shift = (31 - multiplier.exponent()) as u32;
    Rounding::HalfAway.shift_right(x * i128::from(multiplier.significand()), shift) + zero_point
}
