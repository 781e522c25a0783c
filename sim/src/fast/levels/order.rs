//! Orders of addition that depend on the products, lane by lane: the orders of `reference/order.rs`. Products
//! of equal value are alike here.

use guardbit_hwmodels::Walk;

use super::super::kernels::{LANES, Vector};
use super::lane::Lane;

/// Arranges products, which are given in the order of the flattened axes. `start` has the initial exact sums;
/// `spare` is room of its own.
#[inline(always)]
pub(super) fn arrange<V: Lane>(
    walk: &Walk,
    rows: &mut [Vector<V>],
    start: &Vector<V>,
    spare: &mut Vec<Vector<V>>,
) {
    match walk {
        // Lowering has already ordered these.
        Walk::Forward | Walk::Reverse | Walk::Stride(_) | Walk::Random { .. } | Walk::File(_) => {}
        Walk::Sorted => sort(rows),
        Walk::SignPaired => {
            sort(rows);
            spare.clear();
            spare.extend_from_slice(rows);
            pair_signs(spare, rows);
        }
        Walk::Greedy => {
            spare.clear();
            spare.extend_from_slice(rows);
            take_greedily(spare, rows, start);
        }
    }
}

/// Sorts every lane in ascending order: Batcher's odd-even merge sort, whose comparisons do not depend on the
/// values.
#[inline(always)]
fn sort<V: Lane>(rows: &mut [Vector<V>]) {
    let count = rows.len();
    let mut sorted = 1;
    while sorted < count {
        let mut distance = sorted;
        while distance > 0 {
            for begin in (distance % sorted..count.saturating_sub(distance)).step_by(2 * distance) {
                for left in begin..(begin + distance).min(count - distance) {
                    let right = left + distance;
                    if left / (2 * sorted) == right / (2 * sorted) {
                        let (a, b) = (rows[left], rows[right]);
                        for l in 0..LANES {
                            rows[left][l] = a[l].min(b[l]);
                            rows[right][l] = a[l].max(b[l]);
                        }
                    }
                }
            }
            distance /= 2;
        }
        sorted *= 2;
    }
}

/// Alternates positive and negative products by descending magnitude, followed by the rest of the longer list,
/// then zeros. `sorted` is ascending.
#[inline(always)]
fn pair_signs<V: Lane>(sorted: &[Vector<V>], rows: &mut [Vector<V>]) {
    let count = rows.len();
    for l in 0..LANES {
        let negative = sorted.partition_point(|row| row[l] < V::ZERO);
        let positive = count - sorted.partition_point(|row| row[l] <= V::ZERO);
        let both = negative.min(positive);
        for (i, row) in rows.iter_mut().enumerate() {
            row[l] = match i {
                _ if i < 2 * both && i % 2 == 0 => sorted[count - 1 - i / 2][l],
                _ if i < 2 * both => sorted[i / 2][l],
                _ if i < both + positive => sorted[count - 1 - (i - both)][l],
                _ if i < both + negative => sorted[i - both][l],
                _ => V::ZERO,
            };
        }
    }
}

/// Takes the next negative product while the sum is at least 0, otherwise the next other one, as long as there
/// are any.
#[inline(always)]
fn take_greedily<V: Lane>(products: &[Vector<V>], rows: &mut [Vector<V>], start: &Vector<V>) {
    let mut parts: [Vec<V>; 2] = Default::default();
    for l in 0..LANES {
        parts.iter_mut().for_each(Vec::clear);
        for product in products {
            parts[usize::from(product[l] >= V::ZERO)].push(product[l]);
        }
        let mut taken = [0; 2];
        let mut sum = start[l];
        for row in &mut *rows {
            let wanted = usize::from(sum < V::ZERO);
            let part = if taken[wanted] < parts[wanted].len() { wanted } else { 1 - wanted };
            row[l] = parts[part][taken[part]];
            taken[part] += 1;
            sum = sum.plus(row[l]);
        }
    }
}
