//! Runs of an innermost level.

use super::{Lanes, Row, Vector};

/// What the runs of one block's dot products came to.
pub(crate) struct RunsOut<'s> {
    /// Run by run: exact sums, and what the hardware holds.
    pub exact: &'s mut [Vector<i32>],
    pub held: &'s mut [Vector<i32>],
    /// Overflows above and below.
    pub counts: [&'s mut Lanes; 2],
    /// Least and greatest of all exact prefixes, or nodes; where they are asked for.
    pub prefixes: Option<[&'s mut Lanes; 2]>,
    /// Overflows of trees, product by product: those of the additions that end with it. Of chains one row for each of
    /// [`noted_parts`], with a bit per product, the last one the lowest. Empty if nobody asks.
    pub log: &'s mut [Row],
}

/// Steps whose overflows are noted in the bits of a lane.
pub(crate) const NOTED: usize = 16;

/// The products of runs of `length` each, in parts of which bits of a lane note the overflows.
pub(crate) fn noted_parts(products: usize, length: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..products).step_by(length).flat_map(move |begin| {
        let end = products.min(begin + length);
        (begin..end).step_by(NOTED).map(move |from| from..end.min(from + NOTED))
    })
}

/// Longest runs of trees that are stepped two windows to a lane.
pub(crate) const PAIR_TREE: usize = 64;

/// `i`, of which the compiler knows nothing: it shall make vectors of the lanes of one step, not of several steps.
#[inline(always)]
pub(crate) fn step_index(i: usize) -> usize {
    std::hint::black_box(i)
}

/// A tree of `values`, which it overwrites: adjacent pairs, round after round; an odd last value passes up unchanged.
/// `node` also gets the index of the last value that it contains.
#[inline(always)]
pub(crate) fn rounds<T: Copy>(values: &mut [T], mut node: impl FnMut(&T, &T, usize) -> T) -> T {
    let mut left = values.len();
    // Values in one value of this round.
    let mut width = 1;
    while left > 1 {
        let pairs = left / 2;
        for pair in 0..pairs {
            let pair = step_index(pair);
            let last = ((2 * pair + 2) * width).min(values.len()) - 1;
            let [left, right] = values.as_chunks().0[pair];
            values[pair] = node(&left, &right, last);
        }
        if left % 2 == 1 {
            values[pairs] = values[2 * pairs];
        }
        left = left.div_ceil(2);
        width *= 2;
    }
    values[0]
}
