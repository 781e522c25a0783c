//! Runs of an innermost level.

use super::{Lanes, Row, Vector};

/// Results of the runs of one block's dot products.
pub(crate) struct RunsOut<'s> {
    /// Exact sums and values of the hardware, run by run.
    pub exact: &'s mut [Vector<i32>],
    pub held: &'s mut [Vector<i32>],
    /// Number of overflows above and below.
    pub counts: [&'s mut Lanes; 2],
    /// Least and greatest of all exact prefixes, or nodes, if requested.
    pub prefixes: Option<[&'s mut Lanes; 2]>,
    /// Overflow log; empty if not requested. For trees, it has a row per product: the overflows of the
    /// additions that end with it. For chains, it has one row for each of [`noted_parts`], with a bit per
    /// product, the last product in the lowest bit.
    pub log: &'s mut [Row],
}

/// Number of steps whose overflows are recorded in the bits of a lane.
pub(crate) const NOTED: usize = 16;

/// Returns the products of runs of `length` products each, in parts whose overflows fit the bits of a lane.
pub(crate) fn noted_parts(products: usize, length: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..products).step_by(length).flat_map(move |begin| {
        let end = products.min(begin + length);
        (begin..end).step_by(NOTED).map(move |from| from..end.min(from + NOTED))
    })
}

/// Greatest length of runs of trees that are stepped two windows per lane.
pub(crate) const PAIR_TREE: usize = 64;

/// Returns `i`, hidden from the compiler, so that it vectorizes over the lanes of one step and not over
/// several steps.
#[inline(always)]
pub(crate) fn step_index(i: usize) -> usize {
    std::hint::black_box(i)
}

/// Reduces `values`, which it overwrites, as a tree: adjacent pairs, round after round; an odd last value
/// passes up unchanged. `node` also receives the index of the last value that it contains.
#[inline(always)]
pub(crate) fn rounds<T: Copy>(values: &mut [T], mut node: impl FnMut(&T, &T, usize) -> T) -> T {
    let mut left = values.len();
    // Number of values combined in one value of this round.
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
