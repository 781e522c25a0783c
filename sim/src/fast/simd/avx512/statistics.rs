//! Counts of tiles on AVX-512.

use std::arch::x86_64::*;

use super::super::super::kernels::{Extremes, LevelCounters, Rails, Walked};
use super::{load, store};

/// Updates the extremes: see [`kernels::take_extremes`](super::super::super::kernels::take_extremes).
#[target_feature(enable = "avx512bw,avx512vl")]
pub(in super::super) fn take_extremes(counters: &mut LevelCounters, walked: &[Walked]) {
    let LevelCounters {
        prefixes: Extremes { min: min_prefix, max: max_prefix },
        finals: Extremes { min: min_final, max: max_final },
        ..
    } = counters;
    let [mut min, mut max] = [load(min_prefix), load(max_prefix)];
    let [mut least, mut greatest] = [load(min_final), load(max_final)];
    for walked in walked {
        let sum = load(&walked.sum);
        min = _mm512_min_epi32(min, load(&walked.min));
        max = _mm512_max_epi32(max, load(&walked.max));
        least = _mm512_min_epi32(least, sum);
        greatest = _mm512_max_epi32(greatest, sum);
    }
    store(min_prefix, min);
    store(max_prefix, max);
    store(min_final, least);
    store(max_final, greatest);
}

/// Counts, for every pixel, the lanes with a prefix outside the rails.
#[target_feature(enable = "avx512bw,avx512vl,popcnt")]
pub(in super::super) fn misfits(walked: &[Walked], rails: Rails, out: &mut [usize]) {
    let (low, high) = (_mm512_set1_epi32(rails.low), _mm512_set1_epi32(rails.high));
    for (walked, out) in walked.iter().zip(out) {
        let below = _mm512_cmplt_epi32_mask(load(&walked.min), low);
        let above = _mm512_cmpgt_epi32_mask(load(&walked.max), high);
        *out = (below | above).count_ones() as usize;
    }
}
