//! Trees of an innermost level for AVX-512, two windows per lane: the low half of every lane belongs to the
//! first window, the high half to the second. The shape is that of
//! AVX2's module, which has other registers, layouts and instructions.

use std::arch::x86_64::*;
use std::hint::black_box;

use super::super::super::kernels::{LANES, PAIR_TREE, RunsOut};
use super::super::super::pairs::{ABOVE, BELOW, PairRow, PairRuns};
use super::super::subtrees::{LEVELS, UNROLLED};
use super::halves;
use super::registers::{Beside, load_row};
use super::runs::{Finals, Prefixes, Sums, rows, store_counts, store_row};
use super::sources::{Dense, Source};
use super::store;

/// Reduces trees of the windows at `corner`, of up to [`PAIR_TREE`] products each. Both rails lie within 16
/// bits.
///
/// # Panics
/// If a window does not lie within the pairs, or there is no room for the results.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
pub(in super::super) fn trees<const WRAPS: bool, const OWN: bool>(
    runs: &PairRuns<'_>,
    corner: usize,
    out: &mut [RunsOut<'_>; 2],
) {
    match (out[0].prefixes.is_some(), out[0].log.is_empty()) {
        (false, _) => Tree::<WRAPS, OWN, false, false>::new(runs, corner).run(runs.length, out),
        (true, true) => Tree::<WRAPS, OWN, true, false>::new(runs, corner).run(runs.length, out),
        (true, false) => Tree::<WRAPS, OWN, true, true>::new(runs, corner).run(runs.length, out),
    }
}

/// Value of both windows: that of the hardware, and the exact ones if `FULL`.
type Value = (__m512i, [__m512i; 2]);

/// Reduces one tree after the other. `FULL` requests extremes of exact nodes, `LOG` overflows by product.
struct Tree<'r, const WRAPS: bool, const OWN: bool, const FULL: bool, const LOG: bool> {
    source: Dense<'r, OWN>,
    weights: &'r [PairRow],
    /// First product.
    begin: usize,
    least: __m512i,
    most: __m512i,
    /// The constant 1, hidden from the compiler, which would add a known constant to some lanes in a slower
    /// way.
    one: __m512i,
    finals: Finals,
    prefixes: Prefixes,
    /// Overflows of a tree, in one byte each: [`ABOVE`] and [`BELOW`].
    counts: __m512i,
    above: __m512i,
    below: __m512i,
    /// Overflows, per product, of the nodes that end with it.
    noted: [__m512i; PAIR_TREE],
}

impl<'r, const WRAPS: bool, const OWN: bool, const FULL: bool, const LOG: bool>
    Tree<'r, WRAPS, OWN, FULL, LOG>
{
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    fn new(runs: &PairRuns<'r>, corner: usize) -> Self {
        let &PairRuns { cells, weights, rails, .. } = runs;
        let source = Dense::new(cells, corner);
        assert_eq!(source.steps(()), weights.len());
        let zero = _mm512_setzero_si512();
        let [least, most] = [rails.low, rails.high].map(|rail| _mm512_set1_epi16(rail as i16));
        Self {
            source,
            weights,
            begin: 0,
            least,
            most,
            one: black_box(_mm512_set1_epi16(1)),
            finals: Finals::new(),
            prefixes: Prefixes::new(),
            counts: zero,
            above: zero,
            below: zero,
            noted: [zero; PAIR_TREE],
        }
    }

    /// Reduces all trees of `length` products; the last one has the remaining products.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    fn run(mut self, length: usize, out: &mut [RunsOut<'_>; 2]) {
        let steps = self.weights.len();
        for (run, begin) in (0..steps).step_by(length).enumerate() {
            let count = length.min(steps - begin);
            self.begin = begin;
            let (held, mut exact) = self.tree(count);
            if !FULL {
                // SAFETY: the CPU has them, as for this function.
                exact = unsafe { self.finals.end() };
            }
            for ((out, exact), held) in out.iter_mut().zip(exact).zip(halves(held)) {
                store(&mut out.exact[run], exact);
                store(&mut out.held[run], held);
            }
            if LOG {
                self.log(count, out);
            }
            self.count();
        }
        self.prefixes.store(out);
        store_counts([self.above, self.below], out);
    }

    subtrees!(
        "avx512bw,avx512vl,avx512vbmi2,avx512bitalg",
        Value,
        (_mm512_setzero_si512(), [_mm512_setzero_si512(); 2])
    );

    /// Returns product `i` of the tree.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    fn leaf(&mut self, i: usize) -> Value {
        let (k, zero) = (self.begin + i, _mm512_setzero_si512());
        // SAFETY: the product exists, and its weights do.
        let product = unsafe { _mm512_mullo_epi16(self.source.operands((), k), load_row(self.weights, k)) };
        if FULL {
            return (product, halves(product));
        }
        // SAFETY: the CPU has them, as for this function.
        unsafe { self.finals.take(0, zero, zero, product) };
        (product, [zero; 2])
    }

    /// Returns the sum of two values and records its overflow; `last` is the last product in it.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    fn node(&mut self, left: Value, right: Value, last: usize) -> Value {
        let sum = _mm512_adds_epi16(left.0, right.0);
        let clamped = _mm512_max_epi16(_mm512_min_epi16(sum, self.most), self.least);
        let misfits = _mm512_cmpneq_epi16_mask(sum, clamped);
        // The sign selects the side.
        let (above, sides) = (_mm512_set1_epi16(ABOVE), _mm512_set1_epi16(ABOVE | BELOW));
        let side = _mm512_ternarylogic_epi32::<0x78>(above, _mm512_srai_epi16::<15>(sum), sides);
        self.counts = _mm512_mask_add_epi16(self.counts, misfits, self.counts, side);
        if LOG {
            self.noted[last] = _mm512_mask_add_epi16(self.noted[last], misfits, self.noted[last], self.one);
        }
        let mut exact = left.1;
        if FULL {
            for (half, exact) in exact.iter_mut().enumerate() {
                *exact = _mm512_add_epi32(*exact, right.1[half]);
                self.prefixes.note(half, *exact);
            }
        }
        if !WRAPS {
            return (clamped, exact);
        }
        let span = _mm512_sub_epi16(self.most, self.least);
        let beyond = _mm512_sub_epi16(_mm512_add_epi16(left.0, right.0), self.least);
        (_mm512_add_epi16(_mm512_and_si512(beyond, span), self.least), exact)
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    fn flush(&mut self) {
        if !FULL {
            // SAFETY: the CPU has them, as for this function.
            unsafe { self.finals.flush() };
        }
    }

    /// Logs the overflows of a tree of `count` products.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    fn log(&mut self, count: usize, out: &mut [RunsOut<'_>; 2]) {
        let [first, second] = out.each_mut().map(|out| &mut out.log[self.begin..][..count]);
        let none = [[0; LANES]; 2];
        for (i, ((noted, first), second)) in self.noted[..count].iter_mut().zip(first).zip(second).enumerate()
        {
            if i % 2 == 0 && i + 1 < count {
                // No node ends with it.
                [*first, *second] = none;
                continue;
            }
            let [a, b] = rows(std::mem::replace(noted, _mm512_setzero_si512()));
            store_row(first, a);
            store_row(second, b);
        }
    }

    /// Adds the overflows of a tree to the totals.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    fn count(&mut self) {
        const { assert!(PAIR_TREE <= 256, "a byte counts the nodes of a tree") };
        let above = _mm512_and_si512(self.counts, _mm512_set1_epi16(0xff));
        self.above = _mm512_add_epi16(self.above, above);
        self.below = _mm512_add_epi16(self.below, _mm512_srli_epi16::<8>(self.counts));
        self.counts = _mm512_setzero_si512();
    }
}
