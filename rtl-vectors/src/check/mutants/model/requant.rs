//! Model of `rtl/gb_requant.sv`.

use guardbit_num::Scheme;

use super::twist::{Twist, signed};
use crate::manifest::RequantizeInfo;

/// Returns a value shifted right by any number of bits, rounded down.
fn right(value: i128, bits: u32) -> i128 {
    value >> bits.min(127)
}

/// Returns half of a unit of `2^bits`, or 0 where no bits are dropped.
fn half(bits: u32) -> i128 {
    1i128.checked_shl(bits).unwrap_or(0) >> 1
}

/// Returns an integer rounded to `bits` significant bits, ties to even.
fn float(value: u128, bits: u32) -> u128 {
    let dropped = (u128::BITS - value.leading_zeros()).saturating_sub(bits);
    let (whole, rest) = (value >> dropped, value - (value >> dropped << dropped));
    let middle = (1u128 << dropped) >> 1;
    let up = dropped > 0 && (rest > middle || rest == middle && whole & 1 == 1);
    (whole + u128::from(up)) << dropped
}

/// Returns the code of a sum.
pub(super) fn code(info: &RequantizeInfo, sum: i128, mult: i128, exp: i64, twist: Twist) -> i128 {
    let is_cut = twist == Twist::NotRounded;
    let scaled = match info.scheme {
        Scheme::Double => {
            let (left, shift) = (exp.max(0) as u32, (-exp).max(0) as u32);
            let product = signed(sum << left, 32) * mult;
            let high = (product + (1 << 30)) >> 31;
            let is_down = high < 0 && shift != 0 && twist != Twist::WrongTie;
            let nudge = if is_cut { 0 } else { half(shift) - i128::from(is_down) };
            right(high + nudge, shift)
        }
        Scheme::Single | Scheme::Away => {
            let shift = (31 - exp) as u8;
            let product = sum * mult;
            let is_down = info.scheme == Scheme::Away && product < 0;
            let nudge = if is_cut { 0 } else { half(shift.into()) - i128::from(is_down) };
            right(product + nudge, shift.into())
        }
        Scheme::Even | Scheme::Float64Away => {
            let is_even = info.scheme == Scheme::Even;
            let (bits, point) = if is_even { (24, 31) } else { (53, 53) };
            let shift = u32::from((point - exp) as u8);
            let mult = if twist == Twist::MultiplierCut { mult >> 22 << 22 } else { mult };
            let exact = float(sum.unsigned_abs(), bits) * mult as u128;
            let product = if twist == Twist::ProductNotRounded { exact } else { float(exact, bits) };
            let whole = product.checked_shr(shift).unwrap_or(0);
            let is_down = match twist {
                Twist::WrongTie => !is_even && sum < 0,
                _ => is_even && whole & 1 == 0,
            };
            let middle = 1u128.checked_shl(shift).unwrap_or(0) >> 1;
            let nudged = if is_cut { product } else { (product + middle).wrapping_sub(u128::from(is_down)) };
            let size = nudged.checked_shr(shift).unwrap_or(0) as i128;
            if sum < 0 { -size } else { size }
        }
        // Other schemes are not in the RTL.
        _ => 0,
    };
    let zero_point = if twist == Twist::ZeroPointDropped { 0 } else { info.zero_point };
    let greatest = info.clamp_max - i64::from(twist == Twist::ClampOffByOne);
    let shifted = scaled + i128::from(zero_point);
    // The lower clamp comes first.
    let clamped = match () {
        () if shifted < i128::from(info.clamp_min) => info.clamp_min.into(),
        () if shifted > i128::from(greatest) => greatest.into(),
        () => shifted,
    };
    signed(clamped, info.out_bits)
}
