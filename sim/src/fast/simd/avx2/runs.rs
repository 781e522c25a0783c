//! Serial runs of an innermost level, one window per vector.

use std::arch::x86_64::*;
use std::array::from_mut;

use super::super::super::kernels::{NOTED, RunsOut};
use super::super::super::singles::{SingleRuns, SingleWeights};
use super::activations::Placed;
use super::names::*;
use super::singles::{Beside, Registers, Step};
use super::{load, store, store_row, widen};

/// Number of windows per vector.
pub(super) const WINDOWS: usize = 1;

exact_sums!("avx2");

/// Exact sums of the runs of one window, computed in addition to stepping.
trait Sums: Copy {
    /// Number of products after which [`Self::end_part`] must be called.
    const PART: usize;

    /// Returns empty sums.
    ///
    /// # Safety
    /// The CPU has AVX2.
    unsafe fn new() -> Self;

    /// Adds the product of a step.
    ///
    /// # Safety
    /// The CPU has AVX2.
    unsafe fn take(&mut self, step: Step);

    /// Ends part `part`, counted over all runs, after `steps` products.
    ///
    /// # Safety
    /// The CPU has AVX2.
    unsafe fn end_part(&mut self, part: usize, steps: usize, out: &mut RunsOut<'_>);

    /// Returns the sum of the run that ends.
    ///
    /// # Safety
    /// The CPU has AVX2.
    unsafe fn end_run(&mut self) -> [Register; 2];

    /// Finishes after all runs have ended.
    ///
    /// # Safety
    /// The CPU has AVX2.
    unsafe fn end(&self, out: &mut RunsOut<'_>);
}

/// Sums of `P` windows.
struct OfWindows<S, const P: usize>([S; P]);

impl<S: Sums, const P: usize> Beside for OfWindows<S, P> {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn take(&mut self, _: usize, p: usize, step: Step) {
        // SAFETY: the CPU has AVX2, as for this function.
        unsafe { self.0[p].take(step) }
    }
}

impl Sums for Finals {
    const PART: usize = Self::PRODUCTS;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn new() -> Self {
        Self::new()
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn take(&mut self, step: Step) {
        self.add(step.product);
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn end_part(&mut self, _: usize, _: usize, _: &mut RunsOut<'_>) {
        self.flush();
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn end_run(&mut self) -> [__m256i; 2] {
        self.end()
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn end(&self, _: &mut RunsOut<'_>) {}
}

/// Final sums, extremes of prefixes, and the products that overflow.
#[derive(Clone, Copy)]
struct Prefixes {
    sum: [__m256i; 2],
    extremes: Extremes,
    /// One bit per product, the last one in the lowest bit: whether the sum fits.
    fits: __m256i,
}

impl Sums for Prefixes {
    const PART: usize = NOTED;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn new() -> Self {
        let zero = _mm256_setzero_si256();
        Self { sum: [zero; 2], extremes: Extremes::new(), fits: zero }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn take(&mut self, step: Step) {
        let product = widen(step.product);
        self.sum = [0, 1].map(|half| _mm256_add_epi32(self.sum[half], product[half]));
        self.extremes.note(self.sum);
        self.fits = _mm256_sub_epi16(_mm256_add_epi16(self.fits, self.fits), step.fits);
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn end_part(&mut self, part: usize, steps: usize, out: &mut RunsOut<'_>) {
        let fits = std::mem::replace(&mut self.fits, _mm256_setzero_si256());
        if let Some(row) = out.log.get_mut(part) {
            let noted = ((1u32 << steps) - 1) as i16;
            store_row(row, _mm256_andnot_si256(fits, _mm256_set1_epi16(noted)));
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn end_run(&mut self) -> [__m256i; 2] {
        std::mem::replace(&mut self.sum, [_mm256_setzero_si256(); 2])
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn end(&self, out: &mut RunsOut<'_>) {
        self.extremes.store(from_mut(out));
    }
}

/// Steps serial runs of two windows.
///
/// # Panics
/// If a window does not lie within the cells, or there is no room for the results.
#[target_feature(enable = "avx2")]
pub(in super::super) fn chains<const MODE: u8, const OWN: bool>(
    runs: &SingleRuns<'_>,
    out: &mut [RunsOut<'_>; 2],
) {
    match out[0].prefixes {
        // The results of one window fill the registers.
        Some(_) => {
            let (corners, out) = (runs.corners.as_chunks::<1>().0, out.as_chunks_mut::<1>().0);
            for (corners, out) in corners.iter().zip(out) {
                chains_beside::<MODE, OWN, Prefixes, 1>(runs, corners, out);
            }
        }
        None => chains_beside::<MODE, OWN, Finals, 2>(runs, &runs.corners, out),
    }
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn chains_beside<const MODE: u8, const OWN: bool, S: Sums, const P: usize>(
    runs: &SingleRuns<'_>,
    corners: &[usize; P],
    out: &mut [RunsOut<'_>; P],
) {
    let &SingleRuns { stepping, length, .. } = runs;
    let SingleWeights { rows, marks } = stepping.weights;
    let windows = corners.map(|corner| Placed::<OWN>::new(stepping.cells, corner, stepping.offsets));
    let offsets = windows[0].offsets();
    let mut registers = Registers::<P>::new::<MODE>(&stepping);
    // SAFETY: the CPU has AVX2, as for this function.
    let mut sums = OfWindows([unsafe { S::new() }; P]);
    let empty = registers.value;
    let mut part = 0;
    for (run, begin) in (0..rows.len()).step_by(length).enumerate() {
        let end = rows.len().min(begin + length);
        registers.value = empty;
        for from in (begin..end).step_by(S::PART) {
            let of_part = from..end.min(from + S::PART);
            let products = (&offsets[of_part.clone()], &rows[of_part.clone()], &marks[of_part.clone()]);
            registers.steps::<MODE, true, OWN, _>(&stepping, &windows, products, &mut sums);
            for (sums, out) in sums.0.iter_mut().zip(&mut *out) {
                // SAFETY: as above.
                unsafe { sums.end_part(part, of_part.len(), out) };
            }
            part += 1;
        }
        for (p, out) in out.iter_mut().enumerate() {
            // SAFETY: as above.
            let exact = unsafe { sums.0[p].end_run() };
            store_run(run, registers.held(p), exact, from_mut(out));
        }
    }
    for (p, out) in out.iter_mut().enumerate() {
        // SAFETY: as above.
        unsafe { sums.0[p].end(out) };
        store_counts([registers.above[p], registers.below[p]], from_mut(out));
    }
}
