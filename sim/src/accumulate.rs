//! Counts that are collected in parts and merged.

/// Counts that can be collected in parts, in any order, and merged.
///
/// Merging is associative and commutative, and an empty value is neutral. Results therefore depend neither on
/// the number of threads nor on how work is divided.
pub trait Accumulate: Sized {
    /// Returns an empty value of equal shape.
    fn empty(&self) -> Self;

    /// Adds the counts of another part of equal shape.
    fn merge(&mut self, other: Self);
}

/// Implements merging of plain numbers by addition.
macro_rules! sums {
    ($($ty:ty)*) => {$(
        impl Accumulate for $ty {
            fn empty(&self) -> Self {
                0
            }

            fn merge(&mut self, other: Self) {
                *self += other;
            }
        }
    )*};
}

sums!(u64 u128);

/// Lists are merged entry by entry.
impl<T: Accumulate> Accumulate for Vec<T> {
    fn empty(&self) -> Self {
        self.iter().map(T::empty).collect()
    }

    fn merge(&mut self, other: Self) {
        debug_assert_eq!(self.len(), other.len(), "all parts have the same shape");
        self.iter_mut().zip(other).for_each(|(mine, others)| mine.merge(others));
    }
}

impl<T: Accumulate, const N: usize> Accumulate for [T; N] {
    fn empty(&self) -> Self {
        self.each_ref().map(T::empty)
    }

    fn merge(&mut self, other: Self) {
        self.iter_mut().zip(other).for_each(|(mine, others)| mine.merge(others));
    }
}

/// An absent value counts as empty.
impl<T: Accumulate> Accumulate for Option<T> {
    fn empty(&self) -> Self {
        self.as_ref().map(T::empty)
    }

    fn merge(&mut self, other: Self) {
        match (self.as_mut(), other) {
            (Some(mine), Some(others)) => mine.merge(others),
            (None, others) => *self = others,
            (Some(_), None) => {}
        }
    }
}

/// Implements [`Accumulate`] for a type that is merged field by field.
///
/// ```
/// use guardbit_sim::{Accumulate, accumulate_fields};
///
/// struct Counts {
///     seen: u64,
///     per_class: Vec<u64>,
/// }
/// accumulate_fields!(Counts { seen, per_class });
///
/// let mut all = Counts { seen: 1, per_class: vec![1, 0] };
/// all.merge(Counts { seen: 2, per_class: vec![0, 2] });
/// assert_eq!((all.seen, all.per_class), (3, vec![1, 2]));
/// ```
#[macro_export]
macro_rules! accumulate_fields {
    ($ty:ident { $($field:ident),* $(,)? }) => {
        impl $crate::Accumulate for $ty {
            fn empty(&self) -> Self {
                Self { $($field: $crate::Accumulate::empty(&self.$field)),* }
            }

            fn merge(&mut self, other: Self) {
                let Self { $($field),* } = other;
                $($crate::Accumulate::merge(&mut self.$field, $field);)*
            }
        }
    };
}
