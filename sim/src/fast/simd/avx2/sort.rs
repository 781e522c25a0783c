//! Sorts every lane of rows, eight rows in registers at a time.

use std::arch::x86_64::*;

use super::super::super::kernels::Vector;
use super::{load_row, store_row};

/// Number of rows in registers.
const GROUP: usize = 8;

/// Rows in registers, ascending: every `step`th one from the first on, and up to the last.
#[derive(Clone, Copy)]
struct Group {
    first: usize,
    last: usize,
    step: usize,
}

impl Group {
    /// Returns equally distant rows.
    fn of(first: usize, step: usize) -> Self {
        Self { first, last: first + (GROUP - 1) * step, step }
    }

    fn row(self, i: usize) -> usize {
        if i < GROUP / 2 { self.first + i * self.step } else { self.last - (GROUP - 1 - i) * self.step }
    }
}

/// Defines functions that put pairs of eight rows into order, one pair after the other. Rows beyond the last one count as
/// greater than any.
macro_rules! networks {
    ($($(#[$doc:meta])* $name:ident: $($low:literal $high:literal),*;)*) => {
        $(
            $(#[$doc])*
            #[inline]
            #[target_feature(enable = "avx2")]
            fn $name(rows: &mut [Vector<i16>], group: Group) {
                if group.last < rows.len() {
                    let mut held = [_mm256_setzero_si256(); GROUP];
                    for (i, held) in held.iter_mut().enumerate() {
                        // SAFETY: no row of the group is beyond the last one, which exists.
                        *held = load_row(unsafe { rows.get_unchecked(group.row(i)) });
                    }
                    $((held[$low], held[$high]) = ordered(held[$low], held[$high]);)*
                    for (i, held) in held.into_iter().enumerate() {
                        // SAFETY: as above.
                        store_row(unsafe { rows.get_unchecked_mut(group.row(i)) }, held);
                    }
                } else {
                    for (low, high) in [$(($low, $high)),*] {
                        let (low, high) = (group.row(low), group.row(high));
                        if high < rows.len() {
                            let (less, greater) = ordered(load_row(&rows[low]), load_row(&rows[high]));
                            store_row(&mut rows[low], less);
                            store_row(&mut rows[high], greater);
                        }
                    }
                }
            }
        )*
    };
}

networks! {
    /// Sorts eight rows (Batcher's odd-even merge sort).
    sort_eight: 0 1, 2 3, 4 5, 6 7, 0 2, 1 3, 4 6, 5 7, 1 2, 5 6, 0 4, 1 5, 2 6, 3 7, 2 4, 3 5, 1 2, 3 4, 5 6;
    /// Compares mirror images, and then rows at half and at a quarter of the distance.
    merge_eight: 0 7, 1 6, 2 5, 3 4, 0 2, 1 3, 4 6, 5 7, 0 1, 2 3, 4 5, 6 7;
    /// Compares rows at some distance, at half of it and at a quarter.
    halve_eight: 0 4, 1 5, 2 6, 3 7, 0 2, 1 3, 4 6, 5 7, 0 1, 2 3, 4 5, 6 7;
    halve_four: 0 2, 1 3, 4 6, 5 7, 0 1, 2 3, 4 5, 6 7;
    halve_two: 0 1, 2 3, 4 5, 6 7;
}

/// Returns the smaller and the greater value of each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn ordered(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    (_mm256_min_epi16(a, b), _mm256_max_epi16(a, b))
}

/// Sorts every lane in ascending order: a bitonic merge sort (K. E. Batcher, "Sorting networks and their applications",
/// 1968) in which the smaller value always moves to the lower row, so that the number of rows may be any.
#[target_feature(enable = "avx2")]
pub(crate) fn sort(rows: &mut [Vector<i16>]) {
    let count = rows.len();
    for first in (0..count).step_by(GROUP) {
        sort_eight(rows, Group::of(first, 1));
    }
    let mut sorted = GROUP;
    while sorted < count {
        for begin in (0..count - sorted).step_by(2 * sorted) {
            merge(rows, begin, sorted);
        }
        sorted *= 2;
    }
}

/// Merges two sorted parts of `sorted` rows; the second one may be shorter.
#[inline]
#[target_feature(enable = "avx2")]
fn merge(rows: &mut [Vector<i16>], begin: usize, sorted: usize) {
    let end = rows.len().min(begin + 2 * sorted);
    let quarter = sorted / 4;
    for i in 0..quarter {
        merge_eight(rows, Group { first: begin + i, last: begin + 2 * sorted - 1 - i, step: quarter });
    }
    let mut distance = quarter / 2;
    while distance >= GROUP / 2 {
        for part in (begin..end).step_by(2 * distance) {
            for first in part..part + distance / 4 {
                halve_eight(rows, Group::of(first, distance / 4));
            }
        }
        distance /= GROUP;
    }
    for first in (begin..end).step_by(GROUP) {
        match distance {
            0 => {}
            1 => halve_two(rows, Group::of(first, 1)),
            _ => halve_four(rows, Group::of(first, 1)),
        }
    }
}
