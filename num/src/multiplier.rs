//! A real multiplier as the integer significand and exponent that requantizers use.

use fixed::types::I1F31;

/// A real multiplier `M >= 0`, stored as given and as `significand * 2^exponent`.
///
/// The integer form is that of TensorFlow Lite's `QuantizeMultiplier` and TVM's `GetFixedPointMultiplierShift`: `(f,
/// e) = frexp(M)`, and the significand is `f * 2^31` rounded half away from zero, or 0 if `e < -31`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Multiplier {
    real: f64,
    fraction: I1F31,
    exponent: i32,
}

/// Error for a real number that cannot be a requantization multiplier.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{real} cannot be a requantization multiplier: it must be finite, not negative and below 2^30")]
pub struct MultiplierError {
    /// The rejected number.
    pub real: f64,
}

impl Multiplier {
    /// Creates the multiplier nearest to `real`.
    ///
    /// # Errors
    /// [`MultiplierError`] unless `0 <= real < 2^30` after rounding to 31 bits.
    pub fn new(real: f64) -> Result<Self, MultiplierError> {
        if !(0.0..f64::from(1 << 30)).contains(&real) {
            return Err(MultiplierError { real });
        }
        let (fraction, mut exponent) = frexp(real);
        // The product is exact in float64, because the fraction has 53 bits. It is rounded once, half away from zero.
        let mut significand = (fraction * f64::from(1u32 << 31)).round() as i64;
        if significand == 1 << 31 {
            significand /= 2;
            exponent += 1;
        }
        if exponent < -31 {
            (significand, exponent) = (0, 0);
        }
        Self { real, fraction: I1F31::from_bits(significand as i32), exponent }.checked()
    }

    /// Returns the multiplier as it was given, unrounded.
    pub fn real(self) -> f64 {
        self.real
    }

    /// Returns the significand `m` as stored in hardware: 0 or `2^30 <= m < 2^31`.
    ///
    /// After [`divided_by`](Self::divided_by) it may be less.
    pub fn significand(self) -> i32 {
        self.fraction.to_bits()
    }

    /// Returns the significand as a fraction in Q0.31.
    pub fn fraction(self) -> I1F31 {
        self.fraction
    }

    /// Returns the exponent of the power of two. A positive exponent shifts left.
    pub fn exponent(self) -> i32 {
        self.exponent
    }

    /// Returns all 53 bits of the real multiplier.
    ///
    /// The result is `(m, e)` with `M = m * 2^(e - 53)` and `2^52 <= m < 2^53`, or `(0, 0)` for 0.
    pub fn exact(self) -> (u64, i32) {
        let (fraction, exponent) = frexp(self.real);
        // This is exact: the factor is a power of two, and the fraction has 53 bits.
        ((fraction * (1u64 << 53) as f64) as u64, exponent)
    }

    /// Returns the multiplier for sums in units of `2^shift`.
    ///
    /// # Errors
    /// [`MultiplierError`] if the result is `2^30` or more.
    pub fn scaled_up(self, shift: u32) -> Result<Self, MultiplierError> {
        let real = self.real * 2f64.powi(shift as i32);
        if self.fraction == 0 {
            return Self::new(real);
        }
        Self { real, exponent: self.exponent.saturating_add(shift as i32), ..self }.checked()
    }

    /// Returns the multiplier of a mean over `count` elements, divided in integers.
    ///
    /// With `k = min(floor(log2 count), 32, 31 + e)`, the significand becomes `(m << k) / count`, truncated, and the
    /// exponent becomes `e - k`. The significand may fall below `2^30`. A `count` of 0 counts as 1.
    ///
    /// Source: TensorFlow Lite, `reference_ops::QuantizedMeanOrSum`.
    pub fn divided_by(self, count: u64) -> Self {
        let count = count.max(1);
        let shift = count.ilog2().min(32).min((31 + self.exponent) as u32);
        let significand = (i128::from(self.significand()) << shift) / i128::from(count);
        Self {
            real: self.real / count as f64,
            fraction: I1F31::from_bits(significand as i32),
            exponent: self.exponent - shift as i32,
        }
    }

    fn checked(self) -> Result<Self, MultiplierError> {
        if self.exponent <= 30 { Ok(self) } else { Err(MultiplierError { real: self.real }) }
    }
}

/// Returns `(f, e)` with `value = f * 2^e` and `f` in `[0.5, 1)`, or `(0, 0)` for zero.
///
/// `value` must be finite and not negative.
fn frexp(value: f64) -> (f64, i32) {
    if value == 0.0 {
        return (0.0, 0);
    }
    const MANTISSA_BITS: u32 = 52;
    const HALF_EXPONENT: u64 = 1022;
    let bits = value.to_bits();
    let exponent = (bits >> MANTISSA_BITS) as i32;
    if exponent == 0 {
        let (fraction, e) = frexp(value * 2f64.powi(64));
        return (fraction, e - 64);
    }
    let mantissa = bits & ((1 << MANTISSA_BITS) - 1);
    (f64::from_bits(mantissa | (HALF_EXPONENT << MANTISSA_BITS)), exponent - HALF_EXPONENT as i32)
}
