//! Ranges of 64-bit integers.

/// All integers from `least` to `greatest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub least: i64,
    pub greatest: i64,
}

impl Span {
    pub const ZERO: Self = Self { least: 0, greatest: 0 };

    pub const fn new(least: i64, greatest: i64) -> Self {
        Self { least, greatest }
    }

    /// Returns the integers whose magnitude is at most `magnitude`.
    pub const fn within(magnitude: i64) -> Self {
        Self::new(-magnitude, magnitude)
    }

    /// Returns the greatest magnitude.
    pub fn magnitude(self) -> i64 {
        self.least.abs().max(self.greatest.abs())
    }

    /// Returns whether `T` holds every integer.
    pub fn fits<T: TryFrom<i64>>(self) -> bool {
        T::try_from(self.least).is_ok() && T::try_from(self.greatest).is_ok()
    }

    /// Returns the products of the integers with `factor`.
    pub fn times(self, factor: i64) -> Self {
        let ends = [self.least * factor, self.greatest * factor];
        Self::new(ends[0].min(ends[1]), ends[0].max(ends[1]))
    }
}
