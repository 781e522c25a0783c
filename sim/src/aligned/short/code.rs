//! Codes as factors, and what sums of their bytes and places tell about products.

use guardbit_num::FloatFormat;

use super::super::factor::Factor;
use crate::fast::LANES;

/// Most fraction bits of codes.
pub(super) const FRACTION_BITS: u32 = 3;
/// Greatest magnitude of the exponents of codes and of their last bits.
pub(super) const MAX_EXPONENT: i32 = 31;
/// Steps of a leading place per power of two.
pub(super) const STEPS: i16 = 7;
/// Leading place of a zero, above those of all products.
pub(super) const ABOVE: i16 = 1 << 13;

/// Bytes of weights, whose sums with those of an activation are bytes of the products. In each lane, the first three are the
/// negated exponent of the last bit: of negative weights, of all, and of positive ones. The fourth is the exponent by which
/// the product is aligned. Other weights, and zeros, have -128, so that their sums lie below those of all others.
pub(crate) type Marks = [i8; 4 * LANES];

/// A code as a factor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Short {
    pub significand: i32,
    pub exponent: i32,
    /// Exponent of the last bit that is set.
    pub last: i32,
    /// The leading exponent in steps, plus a fraction. See [`leading`].
    pub leading: i16,
    pub finite: bool,
}

/// Returns the leading exponent of a nonzero number of at most 4 bits times [`STEPS`], plus a fraction. The leading exponent
/// of a product of two numbers is the sum of both, divided by the steps and rounded down.
fn leading(significand: u32, unit: i32) -> i16 {
    /// Fractions of 8 to 15, chosen so that the fractions of two numbers add up to [`STEPS`] or more if and only if their
    /// product is at least 128.
    const FRACTIONS: [i16; 8] = [0, 1, 2, 3, 4, 5, 5, 6];
    let bits = significand.ilog2();
    let normal = significand << FRACTION_BITS >> bits;
    (unit + bits as i32) as i16 * STEPS + FRACTIONS[normal as usize & 7]
}

impl Short {
    pub fn new(format: FloatFormat, code: u32) -> Self {
        let Factor { significand, exponent, last, finite } = Factor::new(format, code);
        let magnitude = significand.unsigned_abs();
        let unit = exponent - format.fraction_bits() as i32;
        let leading = if magnitude == 0 { ABOVE } else { leading(magnitude, unit) };
        Self { significand, exponent, last, leading, finite }
    }

    pub fn is_zero(&self) -> bool {
        self.significand == 0
    }

    /// Returns the marks of the exponent and of the last bit, -128 for a zero.
    pub fn bytes(&self) -> [i8; 2] {
        if self.is_zero() { [i8::MIN; 2] } else { [self.exponent as i8, -self.last as i8] }
    }
}
