//! Loops over the values of one run, lane by lane.

use super::super::kernels::{Counts, Extremes, LANES, Lane, Rails, Row, Vector, add, rounds, step_index};
use super::plan::Start;

/// Values that are reduced one after the other.
pub(super) trait Values<V: Lane>: Copy {
    /// Returns the number of values.
    fn count(self) -> usize;
    fn at(self, i: usize) -> Vector<V>;
}

impl<V: Lane> Values<V> for &[Vector<V>] {
    #[inline(always)]
    fn count(self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn at(self, i: usize) -> Vector<V> {
        self[i]
    }
}

/// Returns the exact sum.
#[inline(always)]
pub(super) fn add_up<V: Lane>(values: impl Values<V>, start: Vector<V>) -> Vector<V> {
    let mut sum = start;
    for i in 0..values.count() {
        let value = values.at(step_index(i));
        for l in 0..LANES {
            sum[l] = sum[l].plus(value[l]);
        }
    }
    sum
}

/// Returns the sums of the negative and of the positive values. Every prefix in any order, and every node of
/// any tree, lies between the two.
#[inline(always)]
pub(super) fn bounds<V: Lane>(values: impl Values<V>) -> Extremes<V> {
    let mut sums = Extremes::<V>::ZERO;
    for i in 0..values.count() {
        let value = values.at(step_index(i));
        for l in 0..LANES {
            sums.max[l] = sums.max[l].plus(value[l].max(V::ZERO));
            sums.min[l] = sums.min[l].plus(value[l].min(V::ZERO));
        }
    }
    sums
}

/// Returns the exact sum and records the extremes of its prefixes.
#[inline(always)]
pub(super) fn walk<V: Lane>(
    values: impl Values<V>,
    start: Vector<V>,
    prefixes: &mut Extremes<V>,
) -> Vector<V> {
    let mut sum = start;
    let mut extremes = *prefixes;
    for i in 0..values.count() {
        let value = values.at(i);
        for l in 0..LANES {
            sum[l] = sum[l].plus(value[l]);
            extremes.min[l] = extremes.min[l].min(sum[l]);
            extremes.max[l] = extremes.max[l].max(sum[l]);
        }
    }
    *prefixes = extremes;
    sum
}

/// Adds overflows to a row of a log.
#[inline(always)]
pub(super) fn note<V: Lane>(row: &mut Row, misfit: &Vector<V>) {
    for l in 0..LANES {
        row[l] = row[l].wrapping_sub(misfit[l].short());
    }
}

/// Steps the narrow register, addition by addition.
#[inline(always)]
pub(super) fn step<V: Lane, S: Values<V>, const MODE: u8>(
    rails: &Rails<V>,
    values: S,
    start: &Start<V>,
    counts: &mut Counts<V>,
    log: &mut [Row],
) -> Vector<V> {
    match log {
        [] => step_logged::<V, S, MODE, false>(rails, values, start, counts, log),
        log => step_logged::<V, S, MODE, true>(rails, values, start, counts, log),
    }
}

#[inline(always)]
fn step_logged<V: Lane, S: Values<V>, const MODE: u8, const LOG: bool>(
    rails: &Rails<V>,
    values: S,
    start: &Start<V>,
    counts: &mut Counts<V>,
    log: &mut [Row],
) -> Vector<V> {
    // The compiler knows that nothing changes a copy.
    let rails = &{ *rails };
    let (mut held, mut free, mut counted) = (start.held, start.free, *counts);
    for i in 0..values.count() {
        let misfit;
        (held, misfit) = add::<V, MODE>(rails, &held, &values.at(i), &mut free, &mut counted);
        if LOG {
            note(&mut log[i], &misfit);
        }
    }
    *counts = counted;
    held
}

/// Computes the nodes of a tree, round by round.
#[inline(always)]
pub(super) fn tree<V: Lane, const MODE: u8>(
    rails: &Rails<V>,
    values: &mut [Vector<V>],
    counts: &mut Counts<V>,
    log: &mut [Row],
) -> Vector<V> {
    match log {
        [] => tree_logged::<V, MODE, false>(rails, values, counts, log),
        log => tree_logged::<V, MODE, true>(rails, values, counts, log),
    }
}

#[inline(always)]
fn tree_logged<V: Lane, const MODE: u8, const LOG: bool>(
    rails: &Rails<V>,
    values: &mut [Vector<V>],
    counts: &mut Counts<V>,
    log: &mut [Row],
) -> Vector<V> {
    // The compiler knows that nothing changes a copy.
    let rails = &{ *rails };
    let mut counted = *counts;
    let held = rounds(values, |left, right, last| {
        // Nodes have no state in common.
        let mut free = Vector::ONES;
        let (node, misfit) = add::<V, MODE>(rails, left, right, &mut free, &mut counted);
        if LOG {
            note(&mut log[last], &misfit);
        }
        node
    });
    *counts = counted;
    held
}

/// Returns the exact sum, and records the extremes of the nodes.
#[inline(always)]
pub(super) fn tree_extremes<V: Lane>(values: &mut [Vector<V>], prefixes: &mut Extremes<V>) -> Vector<V> {
    let mut extremes = *prefixes;
    let sum = rounds(values, |left, right, _| {
        let mut node = Vector::ZERO;
        for l in 0..LANES {
            node[l] = left[l].plus(right[l]);
        }
        extremes.take(&node);
        node
    });
    *prefixes = extremes;
    sum
}

/// Returns the sum and records extremes like `tree_extremes`, but keeps the values and writes to `nodes`.
#[inline(always)]
pub(super) fn tree_extremes_beside<V: Lane>(
    values: &[Vector<V>],
    nodes: &mut [Vector<V>],
    prefixes: &mut Extremes<V>,
) -> Vector<V> {
    let (pairs, odd) = values.as_chunks::<2>();
    let nodes = &mut nodes[..pairs.len() + odd.len()];
    let mut extremes = *prefixes;
    for pair in 0..pairs.len() {
        let pair = step_index(pair);
        let [left, right] = pairs[pair];
        let mut node = Vector::ZERO;
        for l in 0..LANES {
            node[l] = left[l].plus(right[l]);
        }
        extremes.take(&node);
        nodes[pair] = node;
    }
    if let Some(&odd) = odd.first() {
        nodes[pairs.len()] = odd;
    }
    *prefixes = extremes;
    tree_extremes(nodes, prefixes)
}

/// Returns the values on wider lanes.
#[inline(always)]
pub(super) fn widen<V: Lane>(row: &Vector<i16>) -> Vector<V> {
    let mut wide = Vector::ZERO;
    for l in 0..LANES {
        wide[l] = V::of_product(row[l]);
    }
    wide
}
