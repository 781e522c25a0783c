//! Scheme D: `RDBP(SRDHM(x * 2^max(e, 0), m), max(-e, 0))` in 32 bits (TensorFlow Lite `common.cc`, gemmlowp
//! `fixedpoint.h`).

use fixed::types::I32F0;

use crate::Multiplier;
use crate::fixed_point::{rounding_divide_by_power_of_two, saturating_rounding_doubling_high_mul};

/// A multiplier of 32 bits and a shift of 8.
pub(super) const CONSTANT_BITS: u32 = 40;

pub(super) fn requantize(x: i128, multiplier: Multiplier, zero_point: i128) -> i128 {
    let exponent = multiplier.exponent();
    // The register before the multiplier has 32 bits and wraps.
    let shifted = I32F0::from_bits((x << exponent.max(0)) as i32);
    let high = saturating_rounding_doubling_high_mul(shifted, multiplier.fraction());
    rounding_divide_by_power_of_two(high, (-exponent).max(0) as u32).to_num::<i128>() + zero_point
}
