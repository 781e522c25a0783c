//! Real values as codes: 32-bit words that hold IEEE-754 singles, and codes of shorter formats.

use guardbit_num::{Decoded, FloatFormat, FloatOverflow, FloatRounding, Rounding};

use crate::DType;

/// Returns the real value of a word.
pub fn real_of(word: i32) -> f32 {
    f32::from_bits(word as u32)
}

/// Returns the word of a real value.
pub fn word_of(real: f32) -> i32 {
    real.to_bits() as i32
}

/// The relation of codes to real values for a floating-point dtype.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RealCodes {
    /// `None` for words.
    format: Option<FloatFormat>,
}

impl RealCodes {
    /// Returns the codes of a dtype, or `None` for integers.
    pub fn of(dtype: DType) -> Option<Self> {
        let format = dtype.float_format()?;
        Some(Self { format: (dtype != DType::Float32).then_some(format) })
    }

    /// Returns whether codes can be negative, which only those of float8_e8m0 cannot.
    pub fn are_signed(self) -> bool {
        self.format.is_none_or(FloatFormat::is_signed)
    }

    /// Returns the real value of a code, which is exact. NaN keeps only its sign.
    pub fn real(self, code: i32) -> f32 {
        let Some(format) = self.format else { return real_of(code) };
        match format.decode(code as u32) {
            Decoded::Finite(number) => number.value() as f32,
            Decoded::Infinite { negative: false } => f32::INFINITY,
            Decoded::Infinite { negative: true } => f32::NEG_INFINITY,
            Decoded::Nan if has_sign(format, code as u32) => -f32::NAN,
            Decoded::Nan => f32::NAN,
        }
    }

    /// Returns the code nearest to a real value, ties to even.
    ///
    /// A value beyond the largest finite one, infinity included, becomes the largest one if `saturate` is true or if
    /// the format has neither infinity nor NaN. Otherwise it becomes infinity, or NaN without infinity. NaN keeps only
    /// its sign; in a format without NaN it becomes -0, as in `ml_dtypes`.
    pub fn code(self, real: f32, saturate: bool) -> i32 {
        let Some(format) = self.format else { return word_of(real) };
        let overflow = if saturate { FloatOverflow::Saturate } else { FloatOverflow::Special };
        let code = format.code(f64::from(real).into(), FloatRounding::By(Rounding::HalfEven), overflow);
        let sign = 1 << (format.bits() - 1);
        let code = code.unwrap_or(sign);
        let signed = code | sign;
        let minus = real.is_sign_negative() && format.nan() == Some(code) && has_sign(format, signed);
        if minus { signed as i32 } else { code as i32 }
    }
}

/// Returns whether a code is NaN with a minus sign. Some formats have a single NaN, without a sign.
fn has_sign(format: FloatFormat, code: u32) -> bool {
    let is_nan = |code| format.decode(code) == Decoded::Nan;
    let sign = 1 << (format.bits() - 1);
    code & sign != 0 && is_nan(code) && is_nan(code ^ sign)
}

/// Returns an integer that orders words by their real values (IEEE-754's total order).
pub fn order_of(word: i32) -> i32 {
    if word < 0 { word ^ i32::MAX } else { word }
}

/// Returns a real value rounded half to even, as [`f32::round_ties_even`], without a call where the CPU that the program
/// is built for has no instruction for it.
pub(crate) fn half_even(value: f32) -> f32 {
    /// A sum with it has no bits below 1, and is rounded half to even.
    const SHIFTER: f32 = 1.5 * (1 << 23) as f32;
    if value.abs() < (1 << 22) as f32 {
        ((value + SHIFTER) - SHIFTER).copysign(value)
    } else {
        value.round_ties_even()
    }
}

/// Number of steps of [`real_steps`] per unit.
pub const STEPS_PER_UNIT: f32 = (1 << 24) as f32;

/// Greatest real value that [`real_steps`] represents. Greater values are clamped to it.
const GREATEST: f32 = (1 << 22) as f32;

/// Returns a real value in steps of `1 / STEPS_PER_UNIT`, rounded half to even and clamped to `+-2^46`. NaN becomes
/// 0.
///
/// Sums of squares of such steps are exact in 128 bits, in any order.
pub fn real_steps(word: i32) -> i64 {
    // The factor is a power of two, so the product is exact. NaN becomes 0.
    (real_of(word).clamp(-GREATEST, GREATEST) * STEPS_PER_UNIT).round_ties_even() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of every exponent and leading bits, and those around every tie of small numbers.
    #[test]
    fn half_even_is_that_of_the_standard() {
        let spread = (0..=u32::MAX >> 12).map(|high| f32::from_bits(high << 12 | high & 0xfff));
        let ties = (-40_000..40_000).map(|half| half as f32 / 2.0);
        let ties = ties.flat_map(|tie| [tie.next_down(), tie, tie.next_up()]);
        let large = (0..100).map(|k| ((1 << 22) - 50 + k) as f32 + 0.5);
        for value in spread.chain(ties).chain(large) {
            let (made, expected) = (half_even(value), value.round_ties_even());
            assert!(made.to_bits() == expected.to_bits() || value.is_nan(), "{value}: {made}");
        }
    }

    #[test]
    fn order_follows_real_values() {
        let reals = [f32::NEG_INFINITY, -2.5, -1e-40, -0.0, 0.0, 1e-40, 1.0, 2.5, f32::INFINITY];
        let orders = reals.map(|real| order_of(word_of(real)));
        assert!(orders.is_sorted_by(|a, b| a < b), "{orders:?}");
    }

    #[test]
    fn steps_are_bounded() {
        for (real, steps) in [
            (1.0, 1 << 24),
            (-0.5, -(1 << 23)),
            (f32::NAN, 0),
            (f32::INFINITY, 1 << 46),
            (-1e30, -(1 << 46)),
            (1e-9, 0),
        ] {
            assert_eq!(real_steps(word_of(real)), steps, "{real}");
        }
    }
}
