//! A real multiplier as the integer significand and exponent that requantizers use.

use fixed::types::I1F31;

/// A real multiplier `M >= 0`, kept as given and as `significand * 2^exponent`.
///
/// The integer form is TensorFlow Lite's `QuantizeMultiplier` (TVM's `GetFixedPointMultiplierShift` is the
/// same): `(f, e) = frexp(M)`, significand = `f * 2^31` rounded half away from zero, and 0 if `e < -31`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Multiplier {
    real: f64,
    significand: i32,
    exponent: i32,
}

/// A real number that cannot be a requantization multiplier.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{real} cannot be a requantization multiplier: it must be finite, not negative and below 2^30")]
pub struct MultiplierError {
    /// The offending number.
    pub real: f64,
}

impl Multiplier {
    /// The multiplier nearest to `real`.
    ///
    /// # Errors
    /// [`MultiplierError`] unless `0 <= real < 2^30`, once rounded to 31 bits.
    pub fn new(real: f64) -> Result<Self, MultiplierError> {
        if !(0.0..f64::from(1 << 30)).contains(&real) {
            return Err(MultiplierError { real });
        }
        let (fraction, mut exponent) = frexp(real);
        // Exact in f64: the fraction has 53 bits, the product is rounded once, half away from zero.
        let mut significand = (fraction * f64::from(1u32 << 31)).round() as i64;
        if significand == 1 << 31 {
            significand /= 2;
            exponent += 1;
        }
        if exponent < -31 {
            (significand, exponent) = (0, 0);
        }
        Self { real, significand: significand as i32, exponent }.checked()
    }

    /// The number that was asked for.
    pub fn real(self) -> f64 {
        self.real
    }

    /// The significand as stored in hardware: 0 or `2^30 <= m < 2^31`, less after [`divided_by`](Self::divided_by).
    pub fn significand(self) -> i32 {
        self.significand
    }

    /// The significand as the fraction that it stands for, in Q0.31.
    pub fn fraction(self) -> I1F31 {
        I1F31::from_bits(self.significand)
    }

    /// The power of two; positive shifts left.
    pub fn exponent(self) -> i32 {
        self.exponent
    }

    /// The number itself, all 53 bits of it: `(m, e)` with `M = m * 2^(e - 53)` and `2^52 <= m < 2^53`, or `(0, 0)`.
    pub fn exact(self) -> (u64, i32) {
        let (fraction, exponent) = frexp(self.real);
        // Exact: a power of two, and the fraction has 53 bits.
        ((fraction * (1u64 << 53) as f64) as u64, exponent)
    }

    /// The multiplier for sums kept in the unit `2^shift`.
    ///
    /// # Errors
    /// [`MultiplierError`] if the result is `2^30` or more.
    pub fn scaled_up(self, shift: u32) -> Result<Self, MultiplierError> {
        let real = self.real * 2f64.powi(shift as i32);
        if self.significand == 0 {
            return Self::new(real);
        }
        Self { real, exponent: self.exponent.saturating_add(shift as i32), ..self }.checked()
    }

    /// The multiplier of a mean over `count` elements, divided in integers: with
    /// `k = min(floor(log2 count), 32, 31 + e)`, the significand becomes `(m << k) / count`, cut off, and the
    /// exponent `e - k`. The significand may fall below `2^30`.
    ///
    /// TensorFlow Lite, `reference_ops::QuantizedMeanOrSum`. A `count` of 0 counts as 1.
    pub fn divided_by(self, count: u64) -> Self {
        let count = count.max(1);
        let shift = count.ilog2().min(32).min((31 + self.exponent) as u32);
        let significand = (i128::from(self.significand) << shift) / i128::from(count);
        Self {
            real: self.real / count as f64,
            significand: significand as i32,
            exponent: self.exponent - shift as i32,
        }
    }

    fn checked(self) -> Result<Self, MultiplierError> {
        if self.exponent <= 30 { Ok(self) } else { Err(MultiplierError { real: self.real }) }
    }
}

/// `(f, e)` with `value = f * 2^e`, `f` in `[0.5, 1)`; `(0, 0)` for zero. `value` is finite and not negative.
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
