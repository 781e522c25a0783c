//! Counts of tiles on AVX2.

use std::arch::x86_64::*;

use super::super::super::kernels::{Rails, Walked};
use super::load;

/// Counts, for every pixel, the lanes with a prefix outside the rails.
#[target_feature(enable = "avx2")]
pub(in super::super) fn misfits(walked: &[Walked], rails: Rails, out: &mut [usize]) {
    let (low, high) = (_mm256_set1_epi32(rails.low), _mm256_set1_epi32(rails.high));
    for (walked, out) in walked.iter().zip(out) {
        let mut outside = [_mm256_setzero_si256(); 2];
        for half in 0..2 {
            let below = _mm256_cmpgt_epi32(low, load(&walked.min, half));
            outside[half] = _mm256_or_si256(below, _mm256_cmpgt_epi32(load(&walked.max, half), high));
        }
        let lanes = _mm256_packs_epi32(outside[0], outside[1]);
        // Two mask bits per lane.
        *out = _mm256_movemask_epi8(lanes).count_ones() as usize / 2;
    }
}
