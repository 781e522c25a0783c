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
                    // Both are in the same part that is being merged.
                    if left ^ right < 2 * sorted {
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
        for i in 0..both {
            (rows[2 * i][l], rows[2 * i + 1][l]) = (sorted[count - 1 - i][l], sorted[i][l]);
        }
        for i in both..positive {
            rows[both + i][l] = sorted[count - 1 - i][l];
        }
        for i in both..negative {
            rows[both + i][l] = sorted[i][l];
        }
        rows[negative + positive..].iter_mut().for_each(|row| row[l] = V::ZERO);
    }
}

/// Takes the next negative product while the sum is at least 0, otherwise the next other one, as long as there
/// are any. Without branches, because no processor could predict them.
#[inline(always)]
fn take_greedily<V: Lane>(products: &[Vector<V>], rows: &mut [Vector<V>], start: &Vector<V>) {
    // Products by lane, the negative ones first, each kind followed by room for one more.
    let room = products.len() + 1;
    let mut parts = vec![V::ZERO; 2 * LANES * room];
    let mut counts = [[0; LANES]; 2];
    for product in products {
        for l in 0..LANES {
            let is_other = usize::from(product[l] >= V::ZERO);
            parts[2 * l * room + counts[0][l]] = product[l];
            parts[(2 * l + 1) * room + counts[1][l]] = product[l];
            counts[0][l] += 1 - is_other;
            counts[1][l] += is_other;
        }
    }
    let (mut taken, mut sum) = ([[0; LANES]; 2], *start);
    for row in rows {
        for l in 0..LANES {
            let wanted = (sum[l] >= V::ZERO) | (taken[1][l] == counts[1][l]);
            let is_other = usize::from(!(wanted & (taken[0][l] < counts[0][l])));
            row[l] = parts[(2 * l + is_other) * room + if is_other == 1 { taken[1][l] } else { taken[0][l] }];
            taken[0][l] += 1 - is_other;
            taken[1][l] += is_other;
            sum[l] = sum[l].plus(row[l]);
        }
    }
}
