//! Which codes a tensor may hold.

use std::fmt;
use std::ops::RangeInclusive;

use guardbit_num::required_bits;

use crate::DType;

/// The codes from `min` to `max`: those of a dtype, or fewer (a restricted range `[-127, 127]`, activations of 5 bits).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct CodeRange {
    min: i32,
    max: i32,
}

impl CodeRange {
    /// The codes from `min` to `max`; `None` if there are none.
    pub fn new(min: i32, max: i32) -> Option<Self> {
        (min <= max).then_some(Self { min, max })
    }

    /// All codes of a dtype.
    pub fn of(dtype: DType) -> Self {
        Self { min: dtype.min(), max: dtype.max() }
    }

    /// Least code.
    pub fn min(self) -> i32 {
        self.min
    }

    /// Greatest code.
    pub fn max(self) -> i32 {
        self.max
    }

    /// Least and greatest code.
    pub fn ends(self) -> (i32, i32) {
        (self.min, self.max)
    }

    /// All codes in order.
    pub fn codes(self) -> RangeInclusive<i32> {
        self.min..=self.max
    }

    /// Whether `code` is one of them.
    pub fn contains(self, code: i32) -> bool {
        self.codes().contains(&code)
    }

    /// Whether all codes of `other` are among them.
    pub fn includes(self, other: Self) -> bool {
        self.min <= other.min && other.max <= self.max
    }

    /// The nearest code.
    pub fn clamp(self, value: i128) -> i32 {
        value.clamp(self.min.into(), self.max.into()) as i32
    }

    /// The least width that holds every code: two's complement if one is negative, else plain binary.
    pub fn bits(self) -> u32 {
        let signed = self.min < 0;
        required_bits(self.min.into(), signed).max(required_bits(self.max.into(), signed))
    }

    /// The low bits of a value in a register of [`bits`](Self::bits) bits; what is no code even then becomes the nearest
    /// one.
    pub fn wrap(self, value: i128) -> i32 {
        let least = if self.min < 0 { -(1i128 << (self.bits() - 1)) } else { 0 };
        self.clamp((value - least).rem_euclid(1 << self.bits()) + least)
    }
}

impl From<DType> for CodeRange {
    fn from(dtype: DType) -> Self {
        Self::of(dtype)
    }
}

impl fmt::Display for CodeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.min, self.max)
    }
}

/// The type of a tensor's codes in words: `int8`, or `int8 [-127, 127]` where not all of its codes are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeType {
    /// The dtype.
    pub dtype: DType,
    /// What it may hold of it.
    pub range: CodeRange,
}

impl fmt::Display for CodeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.range == CodeRange::of(self.dtype) {
            true => self.dtype.fmt(f),
            false => write!(f, "{} {}", self.dtype, self.range),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(min: i32, max: i32) -> CodeRange {
        CodeRange::new(min, max).unwrap()
    }

    #[test]
    fn widths_of_ranges() {
        for ((min, max), bits) in [
            ((-128, 127), 8),
            ((-127, 127), 8),
            ((-16, 15), 5),
            ((-1, 1), 2),
            ((0, 31), 5),
            ((0, 30), 5),
            ((0, 1), 1),
            ((0, 0), 1),
            ((3, 4), 3),
            ((i32::MIN, i32::MAX), 32),
        ] {
            assert_eq!(range(min, max).bits(), bits, "{min} to {max}");
        }
        assert_eq!(CodeRange::new(1, 0), None);
    }

    #[test]
    fn low_bits_of_values() {
        let wrapped = |min, max, value| range(min, max).wrap(value);
        assert_eq!([16, -17, 33, 15].map(|v| wrapped(-16, 15, v)), [-16, 15, 1, 15]);
        assert_eq!([32, -1, 33].map(|v| wrapped(0, 31, v)), [0, 31, 1]);
        // -128 has 8 bits and is no code of a restricted range.
        assert_eq!([128, -128, -129, 255].map(|v| wrapped(-127, 127, v)), [-127, -127, 127, -1]);
        assert_eq!([128, 300, -129].map(|v| wrapped(-128, 127, v)), [-128, 44, 127]);
    }

    #[test]
    fn words_for_types() {
        let of = |range| CodeType { dtype: DType::Int8, range }.to_string();
        assert_eq!(of(CodeRange::of(DType::Int8)), "int8");
        assert_eq!(of(range(-127, 127)), "int8 [-127, 127]");
    }
}
