//! Orders of addition that depend on the products, lane by lane: the orders of `reference/order.rs`. Products
//! of equal value are alike here.

use std::hint::select_unpredictable;

use guardbit_hwmodels::Walk;

use super::super::kernels::{LANES, Lane, Vector, sort as sort_rows};
use super::super::simd::Kernels;
use super::loops::widen;

/// Arranges products, which are given in the order of the flattened axes. `start` has the initial exact sums;
/// `spare` is room of its own, and so is `short`, if all products fit 16 bits.
#[inline(always)]
pub(super) fn arrange<V: Lane>(
    walk: &Walk,
    rows: &mut [Vector<V>],
    start: &Vector<V>,
    spare: &mut Vec<Vector<V>>,
    short: Option<(Kernels, &mut Vec<Vector<i16>>)>,
) {
    match walk {
        // Lowering has already ordered these.
        Walk::Forward | Walk::Reverse | Walk::Stride(_) | Walk::Random { .. } | Walk::File(_) => {}
        Walk::Sorted => sort(rows, short),
        Walk::SignPaired => {
            sort(rows, short);
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

/// Sorts every lane in ascending order.
#[inline(always)]
fn sort<V: Lane>(rows: &mut [Vector<V>], short: Option<(Kernels, &mut Vec<Vector<i16>>)>) {
    let Some((kernels, short)) = short else { return sort_rows(rows) };
    short.resize(rows.len(), Vector::ZERO);
    for (short, row) in short.iter_mut().zip(&*rows) {
        let mut narrow = Vector::ZERO;
        for l in 0..LANES {
            narrow[l] = row[l].short();
        }
        *short = narrow;
    }
    kernels.sort(short);
    for (row, short) in rows.iter_mut().zip(&*short) {
        *row = widen(short);
    }
}

/// Alternates positive and negative products by descending magnitude, followed by the rest of the longer list,
/// then zeros. `sorted` is ascending.
#[inline(always)]
fn pair_signs<V: Lane>(sorted: &[Vector<V>], rows: &mut [Vector<V>]) {
    let count = rows.len();
    let (mut negative, mut positive) = ([0; LANES], [0; LANES]);
    // Pairs that all lanes have, except for those without any product but 0.
    let mut shared = count / 2;
    for l in 0..LANES {
        negative[l] = sorted.partition_point(|row| row[l] < V::ZERO);
        positive[l] = count - sorted.partition_point(|row| row[l] <= V::ZERO);
        if negative[l] + positive[l] > 0 {
            shared = shared.min(negative[l]).min(positive[l]);
        }
    }
    for i in 0..shared {
        (rows[2 * i], rows[2 * i + 1]) = (sorted[count - 1 - i], sorted[i]);
    }
    for l in 0..LANES {
        let both = negative[l].min(positive[l]);
        for i in shared..both {
            (rows[2 * i][l], rows[2 * i + 1][l]) = (sorted[count - 1 - i][l], sorted[i][l]);
        }
        for i in both..positive[l] {
            rows[both + i][l] = sorted[count - 1 - i][l];
        }
        for i in both..negative[l] {
            rows[both + i][l] = sorted[i][l];
        }
        for row in negative[l] + positive[l]..count {
            rows[row][l] = V::ZERO;
        }
    }
}

/// Takes the next negative product while the sum is at least 0, otherwise the next other one, as long as there
/// are any. Without branches, because no processor could predict them.
#[inline(always)]
fn take_greedily<V: Lane>(products: &[Vector<V>], rows: &mut [Vector<V>], start: &Vector<V>) {
    /// Lanes whose steps overlap in time.
    const TOGETHER: usize = 2;
    let count = products.len();
    // Per lane, the negative products from the front on, the others from the back on.
    let mut parts = vec![V::ZERO; TOGETHER * count];
    for first in (0..LANES).step_by(TOGETHER) {
        let mut negative = [0; TOGETHER];
        for (k, product) in products.iter().enumerate() {
            for l in 0..TOGETHER {
                let (part, value) = (&mut parts[l * count..][..count], product[first + l]);
                let back = negative[l] + count - 1 - k;
                (part[negative[l]], part[back]) = (value, value);
                negative[l] += usize::from(value < V::ZERO);
            }
        }
        // Numbers of negative products that were taken.
        let mut taken = [0; TOGETHER];
        let mut sum = [V::ZERO; TOGETHER];
        sum.copy_from_slice(&start[first..first + TOGETHER]);
        let mut k = 0;
        loop {
            // As many steps have both kinds to choose from.
            let mut sure = usize::MAX;
            for l in 0..TOGETHER {
                let others = count - negative[l] - (k - taken[l]);
                sure = sure.min(negative[l] - taken[l]).min(others);
            }
            if sure == 0 {
                break;
            }
            for row in &mut rows[k..k + sure] {
                for l in 0..TOGETHER {
                    let is_negative = sum[l] >= V::ZERO;
                    let index = taken[l] + select_unpredictable(is_negative, 0, count - 1 - k);
                    row[first + l] = parts[l * count..][..count][index];
                    taken[l] += usize::from(is_negative);
                    sum[l] = sum[l].plus(row[first + l]);
                }
                k += 1;
            }
        }
        for (k, row) in rows.iter_mut().enumerate().skip(k) {
            for l in 0..TOGETHER {
                let are_left = [taken[l] < negative[l], k - taken[l] < count - negative[l]];
                let is_negative = are_left[0] & ((sum[l] >= V::ZERO) | !are_left[1]);
                let index = taken[l] + select_unpredictable(is_negative, 0, count - 1 - k);
                row[first + l] = parts[l * count..][..count][index];
                taken[l] += usize::from(is_negative);
                sum[l] = sum[l].plus(row[first + l]);
            }
        }
    }
}
