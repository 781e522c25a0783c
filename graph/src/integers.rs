//! Integers of a constant on the fewest bytes.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// Integers of at most 32 bits, on the fewest bytes that hold all of them. Clones share them.
///
/// They serialize as a list of numbers, whatever their width.
#[derive(Debug, Clone)]
pub struct Integers(Stored);

#[derive(Debug, Clone)]
enum Stored {
    I8(Arc<[i8]>),
    U8(Arc<[u8]>),
    I16(Arc<[i16]>),
    I32(Arc<[i32]>),
}

/// Consecutive integers as they are stored.
#[derive(Debug, Clone, Copy)]
pub enum IntegerSlice<'a> {
    /// On one byte each.
    I8(&'a [i8]),
    /// On one byte each, without a sign.
    U8(&'a [u8]),
    /// On two bytes each.
    I16(&'a [i16]),
    /// On four bytes each.
    I32(&'a [i32]),
}

/// Evaluates an expression with the elements of a slice, whatever their width.
macro_rules! with_elements {
    ($slice:expr, $elements:ident => $value:expr) => {
        match $slice {
            IntegerSlice::I8($elements) => $value,
            IntegerSlice::U8($elements) => $value,
            IntegerSlice::I16($elements) => $value,
            IntegerSlice::I32($elements) => $value,
        }
    };
}

impl Integers {
    /// Returns words of four bytes, whatever their values: those of float32, which are read as they are stored.
    pub(crate) fn words(words: Vec<i32>) -> Self {
        Self(Stored::I32(words.into()))
    }

    /// Returns these integers on four bytes each.
    pub(crate) fn widened(self) -> Self {
        match self.0 {
            Stored::I32(_) => self,
            _ => Self::words(self.to_vec()),
        }
    }

    /// Returns the number of integers.
    pub fn len(&self) -> usize {
        self.all().len()
    }

    /// Returns whether there are no integers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the integer at `index`.
    ///
    /// # Panics
    /// If there is none.
    pub fn at(&self, index: usize) -> i32 {
        self.all().at(index)
    }

    /// Returns all integers as they are stored.
    pub fn all(&self) -> IntegerSlice<'_> {
        match &self.0 {
            Stored::I8(values) => IntegerSlice::I8(values),
            Stored::U8(values) => IntegerSlice::U8(values),
            Stored::I16(values) => IntegerSlice::I16(values),
            Stored::I32(values) => IntegerSlice::I32(values),
        }
    }

    /// Returns consecutive integers as they are stored.
    ///
    /// # Panics
    /// If there are none at these indices.
    pub fn slice(&self, range: Range<usize>) -> IntegerSlice<'_> {
        match &self.0 {
            Stored::I8(values) => IntegerSlice::I8(&values[range]),
            Stored::U8(values) => IntegerSlice::U8(&values[range]),
            Stored::I16(values) => IntegerSlice::I16(&values[range]),
            Stored::I32(values) => IntegerSlice::I32(&values[range]),
        }
    }

    /// Returns an iterator over the integers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = i32> + Clone + '_ {
        let all = self.all();
        (0..self.len()).map(move |index| all.at(index))
    }

    /// Returns the integers on four bytes each.
    pub fn to_vec(&self) -> Vec<i32> {
        self.all().to_vec()
    }

    /// Returns the integers on four bytes each. They are copied unless they are stored so.
    pub fn to_words(&self) -> Cow<'_, [i32]> {
        self.all().to_words()
    }

    /// Returns the least and the greatest integer, `None` if there is none.
    pub fn range(&self) -> Option<(i32, i32)> {
        self.all().range()
    }

    /// Returns the least and the greatest integer that their width could hold.
    pub(crate) fn limits(&self) -> (i32, i32) {
        match &self.0 {
            Stored::I8(_) => (i8::MIN.into(), i8::MAX.into()),
            Stored::U8(_) => (0, u8::MAX.into()),
            Stored::I16(_) => (i16::MIN.into(), i16::MAX.into()),
            Stored::I32(_) => (i32::MIN, i32::MAX),
        }
    }

    /// Returns the integers at the given indices.
    ///
    /// # Panics
    /// If there are none at these indices.
    pub fn at_all(&self, places: impl Iterator<Item = usize>) -> Self {
        // Fewer integers may fit fewer bytes.
        match &self.0 {
            Stored::I8(values) => Self(Stored::I8(places.map(|at| values[at]).collect())),
            _ => places.map(|at| self.at(at)).collect(),
        }
    }

    /// Returns whether both are clones of the same integers.
    pub fn is_shared_with(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Stored::I8(a), Stored::I8(b)) => Arc::ptr_eq(a, b),
            (Stored::U8(a), Stored::U8(b)) => Arc::ptr_eq(a, b),
            (Stored::I16(a), Stored::I16(b)) => Arc::ptr_eq(a, b),
            (Stored::I32(a), Stored::I32(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl<'a> IntegerSlice<'a> {
    /// Returns the number of integers.
    pub fn len(self) -> usize {
        with_elements!(self, values => values.len())
    }

    /// Returns whether there are no integers.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the integer at `index`.
    ///
    /// # Panics
    /// If there is none.
    pub fn at(self, index: usize) -> i32 {
        match self {
            Self::I8(values) => values[index].into(),
            Self::U8(values) => values[index].into(),
            Self::I16(values) => values[index].into(),
            Self::I32(values) => values[index],
        }
    }

    /// Returns the integers on four bytes each.
    pub fn to_vec(self) -> Vec<i32> {
        self.to_words().into_owned()
    }

    /// Returns the integers on four bytes each. They are copied unless they are stored so.
    pub fn to_words(self) -> Cow<'a, [i32]> {
        match self {
            Self::I8(values) => values.iter().map(|&value| value.into()).collect(),
            Self::U8(values) => values.iter().map(|&value| value.into()).collect(),
            Self::I16(values) => values.iter().map(|&value| value.into()).collect(),
            Self::I32(values) => Cow::Borrowed(values),
        }
    }

    /// Returns the least and the greatest integer, `None` if there is none.
    pub fn range(self) -> Option<(i32, i32)> {
        fn of<T: Copy + Ord + Into<i32>>(values: &[T]) -> Option<(i32, i32)> {
            let least = values.iter().copied().min()?;
            let greatest = values.iter().copied().max()?;
            Some((least.into(), greatest.into()))
        }
        with_elements!(self, values => of(values))
    }
}

impl PartialEq for Integers {
    fn eq(&self, other: &Self) -> bool {
        match (self.all(), other.all()) {
            (IntegerSlice::I8(a), IntegerSlice::I8(b)) => a == b,
            (IntegerSlice::U8(a), IntegerSlice::U8(b)) => a == b,
            (IntegerSlice::I16(a), IntegerSlice::I16(b)) => a == b,
            (IntegerSlice::I32(a), IntegerSlice::I32(b)) => a == b,
            // Words may be wider than they need to be.
            _ => self.iter().eq(other.iter()),
        }
    }
}

impl Eq for Integers {}

impl PartialEq<[i32]> for Integers {
    fn eq(&self, other: &[i32]) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

impl<const N: usize> PartialEq<[i32; N]> for Integers {
    fn eq(&self, other: &[i32; N]) -> bool {
        *self == other[..]
    }
}

impl Default for Integers {
    fn default() -> Self {
        Self(Stored::I8(Arc::default()))
    }
}

impl From<&[i32]> for Integers {
    fn from(values: &[i32]) -> Self {
        // Both ends at once, without an early exit, so that the compiler can vectorize the loop.
        let ends = |(least, greatest): (i32, i32), &value: &i32| (least.min(value), greatest.max(value));
        Self(match Width::of(values.iter().fold((0, 0), ends)) {
            Width::I8 => Stored::I8(values.iter().map(|&value| value as i8).collect()),
            Width::U8 => Stored::U8(values.iter().map(|&value| value as u8).collect()),
            Width::I16 => Stored::I16(values.iter().map(|&value| value as i16).collect()),
            Width::I32 => Stored::I32(values.into()),
        })
    }
}

impl From<Vec<i32>> for Integers {
    fn from(values: Vec<i32>) -> Self {
        values.as_slice().into()
    }
}

impl FromIterator<i8> for Integers {
    fn from_iter<Values: IntoIterator<Item = i8>>(values: Values) -> Self {
        Self(Stored::I8(values.into_iter().collect()))
    }
}

impl FromIterator<i32> for Integers {
    fn from_iter<Values: IntoIterator<Item = i32>>(values: Values) -> Self {
        let mut values = values.into_iter();
        let mut made = IntegerList::with_capacity(values.size_hint().0);
        // Parts that stay in the fastest cache.
        let mut part = Vec::with_capacity(1024);
        loop {
            part.clear();
            part.extend(values.by_ref().take(1024));
            if part.is_empty() {
                return made.into();
            }
            made.extend(&part);
        }
    }
}

impl Serialize for Integers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Every width has the text of numbers of 32 bits.
        fn list<T: Copy + Into<i32>, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(values.iter().map(|&value| -> i32 { value.into() }))
        }
        with_elements!(self.all(), values => list(values, serializer))
    }
}

/// A width of stored integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Width {
    I8,
    U8,
    I16,
    I32,
}

impl Width {
    /// Returns the least width that holds all integers from `least` to `greatest`.
    fn of((least, greatest): (i32, i32)) -> Self {
        let within = |low: i32, high: i32| low <= least && greatest <= high;
        match () {
            () if within(i8::MIN.into(), i8::MAX.into()) => Self::I8,
            () if within(0, u8::MAX.into()) => Self::U8,
            () if within(i16::MIN.into(), i16::MAX.into()) => Self::I16,
            () => Self::I32,
        }
    }
}

/// A growing list of integers, on the fewest bytes that hold those added so far.
#[derive(Debug)]
pub struct IntegerList {
    values: Values,
    /// The least and the greatest integer, and 0.
    ends: (i32, i32),
    capacity: usize,
}

#[derive(Debug)]
enum Values {
    I8(Vec<i8>),
    U8(Vec<u8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
}

impl IntegerList {
    /// Creates a list with room for `capacity` integers.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { values: Values::I8(Vec::with_capacity(capacity)), ends: (0, 0), capacity }
    }

    /// Adds integers.
    pub fn extend(&mut self, part: &[i32]) {
        let before = Width::of(self.ends);
        for &value in part {
            self.ends = (self.ends.0.min(value), self.ends.1.max(value));
        }
        let width = Width::of(self.ends);
        if width != before {
            self.widen(width);
        }
        match &mut self.values {
            Values::I8(values) => values.extend(part.iter().map(|&value| value as i8)),
            Values::U8(values) => values.extend(part.iter().map(|&value| value as u8)),
            Values::I16(values) => values.extend(part.iter().map(|&value| value as i16)),
            Values::I32(values) => values.extend_from_slice(part),
        }
    }

    /// Stores the integers on another width, which holds all of them.
    fn widen(&mut self, width: Width) {
        fn all<From: Copy, To>(from: &[From], capacity: usize, convert: impl Fn(From) -> To) -> Vec<To> {
            let mut to = Vec::with_capacity(capacity.max(from.len()));
            to.extend(from.iter().map(|&value| convert(value)));
            to
        }
        fn to<From: Copy + Into<i32>>(from: &[From], width: Width, capacity: usize) -> Values {
            match width {
                Width::I8 => Values::I8(all(from, capacity, |value| value.into() as i8)),
                Width::U8 => Values::U8(all(from, capacity, |value| value.into() as u8)),
                Width::I16 => Values::I16(all(from, capacity, |value| value.into() as i16)),
                Width::I32 => Values::I32(all(from, capacity, |value| value.into())),
            }
        }
        self.values = match &self.values {
            Values::I8(values) => to(values, width, self.capacity),
            Values::U8(values) => to(values, width, self.capacity),
            Values::I16(values) => to(values, width, self.capacity),
            Values::I32(values) => to(values, width, self.capacity),
        };
    }
}

impl From<IntegerList> for Integers {
    fn from(list: IntegerList) -> Self {
        Self(match list.values {
            Values::I8(values) => Stored::I8(values.into()),
            Values::U8(values) => Stored::U8(values.into()),
            Values::I16(values) => Stored::I16(values.into()),
            Values::I32(values) => Stored::I32(values.into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of bytes of each integer, negative without a sign.
    fn bytes(integers: &Integers) -> i32 {
        match integers.all() {
            IntegerSlice::I8(_) => 1,
            IntegerSlice::U8(_) => -1,
            IntegerSlice::I16(_) => 2,
            IntegerSlice::I32(_) => 4,
        }
    }

    /// Integers come back as they were, on as few bytes as hold them, however they were given.
    #[test]
    fn integers_come_back_on_the_fewest_bytes() {
        let all: [(&[i32], i32); 9] = [
            (&[], 1),
            (&[-128, 127, 0, 1], 1),
            (&[128, 3, 0, 255], -1),
            (&[-129, 127, 0, 1], 2),
            (&[128, -1, 0, 1], 2),
            (&[256, 0, 1, 2], 2),
            (&[i16::MAX as i32, i16::MIN as i32, 0, 0], 2),
            (&[32768, i32::MIN, i32::MAX, 0], 4),
            (&[0, 0, 0, -32769], 4),
        ];
        for (values, width) in all {
            let mut list = IntegerList::with_capacity(values.len());
            values.iter().for_each(|&value| list.extend(&[value]));
            let words = Integers::words(values.to_vec());
            for made in [values.into(), values.iter().copied().collect(), Integers::from(list)] {
                assert_eq!(bytes(&made), width, "{values:?}");
                assert_eq!(made.to_vec(), values);
                assert_eq!(made.iter().collect::<Vec<_>>(), values);
                assert!((0..values.len()).all(|at| made.at(at) == values[at]));
                let range = values.iter().min().copied().zip(values.iter().max().copied());
                assert_eq!(made.range(), range);
                let (least, greatest) = made.limits();
                assert!(values.iter().all(|value| (least..=greatest).contains(value)));
                assert!(made == words && made == *values && made.clone().widened() == words);
                let reversed: Integers = values.iter().rev().copied().collect();
                assert_eq!(made.at_all((0..values.len()).rev()), reversed);
                let texts = [serde_json::to_string(&made).unwrap(), serde_json::to_string(values).unwrap()];
                assert_eq!(texts[0], texts[1]);
            }
        }
    }

    /// Every way to widen a list keeps what it holds.
    #[test]
    fn lists_widen() {
        let steps = [1, 200, 300, -1, 70_000];
        let also = [-1, 255, -129, 1 << 20];
        for all in [&steps[..], &also[..]] {
            for from in 0..all.len() {
                let mut list = IntegerList::with_capacity(1);
                all[from..].chunks(2).for_each(|part| list.extend(part));
                assert!(Integers::from(list) == all[from..]);
            }
        }
    }

    #[test]
    fn clones_share() {
        for values in [[1, 2], [1, 200], [1, 1000], [1, 100_000]] {
            let made = Integers::from(&values[..]);
            assert!(made.is_shared_with(&made.clone()));
            assert!(!made.is_shared_with(&Integers::from(&values[..])));
        }
    }
}
