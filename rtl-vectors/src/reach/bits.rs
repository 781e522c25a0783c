//! Sets of integers, a bit per integer.

use std::rc::Rc;

use guardbit_hwmodels::bounds::Range;

/// Greatest number of integers from the least to the greatest one of a set.
const MAX_SPAN: i128 = 1 << 22;

/// Set of integers that are near each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bits {
    /// Integer of the first bit.
    base: i128,
    words: Vec<u64>,
}

/// Number of words that may still be computed.
#[derive(Debug)]
pub(crate) struct Effort(pub usize);

impl Effort {
    /// Takes `words` off; `None` if that is more than is left.
    fn take(&mut self, words: usize) -> Option<()> {
        self.0 = self.0.checked_sub(words)?;
        Some(())
    }
}

impl Bits {
    /// Returns the empty set, which can hold the integers of `range`; `None` if these are too many.
    fn empty(range: Range, effort: &mut Effort) -> Option<Self> {
        let span = range.max.checked_sub(range.min)?;
        if !(0..MAX_SPAN).contains(&span) {
            return None;
        }
        let words = span as usize / 64 + 1;
        effort.take(words)?;
        Some(Self { base: range.min, words: vec![0; words] })
    }

    /// Returns the set of some integers of `range`.
    pub fn of(range: Range, values: impl Iterator<Item = i128>, effort: &mut Effort) -> Option<Self> {
        let mut bits = Self::empty(range, effort)?;
        for value in values {
            bits.insert(value);
            effort.take(1)?;
        }
        Some(bits)
    }

    /// Returns all integers of `range`.
    pub fn all(range: Range, effort: &mut Effort) -> Option<Self> {
        Self::of(range, range.min..=range.max, effort)
    }

    fn insert(&mut self, value: i128) {
        let bit = (value - self.base) as usize;
        self.words[bit / 64] |= 1 << (bit % 64);
    }

    /// Returns whether the set contains an integer.
    pub fn contains(&self, value: i128) -> bool {
        let Ok(bit) = usize::try_from(value - self.base) else { return false };
        self.words.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// Returns the integers in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = i128> {
        let base = self.base;
        self.words.iter().enumerate().flat_map(move |(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(base + index as i128 * 64 + i128::from(bit))
            })
        })
    }

    /// Returns the least range that contains the set; `None` if the set is empty.
    pub fn range(&self) -> Option<Range> {
        let first = self.words.iter().position(|&word| word != 0)?;
        let last = self.words.iter().rposition(|&word| word != 0)?;
        let bit = |index: usize, bit: u32| self.base + index as i128 * 64 + i128::from(bit);
        Some(Range {
            min: bit(first, self.words[first].trailing_zeros()),
            max: bit(last, 63 - self.words[last].leading_zeros()),
        })
    }

    /// Returns the union of both.
    pub fn or(&self, other: &Self, effort: &mut Effort) -> Option<Self> {
        let (Some(a), Some(b)) = (self.range(), other.range()) else {
            return Some(if other.range().is_none() { self.clone() } else { other.clone() });
        };
        let mut both = Self::empty(a.hull(b), effort)?;
        both.add_shifted(self, 0);
        both.add_shifted(other, 0);
        Some(both)
    }

    /// Returns the integers that `map` makes of those of the set.
    pub fn map(&self, map: impl Fn(i128) -> i128, effort: &mut Effort) -> Option<Self> {
        effort.take(self.len())?;
        let range = self.iter().map(|value| Range::point(map(value))).reduce(Range::hull)?;
        Self::of(range, self.iter().map(map), effort)
    }

    fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns the sums of an integer of each set.
    pub fn plus(&self, other: &Self, effort: &mut Effort) -> Option<Self> {
        let mut sums = Self::empty(self.range()?.plus(other.range()?), effort)?;
        // Of the set with fewer stretches of integers, all those of a stretch are added at once.
        let [a, b] = [self.stretches(), other.stretches()];
        let (stretches, addend) = if a.len() <= b.len() { (a, other) } else { (b, self) };
        let mut spread: Option<(usize, Rc<Self>)> = None;
        for (first, count) in stretches {
            let rounds = 2 + count.ilog2() as usize;
            effort.take(addend.words.len() * rounds)?;
            let wide = match spread.take().filter(|(known, _)| *known == count) {
                Some((_, wide)) => wide,
                None => Rc::new(addend.spread(count, effort)?),
            };
            sums.add_shifted(&wide, first);
            spread = Some((count, wide));
        }
        Some(sums)
    }

    /// Returns the first integer of every stretch of adjacent ones, with their number.
    fn stretches(&self) -> Vec<(i128, usize)> {
        let mut found: Vec<(i128, usize)> = Vec::new();
        for value in self.iter() {
            match found.last_mut() {
                Some((first, count)) if *first + *count as i128 == value => *count += 1,
                _ => found.push((value, 1)),
            }
        }
        found
    }

    /// Returns the sums of an integer of the set and one of 0 to `count - 1`.
    fn spread(&self, count: usize, effort: &mut Effort) -> Option<Self> {
        let mut wide = self.clone();
        let mut have = 1;
        while have < count {
            let step = have.min(count - have);
            let range = wide.range()?;
            let mut next = Self::empty(Range { max: range.max + step as i128, ..range }, effort)?;
            next.add_shifted(&wide, 0);
            next.add_shifted(&wide, step as i128);
            wide = next;
            have += step;
        }
        Some(wide)
    }

    /// Adds the integers of `other`, each greater by `by`.
    fn add_shifted(&mut self, other: &Self, by: i128) {
        let offset = other.base + by - self.base;
        let (whole, bits) = (offset.div_euclid(64), offset.rem_euclid(64) as u32);
        for (index, &word) in other.words.iter().enumerate().filter(|(_, word)| **word != 0) {
            let at = whole + index as i128;
            let parts = [(at, word << bits), (at + 1, if bits == 0 { 0 } else { word >> (64 - bits) })];
            for (at, part) in parts.into_iter().filter(|(_, part)| *part != 0) {
                self.words[at as usize] |= part;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn bits(values: &BTreeSet<i128>) -> Bits {
        let range = values.iter().map(|&value| Range::point(value)).reduce(Range::hull).unwrap();
        Bits::of(range, values.iter().copied(), &mut Effort(1 << 20)).unwrap()
    }

    fn sets() -> impl Strategy<Value = BTreeSet<i128>> {
        prop_oneof![
            prop::collection::btree_set(-200i128..200, 1..40),
            (-200i128..200, 1i128..150).prop_map(|(first, count)| (first..first + count).collect()),
        ]
    }

    proptest! {
        /// Operations on bits are those on sets.
        #[test]
        fn bits_are_sets(a in sets(), b in sets(), divisor in 1i128..9) {
            let effort = &mut Effort(1 << 20);
            let (x, y) = (bits(&a), bits(&b));
            prop_assert!(x.iter().eq(a.iter().copied()));
            let sums: BTreeSet<i128> = a.iter().flat_map(|a| b.iter().map(move |b| a + b)).collect();
            let found = x.plus(&y, effort).unwrap();
            prop_assert!(found.iter().eq(sums.iter().copied()));
            prop_assert!((-500..500).all(|value| found.contains(value) == sums.contains(&value)));
            prop_assert!(x.or(&y, effort).unwrap().iter().eq(a.union(&b).copied()));
            let mapped: BTreeSet<i128> = a.iter().map(|value| value / divisor).collect();
            prop_assert!(x.map(|value| value / divisor, effort).unwrap().iter().eq(mapped.iter().copied()));
        }
    }
}
