//! The codes that a tensor may hold.

use std::fmt;
use std::iter::StepBy;
use std::ops::RangeInclusive;

use guardbit_num::required_bits;

use crate::DType;

/// The codes from `min` to `max`, at a distance of `step`.
///
/// They are all codes of a dtype, or fewer: a restricted range `[-127, 127]`, activations of 5 bits, or the bipolar
/// codes -1 and 1 with a step of 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct CodeRange {
    min: i32,
    max: i32,
    /// Skipped if it is 1, so that hashes from before steps existed stay valid.
    #[serde(skip_serializing_if = "is_one")]
    step: u32,
}

fn is_one(step: &u32) -> bool {
    *step == 1
}

impl CodeRange {
    /// The bipolar codes -1 and 1: one bit with a sign.
    pub const BIPOLAR: Self = Self { min: -1, max: 1, step: 2 };

    /// Returns the codes from `min` to `max`, or `None` if there are none.
    pub fn new(min: i32, max: i32) -> Option<Self> {
        (min <= max).then_some(Self { min, max, step: 1 })
    }

    /// Returns every `step`-th code, from the least to the greatest.
    ///
    /// Returns `None` unless the range is a whole number of steps, at least one.
    pub fn with_step(self, step: u32) -> Option<Self> {
        let whole = step > 0 && self.max > self.min && self.max.abs_diff(self.min).is_multiple_of(step);
        (step == 1 || whole).then_some(Self { step, ..self })
    }

    /// Returns all codes of a dtype.
    pub fn of(dtype: DType) -> Self {
        Self { min: dtype.min(), max: dtype.max(), step: 1 }
    }

    /// Returns the least code.
    pub fn min(self) -> i32 {
        self.min
    }

    /// Returns the greatest code.
    pub fn max(self) -> i32 {
        self.max
    }

    /// Returns the least and the greatest code.
    pub fn ends(self) -> (i32, i32) {
        (self.min, self.max)
    }

    /// Returns the distance between neighbouring codes, which is 1 except for codes such as the bipolar ones.
    pub fn step(self) -> u32 {
        self.step
    }

    /// Returns all codes in ascending order.
    pub fn codes(self) -> StepBy<RangeInclusive<i32>> {
        (self.min..=self.max).step_by(self.step as usize)
    }

    /// Returns whether `code` is in the range.
    pub fn contains(self, code: i32) -> bool {
        (self.min..=self.max).contains(&code) && self.is_on_step(code)
    }

    /// Returns whether all codes of `other` are in the range.
    pub fn includes(self, other: Self) -> bool {
        let steps = other.min == other.max || other.step.is_multiple_of(self.step);
        self.contains(other.min) && self.contains(other.max) && steps
    }

    /// Returns the nearest code. A tie goes to the greater code.
    pub fn clamp(self, value: i128) -> i32 {
        let within = value.clamp(self.min.into(), self.max.into()) as i32;
        if self.is_on_step(within) {
            return within;
        }
        let (from, step) = (i64::from(self.min), i64::from(self.step));
        (from + (i64::from(within) - from + step / 2) / step * step) as i32
    }

    fn is_on_step(self, code: i32) -> bool {
        self.step == 1 || code.abs_diff(self.min).is_multiple_of(self.step)
    }

    /// Returns the least width that holds every code, in two's complement if a code is negative, otherwise in
    /// unsigned binary.
    pub fn bits(self) -> u32 {
        let signed = self.min < 0;
        required_bits(self.min.into(), signed).max(required_bits(self.max.into(), signed))
    }

    /// Returns the low bits of a value in a register of [`bits`](Self::bits) bits. If they are not a code, returns
    /// the nearest one.
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

/// An empty range becomes the range of its start alone.
impl From<RangeInclusive<i32>> for CodeRange {
    fn from(codes: RangeInclusive<i32>) -> Self {
        let min = *codes.start();
        Self { min, max: min.max(*codes.end()), step: 1 }
    }
}

impl fmt::Display for CodeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { min, max, step } = *self;
        match step {
            1 => write!(f, "[{min}, {max}]"),
            _ if max.abs_diff(min) == step => write!(f, "{{{min}, {max}}}"),
            _ => write!(f, "[{min}, {max}] in steps of {step}"),
        }
    }
}

/// The type of a tensor's codes for display: `int8`, or `int8 [-127, 127]` for a restricted range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeType {
    /// The dtype.
    pub dtype: DType,
    /// The codes that are allowed.
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
    fn codes_in_steps() {
        let (bipolar, by_three) = (CodeRange::BIPOLAR, range(-4, 5).with_step(3).unwrap());
        assert_eq!(range(-1, 1).with_step(2), Some(bipolar));
        for (min, max, step) in [(-1, 1, 0), (-1, 1, 3), (0, 0, 2), (i32::MIN, i32::MAX, 2)] {
            assert_eq!(range(min, max).with_step(step), None, "{min} to {max} by {step}");
        }
        assert_eq!(bipolar.codes().collect::<Vec<_>>(), [-1, 1]);
        assert_eq!(by_three.codes().collect::<Vec<_>>(), [-4, -1, 2, 5]);
        // The nearest code; a tie goes to the greater one.
        for all in [bipolar, by_three] {
            for value in -9..=9 {
                let nearest = all.codes().min_by_key(|code| ((code - value).abs(), -code));
                assert_eq!(Some(all.clamp(value.into())), nearest, "{all}: {value}");
            }
            assert_eq!([i128::MIN, i128::MAX].map(|value| all.clamp(value)), [all.min(), all.max()]);
        }
        let widest = range(i32::MIN + 1, i32::MAX).with_step(2).unwrap();
        assert_eq!([i128::MIN, 0, i128::MAX].map(|value| widest.clamp(value)), [i32::MIN + 1, 1, i32::MAX]);
        assert_eq!([-1, 0, 1].map(|code| bipolar.contains(code)), [true, false, true]);
        assert!(range(-1, 1).includes(bipolar) && !bipolar.includes(range(-1, 1)));
        assert!(bipolar.includes(bipolar) && bipolar.includes(range(1, 1)) && !by_three.includes(bipolar));
        assert_eq!((bipolar.bits(), bipolar.wrap(0), bipolar.wrap(-2)), (2, 1, -1));
        assert_eq!([bipolar, by_three].map(|all| all.to_string()), ["{-1, 1}", "[-4, 5] in steps of 3"]);
    }

    #[test]
    fn low_bits_of_values() {
        let wrapped = |min, max, value| range(min, max).wrap(value);
        assert_eq!([16, -17, 33, 15].map(|v| wrapped(-16, 15, v)), [-16, 15, 1, 15]);
        assert_eq!([32, -1, 33].map(|v| wrapped(0, 31, v)), [0, 31, 1]);
        // -128 fits 8 bits and is not a code of a restricted range.
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
