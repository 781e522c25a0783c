//! The innermost level on 16-bit lanes, with its unbounded values on wider ones.

use super::super::kernels::{
    Activations, CHOSEN, Counts, EXACT, LANES, LATCHED, Lane, Mode, NOTED, Rails, Row, SATURATE, Vector,
    WRAP, add, step_index, with_mode,
};
use super::kernel::Products;
use super::loops::{Values, tree, tree_extremes, widen};
use super::scratch::{RunLog, Seen};

/// Reduces a run of a serial level on 16-bit lanes, with unbounded values on wider ones. If all statistics
/// are requested, `bits` receives the overflows of every [`NOTED`] products.
#[inline(always)]
pub(super) fn serial_sixteen<X: Activations, V: Lane>(
    rails: &Rails<i16>,
    run: Products<'_, X>,
    full: bool,
    seen: &mut Seen<V>,
    counts: &mut Counts<i16>,
    bits: &mut [Row],
) -> (Vector<V>, Vector<V>) {
    if full {
        with_mode!(rails.mode, serial_sixteen_full::<X, V>(rails, run, seen, counts, bits))
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
    let (mut held, mut free, mut counted) = (Vector::ZERO, Vector::ONES, *counts);
    let mut sum = Vector::<V>::ZERO;
    for i in 0..run.end - run.begin {
        let product = run.at(i);
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
    bits: &mut [Row],
) -> (Vector<V>, Vector<V>) {
    let (mut held, mut free, mut counted) = (Vector::ZERO, Vector::ONES, *counts);
    let mut sum = Vector::<V>::ZERO;
    let mut extremes = seen.prefixes;
    let count = run.end - run.begin;
    for (bits, from) in bits.iter_mut().zip((0..count).step_by(NOTED)) {
        let mut noted = [0; LANES];
        for i in from..count.min(from + NOTED) {
            let product: Vector<i16> = run.at(i);
            let misfit;
            (held, misfit) = add::<i16, MODE>(rails, &held, &product, &mut free, &mut counted);
            for l in 0..LANES {
                noted[l] = (noted[l] << 1) - misfit[l];
                sum[l] = sum[l].plus(V::of_product(product[l]));
                extremes.min[l] = extremes.min[l].min(sum[l]);
                extremes.max[l] = extremes.max[l].max(sum[l]);
            }
        }
        *bits = noted;
    }
    seen.prefixes = extremes;
    *counts = counted;
    (sum, widen(&held))
}

/// Reduces a run of a tree on 16-bit lanes, with unbounded values on wider ones.
#[inline(always)]
pub(super) fn tree_sixteen<X: Activations, V: Lane>(
    rails: &Rails<i16>,
    run: Products<'_, X>,
    full: bool,
    seen: &mut Seen<V>,
    counts: &mut Counts<i16>,
    (narrow, unbounded): (&mut Vec<Vector<i16>>, &mut Vec<Vector<V>>),
    mut log: RunLog<'_>,
) -> (Vector<V>, Vector<V>) {
    let count = run.end - run.begin;
    narrow.resize(count, Vector::ZERO);
    let mut sum = Vector::ZERO;
    for from in (0..count).step_by(ShortSum::PRODUCTS) {
        let mut part = ShortSum::ZERO;
        for i in from..count.min(from + ShortSum::PRODUCTS) {
            let i = step_index(i);
            let product = run.at(i);
            narrow[i] = product;
            part.take(&product);
        }
        part.add_to(&mut sum);
    }
    if full {
        unbounded.clear();
        for row in &*narrow {
            unbounded.push(widen(row));
        }
        tree_extremes(unbounded, &mut seen.prefixes);
    }
    // A single value is not a node.
    let held = with_mode!(rails.mode, tree::<i16>(rails, narrow, counts, log.rows()));
    (sum, widen(&held))
}

/// Exact sum of a few products on lanes of their own width. It follows from its low 16 bits and the sum of
/// the products' upper bytes, because the lower bytes add less than 2^15 to the latter.
struct ShortSum {
    low: Vector<i16>,
    upper: Vector<i16>,
}

impl ShortSum {
    /// Greatest number of products.
    const PRODUCTS: usize = 128;
    const ZERO: Self = Self { low: Vector::ZERO, upper: Vector::ZERO };

    #[inline(always)]
    fn take(&mut self, product: &Vector<i16>) {
        for l in 0..LANES {
            self.low[l] = self.low[l].wrapping_add(product[l]);
            self.upper[l] += product[l] >> 8;
        }
    }

    #[inline(always)]
    fn add_to<V: Lane>(&self, sum: &mut Vector<V>) {
        for l in 0..LANES {
            let rest = self.low[l].wrapping_sub(self.upper[l] << 8);
            sum[l] = sum[l].plus(V::product(self.upper[l], 256)).plus(V::of_product(rest));
        }
    }
}
