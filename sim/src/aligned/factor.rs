//! A code as a factor of products.

use guardbit_num::{Decoded, Dyadic, FloatFormat, Term};

/// Place of the last bit of a zero, which lies above those of all numbers.
pub(super) const NOWHERE: i32 = 1 << 14;

/// A code as a factor of products.
#[derive(Debug, Clone, Copy)]
pub(super) struct Factor {
    pub significand: i32,
    /// Exponent by which it is aligned.
    pub exponent: i32,
    /// Exponent of the last bit that is set.
    pub last: i32,
    pub finite: bool,
}

impl Factor {
    pub fn new(format: FloatFormat, code: u32) -> Self {
        let Term { value, exponent } = Term::of(format, code);
        let Decoded::Finite(number) = value else {
            return Self { significand: 0, exponent, last: NOWHERE, finite: false };
        };
        let last = number.exponent + number.significand.trailing_zeros() as i32;
        Self {
            significand: signed(number),
            exponent,
            last: if number.significand == 0 { NOWHERE } else { last },
            finite: true,
        }
    }

    /// Returns the factor times a power of two.
    pub fn times(self, power: Self) -> Self {
        let last = if self.last == NOWHERE { NOWHERE } else { self.last + power.last };
        let (exponent, finite) = (self.exponent + power.exponent, self.finite & power.finite);
        Self { significand: self.significand, exponent, last, finite }
    }
}

fn signed(number: Dyadic) -> i32 {
    let significand = number.significand as i32;
    if number.negative { -significand } else { significand }
}
