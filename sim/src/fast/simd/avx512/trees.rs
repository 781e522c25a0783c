//! Trees of an innermost level for AVX-512, two windows per lane: the low half of every lane belongs to the
//! first window, the high half to the second.

use std::arch::x86_64::*;
use std::hint::black_box;

use super::super::super::kernels::{LANES, PAIR_TREE, Rails, RunsOut};
use super::super::super::pairs::{ABOVE, BELOW, PairRow as Weights, PairRuns};
use super::super::trees::{LEVELS, UNROLLED};
use super::halves as widen;
use super::names::*;
use super::registers::load_row;
use super::runs::{Extremes, Finals, WINDOWS, rows, store_counts, store_row, store_run};
use super::sources::{Dense as Window, Source};

// The 1 is hidden from the compiler, which would add a known constant to some lanes in a slower way.
trees!("avx512bw,avx512vl,avx512vbmi2,avx512bitalg", black_box(set_16(1)));

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
    let &PairRuns { cells, weights, rails, length, .. } = runs;
    let window = Window::<OWN>::new(cells, corner);
    assert_eq!(window.steps(()), weights.len());
    reduce::<WRAPS, OWN>((window, weights), rails, length, out);
}

/// Returns product `k` of both windows.
///
/// # Safety
/// The CPU has AVX-512BW and VL; the product exists, and its weights do.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
unsafe fn product<const OWN: bool>(window: Window<'_, OWN>, weights: &[Weights], k: usize) -> Register {
    // SAFETY: as for this function.
    unsafe { mullo_16(window.operands((), k), load_row(weights, k)) }
}

/// Returns a tree's counters after a node, which count [`ABOVE`] and [`BELOW`], and the lanes that overflow.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn count(counts: Register, sum: Register, [least, most]: [Register; 2]) -> (Register, __mmask32) {
    let misfits = _mm512_cmpneq_epi16_mask(sum, max_16(min_16(sum, most), least));
    // The sign selects the side.
    let (above, sides) = (set_16(ABOVE), set_16(ABOVE | BELOW));
    let side = _mm512_ternarylogic_epi32::<0x78>(above, srai_16::<15>(sum), sides);
    (_mm512_mask_add_epi16(counts, misfits, counts, side), misfits)
}

/// Adds `one` in lanes that overflow.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn note(noted: Register, overflows: __mmask32, one: Register) -> Register {
    _mm512_mask_add_epi16(noted, overflows, noted, one)
}

/// Returns the overflows above and below from a tree's counters.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn by_side(counts: Register) -> [Register; 2] {
    [and(counts, set_16(0xff)), _mm512_srli_epi16::<8>(counts)]
}

/// Moves the overflows of a tree's products, from product `begin` on, to the logs.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn log(noted: &mut [Register], begin: usize, out: &mut [RunsOut<'_>; 2]) {
    let count = noted.len();
    let [first, second] = out.each_mut().map(|out| &mut out.log[begin..][..count]);
    for (i, ((noted, first), second)) in noted.iter_mut().zip(first).zip(second).enumerate() {
        if i % 2 == 0 && i + 1 < count {
            // No node ends with it.
            (*first, *second) = ([0; LANES], [0; LANES]);
            continue;
        }
        let [a, b] = rows(std::mem::replace(noted, zero()));
        store_row(first, a);
        store_row(second, b);
    }
}
