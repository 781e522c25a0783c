//! The innermost level on 16-bit lanes, its counterpart on wider ones.

use super::super::kernels::{Activations, LANES, Row, step_index};
use super::kernel::Products;
use super::lane::{
    CHOSEN, Counts, EXACT, LATCHED, Lane, Mode, Rails, SATURATE, Vector, WRAP, add, with_mode,
};
use super::loops::{Values, note, tree, tree_extremes, widen};
use super::scratch::{RunLog, Seen};

/// A run of a serial level on 16-bit lanes, its counterpart on wider ones.
#[inline(always)]
pub(super) fn serial_sixteen<X: Activations, V: Lane>(
    rails: &Rails<i16>,
    run: Products<'_, X>,
    full: bool,
    seen: &mut Seen<V>,
    counts: &mut Counts<i16>,
    mut log: RunLog<'_>,
) -> (Vector<V>, Vector<V>) {
    if full {
        with_mode!(rails.mode, serial_sixteen_full::<X, V>(rails, run, seen, counts, log.rows()))
    } else {
        with_mode!(rails.mode, serial_sixteen_events::<X, V>(rails, run, counts))
    }
}

#[inline(always)]
fn serial_sixteen_events<X: Activations, V: Lane, const MODE: u8>(
    rails: &Rails<i16>,
    run: Products<'_, X>,
    counts: &mut Counts<i16>,
) -> (Vector<V>, Vector<V>) {
    let (mut held, mut free, mut counted) = ([0; LANES], [-1; LANES], *counts);
    let mut sum = [V::ZERO; LANES];
    for i in 0..run.end - run.begin {
        let product: Row = run.at(i);
        (held, _) = add::<i16, MODE>(rails, &held, &product, &mut free, &mut counted);
        for l in 0..LANES {
            sum[l] = sum[l].plus(V::of_product(product[l]));
        }
    }
    *counts = counted;
    (sum, widen(&held))
}

#[inline(always)]
fn serial_sixteen_full<X: Activations, V: Lane, const MODE: u8>(
    rails: &Rails<i16>,
    run: Products<'_, X>,
    seen: &mut Seen<V>,
    counts: &mut Counts<i16>,
    log: &mut [Row],
) -> (Vector<V>, Vector<V>) {
    let (mut held, mut free, mut counted) = ([0; LANES], [-1; LANES], *counts);
    let mut sum = [V::ZERO; LANES];
    let mut extremes = seen.prefixes;
    for i in 0..run.end - run.begin {
        let product: Row = run.at(i);
        let misfit;
        (held, misfit) = add::<i16, MODE>(rails, &held, &product, &mut free, &mut counted);
        note(&mut log[i], &misfit);
        for l in 0..LANES {
            sum[l] = sum[l].plus(V::of_product(product[l]));
            extremes.min[l] = extremes.min[l].min(sum[l]);
            extremes.max[l] = extremes.max[l].max(sum[l]);
        }
    }
    seen.prefixes = extremes;
    *counts = counted;
    (sum, widen(&held))
}

/// A run of a tree on 16-bit lanes, its counterpart on wider ones.
#[inline(always)]
pub(super) fn tree_sixteen<X: Activations, V: Lane>(
    rails: &Rails<i16>,
    run: Products<'_, X>,
    full: bool,
    seen: &mut Seen<V>,
    counts: &mut Counts<i16>,
    (narrow, unbounded): (&mut Vec<Row>, &mut Vec<Vector<V>>),
    mut log: RunLog<'_>,
) -> (Vector<V>, Vector<V>) {
    let count = run.end - run.begin;
    narrow.resize(count, [0; LANES]);
    let mut sum = [V::ZERO; LANES];
    for i in 0..count {
        let i = step_index(i);
        let product: Row = run.at(i);
        narrow[i] = product;
        for l in 0..LANES {
            sum[l] = sum[l].plus(V::of_product(product[l]));
        }
    }
    if full {
        unbounded.clear();
        for row in &*narrow {
            unbounded.push(widen(row));
        }
        tree_extremes(unbounded, &mut seen.prefixes);
    }
    // A lone value is not a node.
    let held = with_mode!(rails.mode, tree::<i16>(rails, narrow, counts, log.rows()));
    (sum, widen(&held))
}
