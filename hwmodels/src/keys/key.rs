//! Kinds of keys: the form of a value in a file, the allowed values, and the value used in computations.

use std::ops::RangeInclusive;

use guardbit_graph::MAX_ELEMENTS;
use guardbit_num::{MAX_BITS, MIN_BITS};

use crate::file::{BiasBits, Bits, Integer, Name, Number, PortFile, TermsFile};
use crate::names::Named;

/// Least and greatest size or rate; six decimals are significant.
pub(crate) const DECIMALS: RangeInclusive<f64> = 0.000_001..=1e9;

/// Greatest length of a run: the number of elements of the largest tensor.
pub(crate) const MAX_TERMS: i64 = MAX_ELEMENTS as i64;

/// Value in the form of a file.
pub(crate) trait FileValue {
    /// Range given by a row, in addition to the type.
    type Range;

    /// Describes the allowed values; the text follows "it must be".
    fn allowed(range: Self::Range) -> String;

    /// Returns the range as text, if there is one.
    fn span(_range: Self::Range) -> Option<String> {
        None
    }
}

/// Value in the form used in computations.
pub(crate) trait Key: Sized {
    /// Form of the value in a file.
    type File: FileValue;

    /// Returns the value, or a description of the value found if it is out of range.
    fn checked(value: Self::File, range: <Self::File as FileValue>::Range) -> Result<Self, String>;

    /// Returns the value in the form of a file.
    fn to_file(self) -> Self::File;
}

/// Returns e.g. `a whole number from 1 to 64`.
fn range(range: RangeInclusive<i64>) -> String {
    if range.start() == range.end() {
        return range.start().to_string();
    }
    format!("a whole number from {} to {}", range.start(), range.end())
}

/// Least and greatest width.
const WIDTHS: RangeInclusive<i64> = MIN_BITS as i64..=MAX_BITS as i64;

fn widths() -> String {
    range(WIDTHS)
}

fn decimals() -> Option<String> {
    Some(format!("{}..={}; six decimals are significant", DECIMALS.start(), DECIMALS.end()))
}

impl FileValue for Integer {
    type Range = RangeInclusive<i64>;

    fn allowed(allowed: Self::Range) -> String {
        range(allowed)
    }

    fn span(range: Self::Range) -> Option<String> {
        (range.start() < range.end()).then(|| format!("{}..={}", range.start(), range.end()))
    }
}

/// Implements [`FileValue`] for value types without a range.
macro_rules! file_values {
    ($($ty:ty: $allowed:expr, $span:expr;)*) => {$(
        impl FileValue for $ty {
            type Range = ();

            fn allowed((): ()) -> String {
                $allowed
            }

            fn span((): ()) -> Option<String> {
                $span
            }
        }
    )*};
}

file_values! {
    Number: format!("a number from {} to {}", DECIMALS.start(), DECIMALS.end()), decimals();
    PortFile: format!(
        "a number from {} to {}, or a formula of rows, cols, dot_width and cores, e.g. `4 * cols`",
        DECIMALS.start(),
        DECIMALS.end()
    ), decimals();
    bool: "true or false".into(), None;
    Bits: format!("`auto` or {}", widths()), Integer::span(WIDTHS);
    BiasBits: format!("`from_model`, `auto` or {}", widths()), Integer::span(WIDTHS);
    TermsFile: format!("rows, cols, dot_width, all or {}", range(1..=MAX_TERMS)), Integer::span(1..=MAX_TERMS);
}

/// List of names in a given order.
impl<T: Named> FileValue for Vec<Name<T>> {
    type Range = ();

    fn allowed((): ()) -> String {
        T::allowed()
    }
}

impl<T: Named> FileValue for Name<T> {
    type Range = ();

    fn allowed((): ()) -> String {
        T::allowed()
    }
}

/// Returns the number if it lies in the range.
pub(crate) fn integer(Integer(value): Integer, range: RangeInclusive<i64>) -> Result<i64, String> {
    if range.contains(&value) { Ok(value) } else { Err(value.to_string()) }
}

/// Implements [`Key`] for counts. No range contains a negative number or one beyond their type.
macro_rules! counts {
    ($($ty:ty)*) => {$(
        impl Key for $ty {
            type File = Integer;

            fn checked(value: Integer, range: RangeInclusive<i64>) -> Result<Self, String> {
                let checked = integer(value, range)?;
                Self::try_from(checked).map_err(|_| checked.to_string())
            }

            fn to_file(self) -> Integer {
                Integer(i64::try_from(self).unwrap_or(i64::MAX))
            }
        }
    )*};
}

counts!(usize u32 u64);

/// Implements [`Key`] for bounds and lengths, for which 0 means none.
macro_rules! bounds {
    ($($ty:ty)*) => {$(
        impl Key for Option<$ty> {
            type File = Integer;

            fn checked(value: Integer, range: RangeInclusive<i64>) -> Result<Self, String> {
                <$ty>::checked(value, range).map(|bound| (bound > 0).then_some(bound))
            }

            fn to_file(self) -> Integer {
                self.unwrap_or(0).to_file()
            }
        }
    )*};
}

bounds!(usize u64);

/// Sizes and rates.
impl Key for f64 {
    type File = Number;

    fn checked(Number(value): Number, (): ()) -> Result<Self, String> {
        if DECIMALS.contains(&value) {
            return Ok(value);
        }
        let far = value != 0.0 && value.is_finite() && !(1e-9..1e15).contains(&value.abs());
        Err(if far { format!("{value:e}") } else { value.to_string() })
    }

    fn to_file(self) -> Number {
        Number(self)
    }
}

impl Key for bool {
    type File = Self;

    fn checked(value: Self, (): ()) -> Result<Self, String> {
        Ok(value)
    }

    fn to_file(self) -> Self {
        self
    }
}

/// Choices.
impl<T: Named> Key for T {
    type File = Name<T>;

    fn checked(Name(value): Name<T>, (): ()) -> Result<Self, String> {
        Ok(value)
    }

    fn to_file(self) -> Name<T> {
        Name(self)
    }
}
