//! Counts of tiles on AVX2.

use std::arch::x86_64::*;

use super::super::super::kernels::{ErrorCounters, Lanes, LevelCounters, Rails, Stepped, Walked};
use super::{HALF, load, store};

/// Counts the errors of delivered sums: see
/// [`kernels::count_errors`](super::super::super::kernels::count_errors).
///
/// # Panics
/// If a pixel has no sums.
#[target_feature(enable = "avx2")]
pub(in super::super) fn count_errors(
    counters: &mut ErrorCounters,
    pixels: &[usize],
    stepped: &[Stepped],
    walked: &[Walked],
    [codes, exact_codes]: [&[Lanes]; 2],
) {
    for half in 0..2 {
        let [mut wrong, mut harmless] = [load(&counters.wrong, half), load(&counters.harmless, half)];
        let greatest_errors = &mut counters.max_abs_err.as_chunks_mut::<HALF>().0[half];
        let error_sums = &mut counters.sum_abs_err.as_chunks_mut::<HALF>().0[half];
        let sums = error_sums.as_mut_ptr().cast::<__m256i>();
        // SAFETY: eight numbers of 32 bits, and eight of 64; loads take any alignment.
        let (mut greatest, mut first, mut second) = unsafe {
            let greatest = _mm256_loadu_si256(greatest_errors.as_ptr().cast());
            (greatest, _mm256_loadu_si256(sums), _mm256_loadu_si256(sums.add(1)))
        };
        for ((&at, stepped), codes) in pixels.iter().zip(stepped).zip(codes) {
            let (delivered, exact) = (load(&stepped.value, half), load(&walked[at].sum, half));
            let right = _mm256_cmpeq_epi32(delivered, exact);
            let same = _mm256_cmpeq_epi32(load(codes, half), load(&exact_codes[at], half));
            // As unsigned numbers, so that differences of 32 bits are right.
            let error =
                _mm256_sub_epi32(_mm256_max_epi32(delivered, exact), _mm256_min_epi32(delivered, exact));
            wrong = _mm256_add_epi32(wrong, _mm256_add_epi32(right, _mm256_set1_epi32(1)));
            harmless = _mm256_sub_epi32(harmless, _mm256_andnot_si256(right, same));
            greatest = _mm256_max_epu32(greatest, error);
            let [low, high] = [_mm256_castsi256_si128(error), _mm256_extracti128_si256::<1>(error)];
            first = _mm256_add_epi64(first, _mm256_cvtepu32_epi64(low));
            second = _mm256_add_epi64(second, _mm256_cvtepu32_epi64(high));
        }
        store(&mut counters.wrong, half, wrong);
        store(&mut counters.harmless, half, harmless);
        // SAFETY: as above, and stores take any alignment too.
        unsafe {
            _mm256_storeu_si256(greatest_errors.as_mut_ptr().cast(), greatest);
            _mm256_storeu_si256(sums, first);
            _mm256_storeu_si256(sums.add(1), second);
        }
    }
}

/// Counts the overflows of the register: see
/// [`kernels::count_events`](super::super::super::kernels::count_events).
///
/// # Panics
/// If a pixel has no sums.
#[target_feature(enable = "avx2")]
pub(in super::super) fn count_events(
    counters: &mut LevelCounters,
    pixels: &[usize],
    stepped: &[Stepped],
    walked: &[Walked],
    held: (i32, i32),
) {
    let (zero, one) = (_mm256_setzero_si256(), _mm256_set1_epi32(1));
    let (least, greatest) = (_mm256_set1_epi32(held.0), _mm256_set1_epi32(held.1));
    for half in 0..2 {
        let [mut high, mut low] = [load(&counters.events_high, half), load(&counters.events_low, half)];
        let [mut touched, mut persistent] = [load(&counters.touched, half), load(&counters.persistent, half)];
        for (&at, stepped) in pixels.iter().zip(stepped) {
            let (above, below) = (load(&stepped.high, half), load(&stepped.low, half));
            let sum = load(&walked[at].sum, half);
            high = _mm256_add_epi32(high, above);
            low = _mm256_add_epi32(low, below);
            let none = _mm256_cmpeq_epi32(_mm256_or_si256(above, below), zero);
            touched = _mm256_add_epi32(touched, _mm256_add_epi32(none, one));
            let outside = _mm256_or_si256(_mm256_cmpgt_epi32(least, sum), _mm256_cmpgt_epi32(sum, greatest));
            persistent = _mm256_sub_epi32(persistent, outside);
        }
        store(&mut counters.events_high, half, high);
        store(&mut counters.events_low, half, low);
        store(&mut counters.touched, half, touched);
        store(&mut counters.persistent, half, persistent);
    }
}

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
