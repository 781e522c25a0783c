//! Ranges of integers.

use guardbit_graph::CodeRange;
use guardbit_num::required_bits;

use crate::ShiftRounding;

/// All integers from `min` to `max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Range {
    /// Least integer.
    pub min: i128,
    /// Greatest integer.
    pub max: i128,
}

impl Range {
    /// Range that contains only 0.
    pub const ZERO: Self = Self { min: 0, max: 0 };

    /// Returns the range from `min` to `max`.
    pub fn new(min: impl Into<i128>, max: impl Into<i128>) -> Self {
        Self { min: min.into(), max: max.into() }
    }

    /// Returns the range of a single value.
    pub fn point(value: impl Into<i128>) -> Self {
        let value = value.into();
        Self { min: value, max: value }
    }

    /// Returns the range of all codes of a code range, or of a dtype.
    pub fn of_codes(codes: impl Into<CodeRange>) -> Self {
        let codes = codes.into();
        Self::new(codes.min(), codes.max())
    }

    /// Returns the smallest range that contains both.
    pub fn hull(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Returns the range of sums of one value of each.
    pub fn plus(self, other: Self) -> Self {
        Self { min: self.min + other.min, max: self.max + other.max }
    }

    /// Returns the range of products of one value of each. Its ends are among the four corners.
    pub fn times(self, other: Self) -> Self {
        let corners =
            [(self.min, other.min), (self.min, other.max), (self.max, other.min), (self.max, other.max)];
        corners.map(|(a, b)| Self::point(a * b)).into_iter().reduce(Self::hull).unwrap_or(Self::ZERO)
    }

    /// Returns the range of sums of `count` values.
    pub fn repeated(self, count: usize) -> Self {
        Self { min: self.min * count as i128, max: self.max * count as i128 }
    }

    /// Returns the range of all values shifted right by `shift`. All deterministic roundings are monotonic;
    /// with random rounding, both neighbours of a value are included.
    pub fn shift_right(self, shift: u32, round: impl Into<ShiftRounding>) -> Self {
        if shift == 0 {
            return self;
        }
        let round = round.into();
        Self {
            min: round.shift_right(self.min, shift, |_| 0),
            max: round.shift_right(self.max, shift, |_| u64::MAX),
        }
    }

    /// Returns the least width that holds every value, as counted by [`required_bits`].
    pub fn bits(self, signed: bool) -> u32 {
        required_bits(self.min, signed).max(required_bits(self.max, signed))
    }

    /// Returns whether every value of `other` lies within this range.
    pub fn contains(self, other: Self) -> bool {
        self.min <= other.min && other.max <= self.max
    }
}
