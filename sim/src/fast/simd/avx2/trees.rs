//! Trees of an innermost level, one window per vector.

use std::arch::x86_64::*;

use super::super::super::kernels::{LANES, PAIR_TREE, RunsOut, Vector};
use super::super::super::singles::SingleRuns;
use super::super::subtrees::{LEVELS, UNROLLED};
use super::activations::Placed;
use super::runs::{Extremes, Finals, store_counts, store_run};
use super::{load_row, store_row, widen};

/// Reduces trees of two windows, of up to [`PAIR_TREE`] products each. Both rails lie within 16 bits.
///
/// # Panics
/// If a window does not lie within the cells, or there is no room for the results.
#[target_feature(enable = "avx2")]
pub(in super::super) fn trees<const WRAPS: bool, const OWN: bool>(
    runs: &SingleRuns<'_>,
    out: &mut [RunsOut<'_>; 2],
) {
    for (corner, out) in runs.corners.into_iter().zip(out) {
        match (out.prefixes.is_some(), out.log.is_empty()) {
            (false, _) => Tree::<WRAPS, OWN, false, false>::new(runs, corner).run(runs.length, out),
            (true, true) => Tree::<WRAPS, OWN, true, false>::new(runs, corner).run(runs.length, out),
            (true, false) => Tree::<WRAPS, OWN, true, true>::new(runs, corner).run(runs.length, out),
        }
    }
}

/// Value of the hardware, and the exact one if `FULL`.
type Value = (__m256i, [__m256i; 2]);

/// Reduces one tree after the other. `FULL` requests extremes of exact nodes, `LOG` overflows by product.
struct Tree<'r, const WRAPS: bool, const OWN: bool, const FULL: bool, const LOG: bool> {
    window: Placed<'r, OWN>,
    weights: &'r [Vector<i16>],
    /// First product.
    begin: usize,
    least: __m256i,
    most: __m256i,
    finals: Finals,
    extremes: Extremes,
    /// Overflows of a tree: those above in the high byte, all in the low byte.
    counts: __m256i,
    above: __m256i,
    below: __m256i,
    /// Overflows, per product, of the nodes that end with it.
    noted: [__m256i; PAIR_TREE],
}

impl<'r, const WRAPS: bool, const OWN: bool, const FULL: bool, const LOG: bool>
    Tree<'r, WRAPS, OWN, FULL, LOG>
{
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(runs: &SingleRuns<'r>, corner: usize) -> Self {
        let stepping = runs.stepping;
        let window = Placed::new(stepping.cells, corner, stepping.offsets);
        let weights = &stepping.weights.rows[..];
        assert_eq!(window.offsets().len(), weights.len());
        let zero = _mm256_setzero_si256();
        let [least, most] =
            [stepping.rails.low, stepping.rails.high].map(|rail| _mm256_set1_epi16(rail as i16));
        Self {
            window,
            weights,
            begin: 0,
            least,
            most,
            finals: Finals::new(),
            extremes: Extremes::new(),
            counts: zero,
            above: zero,
            below: zero,
            noted: [zero; PAIR_TREE],
        }
    }

    /// Reduces all trees of `length` products; the last one has the remaining products.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    fn run(mut self, length: usize, out: &mut RunsOut<'_>) {
        let steps = self.weights.len();
        for (run, begin) in (0..steps).step_by(length).enumerate() {
            let count = length.min(steps - begin);
            self.begin = begin;
            let (held, mut exact) = self.tree(count);
            if !FULL {
                exact = self.finals.finish();
            }
            store_run(run, widen(held), exact, out);
            if LOG {
                self.log(count, out);
            }
            self.count();
        }
        self.extremes.store(out);
        store_counts([self.above, self.below], out);
    }

    subtrees!("avx2", Value, (_mm256_setzero_si256(), [_mm256_setzero_si256(); 2]));

    /// Returns product `i` of the tree.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn leaf(&mut self, i: usize) -> Value {
        let k = self.begin + i;
        // SAFETY: the product exists, and its weights do.
        let product = unsafe {
            let offset = *self.window.offsets().get_unchecked(k) as usize;
            _mm256_mullo_epi16(self.window.operands(offset), load_row(self.weights.get_unchecked(k)))
        };
        if FULL {
            return (product, widen(product));
        }
        self.finals.add(product);
        (product, [_mm256_setzero_si256(); 2])
    }

    /// Returns the sum of two values and records its overflow; `last` is the last product in it.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn node(&mut self, left: Value, right: Value, last: usize) -> Value {
        let sum = _mm256_adds_epi16(left.0, right.0);
        let (above, below) = (_mm256_cmpgt_epi16(sum, self.most), _mm256_cmpgt_epi16(self.least, sum));
        self.counts = _mm256_sub_epi16(_mm256_sub_epi8(self.counts, above), below);
        if LOG {
            self.noted[last] = _mm256_sub_epi16(self.noted[last], _mm256_or_si256(above, below));
        }
        let mut exact = left.1;
        if FULL {
            exact = [0, 1].map(|half| _mm256_add_epi32(left.1[half], right.1[half]));
            self.extremes.note(exact);
        }
        if !WRAPS {
            return (_mm256_max_epi16(_mm256_min_epi16(sum, self.most), self.least), exact);
        }
        let span = _mm256_sub_epi16(self.most, self.least);
        let beyond = _mm256_sub_epi16(_mm256_add_epi16(left.0, right.0), self.least);
        (_mm256_add_epi16(_mm256_and_si256(beyond, span), self.least), exact)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn flush(&mut self) {
        if !FULL {
            self.finals.flush();
        }
    }

    /// Logs the overflows of a tree of `count` products.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn log(&mut self, count: usize, out: &mut RunsOut<'_>) {
        let rows = &mut out.log[self.begin..][..count];
        for (i, (noted, row)) in self.noted[..count].iter_mut().zip(rows).enumerate() {
            if i % 2 == 0 && i + 1 < count {
                // No node ends with it.
                *row = [0; LANES];
                continue;
            }
            store_row(row, std::mem::replace(noted, _mm256_setzero_si256()));
        }
    }

    /// Adds the overflows of a tree to the totals.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn count(&mut self) {
        const { assert!(PAIR_TREE <= 256, "a byte counts the nodes of a tree") };
        let above = _mm256_srli_epi16::<8>(self.counts);
        let all = _mm256_and_si256(self.counts, _mm256_set1_epi16(0xff));
        self.above = _mm256_add_epi16(self.above, above);
        self.below = _mm256_add_epi16(self.below, _mm256_sub_epi16(all, above));
        self.counts = _mm256_setzero_si256();
    }
}
