//! Serial runs of an innermost level for AVX-512, two windows per lane: the low half of every lane belongs to
//! the first window, the high half to the second.

use std::arch::x86_64::*;

use super::super::super::kernels::{LANES, Lanes, NOTED, Row, RunsOut};
use super::super::super::pairs::PairRuns;
use super::super::short::base;
use super::halves as widen;
use super::names::*;
use super::registers::{Beside, Noted, Registers};
use super::sources::{Dense, Source};

/// Number of windows per vector.
pub(super) const WINDOWS: usize = 2;

exact_sums!("avx512bw,avx512vl,avx512vbmi2,avx512bitalg");

/// Loads a part of both windows' numbers: all lanes of one window.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn load(lanes: &Lanes, _: usize) -> Register {
    super::load(lanes)
}

/// Stores a part of both windows' numbers: all lanes of one window.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn store(lanes: &mut Lanes, _: usize, value: Register) {
    super::store(lanes, value);
}

/// Exact sums of runs, computed in addition to stepping.
trait Sums: Beside {
    /// Must be called after at most [`NOTED`] products.
    ///
    /// # Safety
    /// The CPU has AVX-512BW, VL, VBMI2 and BITALG.
    unsafe fn end_part(&mut self);

    /// Returns the sums of both windows in the run that ends.
    ///
    /// # Safety
    /// The CPU has AVX-512BW, VL, VBMI2 and BITALG.
    unsafe fn end_run(&mut self) -> [Register; 2];
}

impl Beside for Finals {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn take(&mut self, _: usize, _: __m512i, _: __m512i, product: __m512i) {
        self.add(product);
    }
}

impl Sums for Finals {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn end_part(&mut self) {
        self.flush();
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn end_run(&mut self) -> [Register; 2] {
        self.end()
    }
}

/// Final sums with the least and the greatest prefix.
struct Prefixes {
    sums: [Register; 2],
    extremes: Extremes,
}

impl Beside for Prefixes {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn take(&mut self, _: usize, x: __m512i, w: __m512i, _: __m512i) {
        let few = _mm512_set1_epi32(0xffff);
        let weights = [_mm512_and_si512(w, few), _mm512_andnot_si512(few, w)];
        // One of the two products of a lane is 0.
        self.sums = [0, 1].map(|part| add_32(self.sums[part], _mm512_madd_epi16(x, weights[part])));
        self.extremes.note(self.sums);
    }
}

impl Sums for Prefixes {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn end_part(&mut self) {}

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn end_run(&mut self) -> [Register; 2] {
        std::mem::replace(&mut self.sums, [zero(); 2])
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
            let mut prefixes = Prefixes { sums: [zero(); 2], extremes: Extremes::new() };
            chains_beside::<MODE, OWN, _>(runs, corner, &mut prefixes, out);
            prefixes.extremes.store(out);
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
            unsafe { sums.end_part() };
            log_part(&noted, part, out);
            part += 1;
            registers.count(noted);
        }
        // SAFETY: as above.
        let exact = unsafe { sums.end_run() };
        let base = _mm512_set1_epi32(registers.base);
        store_run(run, widen(registers.value[0]).map(|held| add_32(held, base)), exact, out);
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
