//! Serial runs of an innermost level for AVX-512, two windows per lane: the low half of every lane belongs to
//! the first window, the high half to the second. The shape is that of
//! AVX2's module, which has other registers, layouts and instructions.

use std::arch::x86_64::*;

use super::super::super::kernels::{LANES, Lanes, NOTED, Row, RunsOut};
use super::super::super::pairs::PairRuns;
use super::super::short::base;
use super::registers::{Beside, Noted, Registers};
use super::sources::{Dense, Source};
use super::{halves, load, store};

/// Exact sums of runs, computed in addition to stepping.
pub(super) trait Sums: Beside {
    /// Must be called after at most [`NOTED`] products.
    ///
    /// # Safety
    /// The CPU has AVX-512BW, VL, VBMI2 and BITALG.
    unsafe fn flush(&mut self);

    /// Returns the sums of both windows since the previous run. Everything must have been flushed.
    ///
    /// # Safety
    /// The CPU has AVX-512BW, VL, VBMI2 and BITALG.
    unsafe fn end(&mut self) -> [__m512i; 2];
}

/// Final sums alone. A sum of few products follows from its low 16 bits and the sum of their upper bytes,
/// because the lower bytes add less than 2^15 to the latter.
pub(super) struct Finals {
    low: __m512i,
    upper: __m512i,
    sums: [__m512i; 2],
}

/// Final sums with the least and the greatest prefix.
pub(super) struct Prefixes {
    sums: [__m512i; 2],
    min: [__m512i; 2],
    max: [__m512i; 2],
}

impl Finals {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    pub fn new() -> Self {
        let zero = _mm512_setzero_si512();
        Self { low: zero, upper: zero, sums: [zero; 2] }
    }
}

impl Beside for Finals {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn take(&mut self, _: usize, _: __m512i, _: __m512i, product: __m512i) {
        self.low = _mm512_add_epi16(self.low, product);
        self.upper = _mm512_add_epi16(self.upper, _mm512_srai_epi16::<8>(product));
    }
}

impl Sums for Finals {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn flush(&mut self) {
        let rest = halves(_mm512_sub_epi16(self.low, _mm512_slli_epi16::<8>(self.upper)));
        let upper = halves(self.upper);
        for half in 0..2 {
            let sum = _mm512_add_epi32(_mm512_slli_epi32::<8>(upper[half]), rest[half]);
            self.sums[half] = _mm512_add_epi32(self.sums[half], sum);
        }
        (self.low, self.upper) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn end(&mut self) -> [__m512i; 2] {
        std::mem::replace(&mut self.sums, [_mm512_setzero_si512(); 2])
    }
}

impl Prefixes {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    pub fn new() -> Self {
        let zero = [_mm512_setzero_si512(); 2];
        Self { sums: zero, min: zero, max: zero }
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    pub fn note(&mut self, half: usize, prefix: __m512i) {
        self.min[half] = _mm512_min_epi32(self.min[half], prefix);
        self.max[half] = _mm512_max_epi32(self.max[half], prefix);
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    pub fn store(&self, out: &mut [RunsOut<'_>; 2]) {
        for (half, out) in out.iter_mut().enumerate() {
            if let Some([min, max]) = &mut out.prefixes {
                store(min, self.min[half]);
                store(max, self.max[half]);
            }
        }
    }
}

impl Beside for Prefixes {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn take(&mut self, _: usize, x: __m512i, w: __m512i, _: __m512i) {
        let few = _mm512_set1_epi32(0xffff);
        let weights = [_mm512_and_si512(w, few), _mm512_andnot_si512(few, w)];
        for half in 0..2 {
            // One of the two products is 0.
            self.sums[half] = _mm512_add_epi32(self.sums[half], _mm512_madd_epi16(x, weights[half]));
            self.note(half, self.sums[half]);
        }
    }
}

impl Sums for Prefixes {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn flush(&mut self) {}

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn end(&mut self) -> [__m512i; 2] {
        std::mem::replace(&mut self.sums, [_mm512_setzero_si512(); 2])
    }
}

/// Steps serial runs of the windows at `corner`.
///
/// # Panics
/// If a window does not lie within the pairs, or there is no room for the results.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
pub(in super::super) fn chains<const MODE: u8, const OWN: bool>(
    runs: &PairRuns<'_>,
    corner: usize,
    out: &mut [RunsOut<'_>; 2],
) {
    match out[0].prefixes {
        Some(_) => {
            let mut prefixes = Prefixes::new();
            chains_beside::<MODE, OWN, _>(runs, corner, &mut prefixes, out);
            prefixes.store(out);
        }
        None => chains_beside::<MODE, OWN, _>(runs, corner, &mut Finals::new(), out),
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn chains_beside<const MODE: u8, const OWN: bool, S: Sums>(
    runs: &PairRuns<'_>,
    corner: usize,
    sums: &mut S,
    out: &mut [RunsOut<'_>; 2],
) {
    let &PairRuns { cells, weights, rails, length, .. } = runs;
    let source = Dense::<OWN>::new(cells, corner);
    let steps = source.steps(());
    assert_eq!(steps, weights.len());
    let mut registers = Registers::<1>::new::<Dense<'_, OWN>>(&[0; LANES], base::<MODE>(rails));
    let empty = registers.value;
    let mut part = 0;
    for (run, begin) in (0..steps).step_by(length).enumerate() {
        let end = steps.min(begin + length);
        registers.value = empty;
        for from in (begin..end).step_by(NOTED) {
            let to = end.min(from + NOTED);
            let noted = registers.step::<MODE, _>((weights, rails), (&[source], ()), from..to, sums);
            // SAFETY: the CPU has them, as for this function.
            unsafe { sums.flush() };
            log_part(&noted, part, out);
            part += 1;
            registers.count(noted);
        }
        // SAFETY: as above.
        let exact = unsafe { sums.end() };
        let held = halves(registers.value[0]);
        let base = _mm512_set1_epi32(registers.base);
        for (half, out) in out.iter_mut().enumerate() {
            store(&mut out.exact[run], exact[half]);
            store(&mut out.held[run], _mm512_add_epi32(held[half], base));
        }
    }
    store_counts([registers.above(0), registers.below[0]], out);
}

/// Logs the overflows of part `part`.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
fn log_part(noted: &Noted<1>, part: usize, out: &mut [RunsOut<'_>; 2]) {
    if out[0].log.is_empty() {
        return;
    }
    let rows = rows(_mm512_or_si512(noted.overs[0], noted.unders[0]));
    out.iter_mut().zip(rows).for_each(|(out, row)| store_row(&mut out.log[part], row));
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
pub(super) fn store_counts(counts: [__m512i; 2], out: &mut [RunsOut<'_>; 2]) {
    for (i, counts) in counts.into_iter().enumerate() {
        for (out, counts) in out.iter_mut().zip(halves(counts)) {
            let counted: &mut Lanes = out.counts[i];
            let sum = _mm512_add_epi32(load(counted), counts);
            store(counted, sum);
        }
    }
}

/// Separates the 16-bit lanes of the first window from those of the second one.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
pub(super) fn rows(pairs: __m512i) -> [__m256i; 2] {
    const FIRST_THEN_SECOND: [i16; 2 * LANES] = {
        let (mut lanes, mut i) = ([0; 2 * LANES], 0);
        while i < lanes.len() {
            lanes[i] = (2 * (i % LANES) + i / LANES) as i16;
            i += 1;
        }
        lanes
    };
    // SAFETY: 32 numbers of 16 bits; the load takes any alignment.
    let order = unsafe { _mm512_loadu_si512(FIRST_THEN_SECOND.as_ptr().cast()) };
    let rows = _mm512_permutexvar_epi16(order, pairs);
    [_mm512_castsi512_si256(rows), _mm512_extracti64x4_epi64::<1>(rows)]
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) fn store_row(row: &mut Row, value: __m256i) {
    // SAFETY: sixteen lanes of 16 bits; the store takes any alignment.
    unsafe { _mm256_storeu_si256(row.as_mut_ptr().cast(), value) };
}
