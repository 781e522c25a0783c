//! Trees of an innermost level, one window per vector.

use std::arch::x86_64::*;
use std::array::from_mut;

use super::super::super::kernels::{LANES, PAIR_TREE, Rails, RunsOut, Vector};
use super::super::super::singles::SingleRuns;
use super::super::trees::{LEVELS, UNROLLED};
use super::activations::Placed as Window;
use super::names::*;
use super::runs::{Extremes, Finals, WINDOWS, store_counts, store_run};
use super::{load_row, store_row, widen};

trees!("avx2", set_16(1));

/// Reduces trees of two windows, of up to [`PAIR_TREE`] products each. Both rails lie within 16 bits.
///
/// # Panics
/// If a window does not lie within the cells, or there is no room for the results.
#[target_feature(enable = "avx2")]
pub(in super::super) fn trees<const WRAPS: bool, const OWN: bool>(
    runs: &SingleRuns<'_>,
    out: &mut [RunsOut<'_>; 2],
) {
    let stepping = &runs.stepping;
    let weights = &stepping.weights.rows[..];
    for (corner, out) in runs.corners.into_iter().zip(out) {
        let window = Window::<OWN>::new(stepping.cells, corner, stepping.offsets);
        assert_eq!(window.offsets().len(), weights.len());
        reduce::<WRAPS, OWN>((window, weights), stepping.rails, runs.length, from_mut(out));
    }
}

type Weights = Vector<i16>;

/// Returns product `k`.
///
/// # Safety
/// The CPU has AVX2; the product exists, and its weights do.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn product<const OWN: bool>(window: Window<'_, OWN>, weights: &[Weights], k: usize) -> Register {
    // SAFETY: as for this function.
    unsafe {
        let offset = *window.offsets().get_unchecked(k) as usize;
        mullo_16(window.operands(offset), load_row(weights.get_unchecked(k)))
    }
}

/// Returns a tree's counters after a node, and the lanes that overflow. Overflows above are counted in the
/// high byte, all in the low byte.
#[inline]
#[target_feature(enable = "avx2")]
fn count(counts: Register, sum: Register, [least, most]: [Register; 2]) -> (Register, Register) {
    let (above, below) = (_mm256_cmpgt_epi16(sum, most), _mm256_cmpgt_epi16(least, sum));
    (sub_16(_mm256_sub_epi8(counts, above), below), _mm256_or_si256(above, below))
}

/// Adds 1 in lanes that overflow.
#[inline]
#[target_feature(enable = "avx2")]
fn note(noted: Register, overflows: Register, _: Register) -> Register {
    sub_16(noted, overflows)
}

/// Returns the overflows above and below from a tree's counters.
#[inline]
#[target_feature(enable = "avx2")]
fn by_side(counts: Register) -> [Register; 2] {
    let above = _mm256_srli_epi16::<8>(counts);
    [above, sub_16(and(counts, set_16(0xff)), above)]
}

/// Moves the overflows of a tree's products, from product `begin` on, to the log.
#[inline]
#[target_feature(enable = "avx2")]
fn log(noted: &mut [Register], begin: usize, [out]: &mut [RunsOut<'_>; 1]) {
    let count = noted.len();
    for (i, (noted, row)) in noted.iter_mut().zip(&mut out.log[begin..][..count]).enumerate() {
        if i % 2 == 0 && i + 1 < count {
            // No node ends with it.
            *row = [0; LANES];
            continue;
        }
        store_row(row, std::mem::replace(noted, zero()));
    }
}
