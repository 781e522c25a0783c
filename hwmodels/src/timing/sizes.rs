//! Saturating products of sizes, and sequences of sizes.

/// Sequence of sizes in run-length form: few distinct sizes, each repeated many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Runs([(usize, usize); 4]);

impl Runs {
    /// Returns the single size `size`, or an empty sequence if it is 0.
    pub fn one(size: usize) -> Self {
        let mut runs = [(0, 0); 4];
        runs[0] = (usize::from(size > 0), size);
        Self(runs)
    }

    /// Returns the sizes of the pieces of at most `most` that `whole` is cut into, the smaller one last.
    pub fn cut(whole: usize, most: usize) -> Self {
        Self::one(most).times(whole / most).and(Self::one(whole % most))
    }

    /// Returns the sequence repeated `count` times.
    pub fn times(self, count: usize) -> Self {
        Self(self.0.map(|(own, size)| (times([own, count]), size)))
    }

    /// Appends another sequence; at most four distinct sizes in total.
    pub fn and(self, other: Self) -> Self {
        let mut both = [(0, 0); 4];
        let parts = self.0.into_iter().chain(other.0).filter(|(count, _)| *count > 0);
        both.iter_mut().zip(parts).for_each(|(to, part)| *to = part);
        Self(both)
    }

    /// Applies a function to every size.
    pub fn map(self, size: impl Fn(usize) -> usize) -> Self {
        Self(self.0.map(|(count, own)| (count, if count > 0 { size(own) } else { 0 })))
    }

    /// Returns the number of sizes.
    pub fn count(&self) -> usize {
        self.0.iter().map(|(count, _)| *count).fold(0, usize::saturating_add)
    }

    /// Returns the sum of all sizes.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|&(count, size)| product([count, size])).fold(0, u64::saturating_add)
    }

    /// Returns the largest size; 0 if there is none.
    pub fn most(&self) -> usize {
        self.0.iter().map(|(_, size)| *size).max().unwrap_or(0)
    }
}

/// Returns the number of pairs of a fold and a group that it touches, for `all` values in folds of `fold` and
/// groups of `group`. A fold touches one group more than it contains group borders.
pub(super) fn touched(all: usize, fold: usize, group: usize) -> usize {
    if all == 0 {
        return 0;
    }
    let inside = |length: usize| (all - 1) / length.max(1);
    let both = match lcm(fold, group.max(1)) {
        Some(length) => inside(length),
        None => 0,
    };
    all.div_ceil(fold) + inside(group) - both
}

fn lcm(a: usize, b: usize) -> Option<usize> {
    let (mut gcd, mut rest) = (a, b);
    while rest != 0 {
        (gcd, rest) = (rest, gcd % rest);
    }
    (a / gcd).checked_mul(b)
}

/// Returns the product of sizes, saturated.
pub(super) fn product<const N: usize>(sizes: [usize; N]) -> u64 {
    sizes.into_iter().fold(1, |all, size| all.saturating_mul(size as u64))
}

/// Returns the product of sizes as a `usize`, saturated.
pub(super) fn times<const N: usize>(sizes: [usize; N]) -> usize {
    sizes.into_iter().fold(1, usize::saturating_mul)
}
