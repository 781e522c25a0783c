//! Ordinary arithmetic of floating-point formats: exact operations on values, and one rounding.

use super::format::{Decoded, Dyadic, FloatFormat, FloatOverflow, FloatRounding};
use crate::Rounding;

/// Bits of the larger term of a sum, counted from its leading one. A smaller term is exact within them.
const SUM_BITS: u32 = 120;

impl Decoded {
    /// Returns the exact product. The significands may have 32 bits each. Zero times infinity is not a number.
    pub fn times(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nan, _) | (_, Self::Nan) => Self::Nan,
            (Self::Finite(a), Self::Finite(b)) => Self::Finite(Dyadic {
                negative: a.negative != b.negative,
                significand: a.significand * b.significand,
                exponent: a.exponent + b.exponent,
            }),
            (Self::Finite(Dyadic { significand: 0, .. }), _)
            | (_, Self::Finite(Dyadic { significand: 0, .. })) => Self::Nan,
            (a, b) => Self::Infinite { negative: a.is_negative() != b.is_negative() },
        }
    }

    /// Returns a number that rounds as the sum does, in every format and by every deterministic rounding.
    ///
    /// It is the sum, if that has at most 62 significant bits; otherwise its last bit says that more follow. Infinities
    /// of both signs have no sum, and the sum of a number and its opposite is +0.
    pub fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nan, _) | (_, Self::Nan) => Self::Nan,
            (Self::Finite(a), Self::Finite(b)) => Self::Finite(sum(a, b)),
            (Self::Infinite { negative }, Self::Infinite { negative: other }) if negative != other => {
                Self::Nan
            }
            (Self::Infinite { negative }, _) | (_, Self::Infinite { negative }) => {
                Self::Infinite { negative }
            }
        }
    }

    fn is_negative(self) -> bool {
        match self {
            Self::Finite(Dyadic { negative, .. }) | Self::Infinite { negative } => negative,
            Self::Nan => false,
        }
    }
}

/// Returns a number that rounds as the sum of `a` and `b` does.
fn sum(a: Dyadic, b: Dyadic) -> Dyadic {
    let (Some(a_leading), Some(b_leading)) = (a.leading_exponent(), b.leading_exponent()) else {
        return match (a.significand, b.significand) {
            (0, 0) => Dyadic { negative: a.negative && b.negative, ..a },
            (0, _) => b,
            _ => a,
        };
    };
    let unit = (a_leading.max(b_leading) + 1 - SUM_BITS as i32).max(a.exponent.min(b.exponent));
    reduced([a, b].iter().map(|number| with_sticky(*number, unit)).sum(), unit)
}

/// Returns `total * 2^unit` in at most 62 significant bits, the last of which stands for all that follow.
pub(crate) fn reduced(total: i128, unit: i32) -> Dyadic {
    let excess = (i128::BITS - total.unsigned_abs().leading_zeros()).saturating_sub(62);
    let (kept, rest) = (total.unsigned_abs() >> excess, total.unsigned_abs() & ((1 << excess) - 1));
    Dyadic {
        negative: total < 0,
        significand: kept as u64 | u64::from(rest != 0),
        exponent: unit + excess as i32,
    }
}

/// Returns the float32 nearest to a value, ties to even. Every NaN has one code.
pub(crate) fn nearest_single(value: Decoded) -> u32 {
    let format = FloatFormat::FLOAT32;
    format.nearest(value).or(format.nan()).unwrap_or(0)
}

/// Returns a number in units of `2^unit`. If bits lie below, the last bit is 1.
fn with_sticky(number: Dyadic, unit: i32) -> i128 {
    let magnitude = i128::from(number.significand);
    let drop = unit - number.exponent;
    let scaled = if drop <= 0 {
        magnitude << -drop
    } else {
        let kept = magnitude.checked_shr(drop as u32).unwrap_or(0);
        kept | i128::from(drop > number.significand.trailing_zeros() as i32)
    };
    if number.negative { -scaled } else { scaled }
}

impl FloatFormat {
    /// Returns the code of a value, or `None` for NaN if the format has no NaN.
    pub fn code(self, value: Decoded, rounding: FloatRounding, overflow: FloatOverflow) -> Option<u32> {
        match value {
            Decoded::Finite(number) => Some(self.encode(number, rounding, overflow)),
            Decoded::Infinite { negative } => Some(self.overflowed(negative, overflow)),
            Decoded::Nan => self.nan(),
        }
    }

    /// Returns the sum of two codes as IEEE 754 has it, to nearest even, or `None` for NaN if the format has no NaN.
    pub fn add(self, a: u32, b: u32) -> Option<u32> {
        self.nearest(self.decode(a).plus(self.decode(b)))
    }

    /// Returns `a * b + c` with one rounding, as IEEE 754 has it, to nearest even, or `None` for NaN if the format has
    /// no NaN.
    pub fn multiply_add(self, a: u32, b: u32, c: u32) -> Option<u32> {
        self.nearest(self.decode(a).times(self.decode(b)).plus(self.decode(c)))
    }

    /// Returns the code nearest to a value, ties to even, or `None` for NaN if the format has no NaN.
    pub(super) fn nearest(self, value: Decoded) -> Option<u32> {
        self.code(value, FloatRounding::By(Rounding::HalfEven), FloatOverflow::Special)
    }
}
