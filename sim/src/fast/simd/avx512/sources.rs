//! Sources of the products of two windows.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use super::super::super::kernels::LANES;
use super::super::super::pairs::{PairBytes, PairCells, StepList};
use super::super::super::places::traces::NEVER;
use super::halves;

/// Source of the products of two windows, which also defines how both share a vector. By default, all
/// products are stepped, and both windows share every lane of 32 bits.
pub(super) trait Source: Copy {
    /// Data that all windows share.
    type Context: Copy;

    /// Returns the number of steps.
    fn steps(self, context: Self::Context) -> usize;

    /// Returns the operands of the lanes in step `i`.
    ///
    /// # Safety
    /// The CPU has AVX-512BW, the context is that of the windows, and there are more than `i` steps, or there
    /// is room for a longer list than this.
    unsafe fn operands(self, context: Self::Context, i: usize) -> __m512i;

    /// Returns the index of the weights of step `i`.
    ///
    /// # Safety
    /// The conditions of [`Self::operands`] hold.
    #[inline(always)]
    unsafe fn row(self, i: usize) -> usize {
        i
    }

    /// Returns the number of steps before product `k`; there are more than `k` products.
    #[inline(always)]
    fn step_from(self, k: u16) -> u32 {
        k.into()
    }

    /// Returns the steps of products `k`, or the first ones after them; [`NEVER`] if there are none, or if
    /// `k` is [`NEVER`].
    ///
    /// # Safety
    /// The CPU has AVX-512BW.
    #[inline(always)]
    unsafe fn steps_from(self, k: __m512i) -> __m512i {
        k
    }

    /// Returns 16-bit numbers for both windows.
    ///
    /// # Safety
    /// The CPU has AVX-512BW.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn both(lanes: __m512i) -> __m512i {
        let low = _mm512_and_si512(lanes, _mm512_set1_epi32(0xffff));
        _mm512_or_si512(low, _mm512_slli_epi32::<16>(lanes))
    }

    /// Separates the values of the first window from those of the second one.
    ///
    /// # Safety
    /// The CPU has AVX-512BW, VBMI2 and BITALG.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn apart(lanes: __m512i) -> [__m512i; 2] {
        halves(lanes)
    }
}

/// Source of all products, from the cells of a window up to the last one that is read.
#[derive(Clone, Copy)]
pub(super) struct Dense<'a, const OWN: bool> {
    cells: &'a [u32],
    offsets: &'a [u32],
}

impl<'a, const OWN: bool> Dense<'a, OWN> {
    /// Returns the products of the window at `corner`.
    ///
    /// # Panics
    /// If it does not lie within the cells.
    pub fn new(cells: PairCells<'a>, corner: usize) -> Self {
        let last = cells.reach + if OWN { LANES } else { 1 };
        Self { cells: &cells.cells[corner..corner + last], offsets: cells.offsets }
    }
}

impl<const OWN: bool> Source for Dense<'_, OWN> {
    type Context = ();

    #[inline(always)]
    fn steps(self, (): ()) -> usize {
        self.offsets.len()
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    unsafe fn operands(self, (): (), i: usize) -> __m512i {
        // SAFETY: `new` has checked the cells of the farthest product; the load takes any alignment.
        unsafe {
            let cell = self.cells.as_ptr().add(*self.offsets.get_unchecked(i) as usize);
            if OWN { _mm512_loadu_si512(cell.cast()) } else { _mm512_set1_epi32(*cell as i32) }
        }
    }
}

/// Source of all products of two windows whose lanes read adjacent bytes. The first window occupies the lower
/// half of a vector, the second one the upper half.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a> {
    /// First bytes of the windows.
    corners: [usize; 2],
    of: PhantomData<PairBytes<'a>>,
}

impl<'a> Bytes<'a> {
    /// Returns the products of the windows at `corners`.
    ///
    /// # Panics
    /// If they do not lie within the bytes.
    pub fn new(of: PairBytes<'a>, corners: [usize; 2]) -> Self {
        assert!(corners.iter().all(|corner| corner + of.reach + LANES <= of.bytes.len()));
        Self { corners, of: PhantomData }
    }
}

impl<'a> Source for Bytes<'a> {
    type Context = PairBytes<'a>;

    #[inline(always)]
    fn steps(self, of: PairBytes<'a>) -> usize {
        of.offsets.len()
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn operands(self, of: PairBytes<'a>, i: usize) -> __m512i {
        let [first, second] = self.corners.map(|corner| {
            // SAFETY: `new` has checked the bytes of the farthest product; the load takes any alignment.
            unsafe {
                let cell = corner + *of.offsets.get_unchecked(i) as usize;
                _mm_loadu_si128(of.bytes.as_ptr().add(cell).cast())
            }
        });
        let bytes = _mm512_cvtepu8_epi16(_mm256_set_m128i(second, first));
        _mm512_add_epi16(bytes, _mm512_set1_epi16(of.origin as i16))
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn both(lanes: __m512i) -> __m512i {
        _mm512_broadcast_i64x4(_mm512_cvtepi32_epi16(lanes))
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
    unsafe fn apart(lanes: __m512i) -> [__m512i; 2] {
        let halves = [_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64::<1>(lanes)];
        halves.map(|half| _mm512_cvtepi16_epi32(half))
    }
}

impl Source for &StepList {
    type Context = ();

    #[inline(always)]
    fn steps(self, (): ()) -> usize {
        self.count
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    unsafe fn operands(self, (): (), i: usize) -> __m512i {
        // SAFETY: the caller guarantees that the step exists.
        _mm512_set1_epi32(unsafe { *self.operands.get_unchecked(i) } as i32)
    }

    #[inline(always)]
    unsafe fn row(self, i: usize) -> usize {
        // SAFETY: as above.
        unsafe { usize::from(*self.rows.get_unchecked(i)) }
    }

    #[inline(always)]
    fn step_from(self, k: u16) -> u32 {
        self.before[usize::from(k)]
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    unsafe fn steps_from(self, k: __m512i) -> __m512i {
        let never = _mm512_set1_epi32(NEVER.into());
        let there = _mm512_cmplt_epu32_mask(k, _mm512_set1_epi32(self.before.len() as i32));
        let before: *const i32 = self.before.as_ptr().cast();
        let counting = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let first = _mm512_cvtsi512_si32(k) as usize;
        let falling = _mm512_sub_epi32(_mm512_set1_epi32(first as i32), counting);
        let falls = _mm512_mask_cmpneq_epi32_mask(there, k, falling) == 0;
        // Columns of an array begin one after the other, so their ranks are adjacent, and one load is faster
        // than a gather.
        let steps = if falls && (LANES - 1..self.before.len()).contains(&first) {
            let backwards = _mm512_sub_epi32(_mm512_set1_epi32(LANES as i32 - 1), counting);
            // SAFETY: the first one lies within, and the others before it.
            let ranks = unsafe { _mm512_loadu_si512(before.add(first + 1 - LANES).cast()) };
            _mm512_mask_permutexvar_epi32(never, there, backwards, ranks)
        } else {
            // SAFETY: only what lies within is read.
            unsafe { _mm512_mask_i32gather_epi32::<4>(never, there, k, before) }
        };
        let some = _mm512_cmplt_epu32_mask(steps, _mm512_set1_epi32(self.count as i32));
        _mm512_mask_mov_epi32(never, some, steps)
    }
}
