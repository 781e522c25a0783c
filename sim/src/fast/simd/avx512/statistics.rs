//! Counts of tiles on AVX-512.

use std::arch::x86_64::*;

use super::super::super::kernels::{ErrorCounters, Extremes, Lanes, LevelCounters, Rails, Stepped, Walked};
use super::{load, store};

/// Counts the errors of delivered sums: see [`kernels::count_errors`](super::super::kernels::count_errors).
///
/// # Panics
/// If a pixel has no sums.
#[target_feature(enable = "avx512bw,avx512vl")]
pub(in super::super) fn count_errors(
    counters: &mut ErrorCounters,
    pixels: &[usize],
    stepped: &[Stepped],
    walked: &[Walked],
    [codes, exact_codes]: [&[Lanes]; 2],
) {
    let one = _mm512_set1_epi32(1);
    let [mut wrong, mut harmless] = [load(&counters.wrong), load(&counters.harmless)];
    // SAFETY: all arrays have sixteen lanes; loads take any alignment.
    let mut greatest = unsafe { _mm512_loadu_si512(counters.max_abs_err.as_ptr().cast()) };
    let sums = counters.sum_abs_err.as_mut_ptr().cast::<__m512i>();
    // SAFETY: as above.
    let [mut first, mut second] = unsafe { [_mm512_loadu_si512(sums), _mm512_loadu_si512(sums.add(1))] };
    for ((&at, stepped), codes) in pixels.iter().zip(stepped).zip(codes) {
        let (delivered, exact) = (load(&stepped.value), load(&walked[at].sum));
        let differ = _mm512_cmpneq_epi32_mask(delivered, exact);
        let same = _mm512_mask_cmpeq_epi32_mask(differ, load(codes), load(&exact_codes[at]));
        // As unsigned numbers, so that differences of 32 bits are right.
        let error = _mm512_sub_epi32(_mm512_max_epi32(delivered, exact), _mm512_min_epi32(delivered, exact));
        wrong = _mm512_mask_add_epi32(wrong, differ, wrong, one);
        harmless = _mm512_mask_add_epi32(harmless, same, harmless, one);
        greatest = _mm512_max_epu32(greatest, error);
        let [low, high] = [_mm512_castsi512_si256(error), _mm512_extracti64x4_epi64::<1>(error)];
        first = _mm512_add_epi64(first, _mm512_cvtepu32_epi64(low));
        second = _mm512_add_epi64(second, _mm512_cvtepu32_epi64(high));
    }
    store(&mut counters.wrong, wrong);
    store(&mut counters.harmless, harmless);
    // SAFETY: as above, and stores take any alignment too.
    unsafe {
        _mm512_storeu_si512(counters.max_abs_err.as_mut_ptr().cast(), greatest);
        _mm512_storeu_si512(sums, first);
        _mm512_storeu_si512(sums.add(1), second);
    }
}

/// Counts the overflows of the register: see [`kernels::count_events`](super::super::kernels::count_events).
///
/// # Panics
/// If a pixel has no sums.
#[target_feature(enable = "avx512bw,avx512vl")]
pub(in super::super) fn count_events(
    counters: &mut LevelCounters,
    pixels: &[usize],
    stepped: &[Stepped],
    walked: &[Walked],
    held: (i32, i32),
) {
    let one = _mm512_set1_epi32(1);
    let (least, greatest) = (_mm512_set1_epi32(held.0), _mm512_set1_epi32(held.1));
    let [mut high, mut low] = [load(&counters.events_high), load(&counters.events_low)];
    let [mut touched, mut persistent] = [load(&counters.touched), load(&counters.persistent)];
    for (&at, stepped) in pixels.iter().zip(stepped) {
        let (above, below, sum) = (load(&stepped.high), load(&stepped.low), load(&walked[at].sum));
        high = _mm512_add_epi32(high, above);
        low = _mm512_add_epi32(low, below);
        let some = _mm512_or_si512(above, below);
        touched = _mm512_mask_add_epi32(touched, _mm512_test_epi32_mask(some, some), touched, one);
        let outside = _mm512_cmplt_epi32_mask(sum, least) | _mm512_cmpgt_epi32_mask(sum, greatest);
        persistent = _mm512_mask_add_epi32(persistent, outside, persistent, one);
    }
    store(&mut counters.events_high, high);
    store(&mut counters.events_low, low);
    store(&mut counters.touched, touched);
    store(&mut counters.persistent, persistent);
}

/// Counts transient overflows: see [`kernels::count_transient`](super::super::super::kernels::count_transient).
///
/// # Panics
/// If a pixel has no sums.
#[target_feature(enable = "avx512bw,avx512vl")]
pub(in super::super) fn count_transient(
    counters: &mut LevelCounters,
    pixels: &[usize],
    walked: &[Walked],
    held: (i32, i32),
) {
    let one = _mm512_set1_epi32(1);
    let (least, greatest) = (_mm512_set1_epi32(held.0), _mm512_set1_epi32(held.1));
    let mut transient = load(&counters.transient);
    for &at in pixels {
        let [sum, min, max] = [&walked[at].sum, &walked[at].min, &walked[at].max].map(|lanes| load(lanes));
        let prefixes = _mm512_cmplt_epi32_mask(min, least) | _mm512_cmpgt_epi32_mask(max, greatest);
        let sums = _mm512_cmplt_epi32_mask(sum, least) | _mm512_cmpgt_epi32_mask(sum, greatest);
        transient = _mm512_mask_add_epi32(transient, prefixes & !sums, transient, one);
    }
    store(&mut counters.transient, transient);
}

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
