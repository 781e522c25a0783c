//! Ends of floating-point formats.

use guardbit_num::{Decoded, FloatFormat};

/// Returns the exponent of the last bit of a subnormal.
pub(super) fn least_bit(format: FloatFormat) -> i32 {
    format.least_exponent() - format.fraction_bits() as i32
}

/// Returns the exponent of the largest finite number.
pub(super) fn top(format: FloatFormat) -> i32 {
    (format.largest() >> format.fraction_bits()) as i32 + format.least_exponent() - has_zero(format) as i32
}

/// Returns 1 if the exponent field 0 of a format holds zero and subnormals, otherwise 0.
pub(super) fn has_zero(format: FloatFormat) -> u32 {
    u32::from(matches!(format.decode(0), Decoded::Finite(number) if number.significand == 0))
}

/// Returns the largest number of a format.
pub(super) fn magnitude(format: FloatFormat) -> f64 {
    let one = 1u32 << format.fraction_bits();
    f64::from(top(format)).exp2() * f64::from(one | format.largest() & (one - 1)) / f64::from(one)
}
