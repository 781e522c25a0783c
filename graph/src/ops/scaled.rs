//! Products with a fraction and an exponent that do not come from a real multiplier.

use fixed::types::{I1F31, I32F0};
use guardbit_num::Scheme;
use guardbit_num::fixed_point::{rounding_divide_by_power_of_two, saturating_rounding_doubling_high_mul};

/// Returns `x * fraction * 2^exponent` with the one or two roundings of TensorFlow Lite.
pub(super) fn scale(scheme: Scheme, x: i32, fraction: I1F31, exponent: i32) -> i128 {
    if scheme == Scheme::Single {
        let right = (31 - exponent).clamp(1, 62) as u32;
        return i128::from((i64::from(x) * i64::from(fraction.to_bits()) + (1 << (right - 1))) >> right);
    }
    let shifted = I32F0::from_bits(x.wrapping_shl(exponent.max(0) as u32));
    let high = saturating_rounding_doubling_high_mul(shifted, fraction);
    rounding_divide_by_power_of_two(high, (-exponent).max(0) as u32).to_num()
}
