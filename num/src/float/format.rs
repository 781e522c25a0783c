//! A floating-point format: its parameters, the meaning of a code, and rounding of a number to a code.

use std::fmt;

use crate::{Rounding, stochastic_shift_right};

/// Codes of a format that are not finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Specials {
    /// The largest exponent holds infinity (fraction 0) and NaN, as in IEEE 754.
    Ieee,
    /// The codes whose bits below the sign are all 1 are NaN. No infinity.
    LastIsNan,
    /// The code of negative zero is NaN. No infinity, no negative zero.
    NegativeZeroIsNan,
    /// Every code is finite.
    None,
}

/// A floating-point format. A code has a sign bit, unless the format is unsigned, then the exponent, then the fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FloatFormat {
    pub(super) name: &'static str,
    pub(super) exponent_bits: u32,
    pub(super) fraction_bits: u32,
    pub(super) bias: i32,
    pub(super) specials: Specials,
    pub(super) signed: bool,
    /// Whether the exponent field 0 holds zero and subnormals. Otherwise it is a power of two like any other.
    pub(super) has_zero: bool,
}

/// A finite number `significand * 2^exponent`, negative if `negative`. Zero has a sign, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dyadic {
    /// Whether the sign is minus.
    pub negative: bool,
    /// The magnitude, in units of `2^exponent`.
    pub significand: u64,
    /// The exponent of one unit of the significand, at most `2^30` in magnitude.
    pub exponent: i32,
}

/// The meaning of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decoded {
    /// A number. Its exponent is that of the last bit of the fraction: a subnormal has the format's least exponent.
    Finite(Dyadic),
    /// Infinity.
    Infinite {
        /// Whether the sign is minus.
        negative: bool,
    },
    /// Not a number.
    Nan,
}

/// The code of a number whose rounded magnitude exceeds the largest finite one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FloatOverflow {
    /// The largest finite magnitude, for infinity too.
    Saturate,
    /// Infinity, or NaN if the format has no infinity, or the largest finite magnitude if it has neither.
    Special,
}

/// The rounding of a number to a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FloatRounding {
    /// A deterministic rounding of the signed number.
    By(Rounding),
    /// Toward plus infinity.
    Ceil,
    /// Away from zero with a probability equal to the dropped fraction, of which the first 63 bits count. The low bits
    /// of the word are compared with it.
    Stochastic(u64),
}

impl FloatFormat {
    /// A signed format with subnormals.
    pub(super) const fn new(
        name: &'static str,
        exponent_bits: u32,
        fraction_bits: u32,
        bias: i32,
        specials: Specials,
    ) -> Self {
        Self { name, exponent_bits, fraction_bits, bias, specials, signed: true, has_zero: true }
    }

    /// Returns the name used in files.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Returns the width of a code in bits.
    pub fn bits(self) -> u32 {
        u32::from(self.signed) + self.exponent_bits + self.fraction_bits
    }

    /// Returns the number of bits below the leading bit of a significand.
    pub fn fraction_bits(self) -> u32 {
        self.fraction_bits
    }

    /// Returns whether codes have a sign bit.
    pub fn is_signed(self) -> bool {
        self.signed
    }

    /// Returns the codes that are not finite.
    pub fn specials(self) -> Specials {
        self.specials
    }

    /// Returns the exponent of the least normal number, which is also that of subnormals.
    pub fn least_exponent(self) -> i32 {
        i32::from(self.has_zero) - self.bias
    }

    /// Returns whether exponents are stored as in another format, and mean the same.
    pub fn has_exponents_of(self, other: Self) -> bool {
        let of = |one: Self| (one.exponent_bits, one.bias, one.specials, one.signed, one.has_zero);
        of(self) == of(other)
    }

    /// Returns the code of the largest finite number.
    pub fn largest(self) -> u32 {
        let last = (1 << (self.exponent_bits + self.fraction_bits)) - 1;
        match self.specials {
            Specials::Ieee => last - (1 << self.fraction_bits),
            Specials::LastIsNan => last - 1,
            Specials::NegativeZeroIsNan | Specials::None => last,
        }
    }

    /// Returns the code of NaN, without a sign where both signs are NaN, or `None` if the format has no NaN.
    pub fn nan(self) -> Option<u32> {
        match self.specials {
            Specials::Ieee => Some(self.largest() + 1 + (1 << (self.fraction_bits - 1))),
            Specials::LastIsNan => Some(self.largest() + 1),
            Specials::NegativeZeroIsNan => Some(self.sign()),
            Specials::None => None,
        }
    }

    /// Returns the code of an infinity, or `None` if the format has none.
    pub fn infinity(self, negative: bool) -> Option<u32> {
        let sign = if negative { self.sign() } else { 0 };
        (self.specials == Specials::Ieee).then(|| self.largest() + 1 + sign)
    }

    /// Returns whether a code is a zero of either sign.
    pub fn is_zero(self, code: u32) -> bool {
        matches!(self.decode(code), Decoded::Finite(Dyadic { significand: 0, .. }))
    }

    /// Returns whether a code is a nonzero number below the least normal one.
    pub fn is_subnormal(self, code: u32) -> bool {
        match self.decode(code) {
            Decoded::Finite(number) => {
                number.leading_exponent().is_some_and(|leading| leading < self.least_exponent())
            }
            _ => false,
        }
    }

    /// Returns the sign bit of a code, 0 if the format is unsigned.
    fn sign(self) -> u32 {
        u32::from(self.signed) << (self.bits() - 1)
    }

    /// Returns the meaning of `code`. Bits above the format's width do not count.
    pub fn decode(self, code: u32) -> Decoded {
        let negative = code & self.sign() != 0;
        let magnitude = code & ((1 << (self.exponent_bits + self.fraction_bits)) - 1);
        if magnitude > self.largest() {
            return match self.infinity(negative) {
                Some(infinity) if infinity & !self.sign() == magnitude => Decoded::Infinite { negative },
                _ => Decoded::Nan,
            };
        }
        if self.specials == Specials::NegativeZeroIsNan && negative && magnitude == 0 {
            return Decoded::Nan;
        }
        let field = (magnitude >> self.fraction_bits) as i32;
        let fraction = u64::from(magnitude) & ((1 << self.fraction_bits) - 1);
        let subnormal = self.has_zero && field == 0;
        Decoded::Finite(Dyadic {
            negative,
            significand: if subnormal { fraction } else { fraction | 1 << self.fraction_bits },
            exponent: field + i32::from(subnormal) - self.bias - self.fraction_bits as i32,
        })
    }

    /// Returns the code of `number`, rounded, as if the exponent had no upper limit, and then checked for overflow.
    ///
    /// A number that rounds to zero keeps its sign if the format has a negative zero. An unsigned format has no code
    /// for a negative number: it becomes NaN. In a format without zero, a number below the least one becomes the least
    /// one, and zero NaN.
    pub fn encode(self, number: Dyadic, rounding: FloatRounding, overflow: FloatOverflow) -> u32 {
        let Dyadic { negative, significand, exponent } = number;
        if significand == 0 && self.has_zero {
            return self.signed_code(negative, 0);
        }
        if significand == 0 || negative && !self.signed {
            return self.nan().unwrap_or(0);
        }
        let place = (exponent + significand.ilog2() as i32).max(self.least_exponent());
        let rounded = scaled(number, place - self.fraction_bits as i32, rounding).unsigned_abs() as u64;
        // The leading bit of a normal number adds one to the exponent field, and so does a carry.
        let steps = u64::from((place - self.least_exponent()) as u32) << self.fraction_bits;
        let hidden = if self.has_zero { 0 } else { 1 << self.fraction_bits };
        let magnitude = (steps + rounded).saturating_sub(hidden);
        match u32::try_from(magnitude).ok().filter(|&code| code <= self.largest()) {
            Some(code) => self.signed_code(negative, code),
            None => self.overflowed(negative, overflow),
        }
    }

    /// Returns the code of an infinity, or of a number beyond the largest finite one.
    pub fn overflowed(self, negative: bool, overflow: FloatOverflow) -> u32 {
        if negative && !self.signed {
            return self.nan().unwrap_or(0);
        }
        let largest = self.signed_code(negative, self.largest());
        match overflow {
            FloatOverflow::Saturate => largest,
            FloatOverflow::Special => self.infinity(negative).or(self.nan()).unwrap_or(largest),
        }
    }

    fn signed_code(self, negative: bool, magnitude: u32) -> u32 {
        let unsigned_zero = magnitude == 0 && self.specials == Specials::NegativeZeroIsNan;
        if negative && !unsigned_zero { magnitude | self.sign() } else { magnitude }
    }
}

/// Returns `number` in units of `2^unit`, rounded. The result has to fit.
pub(crate) fn scaled(number: Dyadic, unit: i32, rounding: FloatRounding) -> i128 {
    let shift = unit - number.exponent;
    let magnitude = i128::from(number.significand);
    let signed = |magnitude: i128| if number.negative { -magnitude } else { magnitude };
    if magnitude == 0 {
        return 0;
    }
    if shift <= 0 {
        return signed(magnitude << shift.unsigned_abs());
    }
    let shift = shift as u32;
    if shift < 64 {
        let (whole, rest) = (number.significand >> shift, number.significand & ((1 << shift) - 1));
        let half = 1 << (shift - 1);
        match rounding {
            FloatRounding::By(Rounding::TowardZero) => return signed(whole.into()),
            FloatRounding::By(Rounding::HalfEven) => {
                let up = rest > half || rest == half && whole & 1 == 1;
                return signed(i128::from(whole) + i128::from(up));
            }
            _ => {}
        }
    }
    // Beyond 66 bits the number is a fraction below one half, which is all that matters to a deterministic rounding.
    let (near, few) = if shift > 66 { (signed(1), 2) } else { (signed(magnitude), shift) };
    match rounding {
        FloatRounding::By(rounding) => rounding.shift_right(near, few),
        FloatRounding::Ceil => -Rounding::Floor.shift_right(-near, few),
        FloatRounding::Stochastic(word) => {
            let known = magnitude.checked_shr(shift.saturating_sub(63)).unwrap_or(0);
            signed(stochastic_shift_right(known, shift.min(63), word))
        }
    }
}

impl Dyadic {
    /// Returns the exponent of the leading bit, or `None` for zero.
    pub fn leading_exponent(self) -> Option<i32> {
        self.significand.checked_ilog2().map(|bit| self.exponent + bit as i32)
    }

    /// Returns the number's exact value if it has at most 53 significant bits and lies within the range of `f64`.
    pub fn value(self) -> f64 {
        let magnitude = self.significand as f64 * 2f64.powi(self.exponent);
        if self.negative { -magnitude } else { magnitude }
    }
}

impl From<f64> for Decoded {
    fn from(value: f64) -> Self {
        let negative = value.is_sign_negative();
        if value.is_nan() {
            return Self::Nan;
        }
        if value.is_infinite() {
            return Self::Infinite { negative };
        }
        let field = (value.to_bits() >> 52 & 0x7FF) as i32;
        let fraction = value.to_bits() & ((1 << 52) - 1);
        let significand = if field == 0 { fraction } else { fraction | 1 << 52 };
        Self::Finite(Dyadic { negative, significand, exponent: field.max(1) - 1075 })
    }
}

impl fmt::Display for FloatFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
