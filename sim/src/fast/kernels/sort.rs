//! Sorts every lane of rows.

use super::vector::InVector;
use super::{LANES, Vector};

/// Sorts every lane in ascending order: Batcher's odd-even merge sort, whose comparisons do not depend on the
/// values.
#[inline(always)]
pub(crate) fn sort<V: InVector + Ord>(rows: &mut [Vector<V>]) {
    let count = rows.len();
    let mut sorted = 1;
    while sorted < count {
        let mut distance = sorted;
        while distance > 0 {
            for begin in (distance % sorted..count.saturating_sub(distance)).step_by(2 * distance) {
                // Both are in the same part that is being merged, or none of these pairs is.
                if begin ^ (begin + distance) >= 2 * sorted {
                    continue;
                }
                let (lower, upper) = rows[begin..].split_at_mut(distance);
                for (low, high) in lower.iter_mut().zip(upper) {
                    let (a, b) = (*low, *high);
                    for l in 0..LANES {
                        low[l] = a[l].min(b[l]);
                        high[l] = a[l].max(b[l]);
                    }
                }
            }
            distance /= 2;
        }
        sorted *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::simd::{Kernels, available};
    use super::*;
    use crate::options::Isa;

    /// Words, and zeros and ones in several proportions.
    #[test]
    fn every_number_of_rows_is_sorted() {
        let mut state = 1u32;
        for count in (0..70).chain([127, 128, 129, 200, 576]) {
            let mut rows: Vec<Vector<i16>> = vec![Vector::new([0; LANES]); count];
            for row in &mut rows {
                for l in 0..LANES {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let bit = i16::from(state >> 28 < l as u32);
                    row[l] = if l % 2 == 0 { (state >> 16) as i16 } else { bit };
                }
            }
            for isa in Isa::ALL.into_iter().filter(|&isa| available(isa)) {
                let mut sorted = rows.clone();
                Kernels::choose(Some(isa)).sort(&mut sorted);
                for l in 0..LANES {
                    let mut lane: Vec<i16> = rows.iter().map(|row| row[l]).collect();
                    lane.sort_unstable();
                    assert!(
                        lane.iter().eq(sorted.iter().map(|row| &row[l])),
                        "{count} rows, lane {l}, {isa:?}"
                    );
                }
            }
        }
    }
}
