//! Activations as AVX2 vectors.

use std::arch::x86_64::*;

use super::super::super::cells::CellOffsets;
use super::super::super::kernels::{Activations, LANES, Neighbours, Row};
use super::super::super::words::PairLayout;
use super::load_row;

/// Activations of two steps at a time.
pub(crate) trait Pairs: Copy {
    /// Returns steps `2 * k` and `2 * k + 1` interleaved, for the first eight lanes and for the others.
    ///
    /// # Safety
    /// The CPU has AVX2, and both steps exist.
    unsafe fn pairs(self, k: usize) -> [__m256i; 2];
}

/// Activations as vectors.
pub(crate) trait VectorActivations: Activations + Pairs {
    /// Returns the operands of the lanes in step `k`.
    ///
    /// # Safety
    /// The CPU has AVX2, and the step exists.
    unsafe fn row(self, k: usize) -> __m256i;
}

impl Pairs for &[i16] {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn pairs(self, k: usize) -> [__m256i; 2] {
        // SAFETY: both steps exist; the load takes any alignment.
        let pair = unsafe { self.as_ptr().add(2 * k).cast::<i32>().read_unaligned() };
        [_mm256_set1_epi32(pair); 2]
    }
}

impl VectorActivations for &[i16] {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn row(self, k: usize) -> __m256i {
        // SAFETY: the step exists.
        _mm256_set1_epi16(unsafe { *self.get_unchecked(k) })
    }
}

impl Pairs for &[Row] {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn pairs(self, k: usize) -> [__m256i; 2] {
        side_by_side(&self[2 * k], &self[2 * k + 1])
    }
}

impl VectorActivations for &[Row] {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn row(self, k: usize) -> __m256i {
        load_row(&self[k])
    }
}

impl Pairs for Neighbours<'_> {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn pairs(self, k: usize) -> [__m256i; 2] {
        side_by_side(Neighbours::row(&self, 2 * k), Neighbours::row(&self, 2 * k + 1))
    }
}

impl VectorActivations for Neighbours<'_> {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn row(self, k: usize) -> __m256i {
        load_row(Neighbours::row(&self, k))
    }
}

/// Pairs of a window that all lanes share, read in place.
#[derive(Clone, Copy)]
pub(super) struct InPlace<'x> {
    cells: &'x [i16],
    offsets: &'x [u32],
}

impl<'x> InPlace<'x> {
    /// Returns the pairs of the window at `corner`.
    ///
    /// # Panics
    /// If it does not lie within the cells.
    #[inline(always)]
    pub fn new(cells: &'x [i16], corner: usize, layout: &'x PairLayout) -> Self {
        Self { cells: &cells[corner..corner + layout.reach() + 2], offsets: layout.offsets() }
    }
}

impl Pairs for InPlace<'_> {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn pairs(self, k: usize) -> [__m256i; 2] {
        // SAFETY: the pair exists, and `new` has checked the cells of the farthest one; the load takes any alignment.
        let pair = unsafe {
            let offset = *self.offsets.get_unchecked(k) as usize;
            self.cells.as_ptr().add(offset).cast::<i32>().read_unaligned()
        };
        [_mm256_set1_epi32(pair); 2]
    }
}

/// Window that is read in place; holds exactly the cells that its products read. With `OWN`, lane `l` reads
/// the `l`-th cell from a product's cell on; otherwise all lanes read that cell.
#[derive(Clone, Copy)]
pub(super) struct Placed<'x, const OWN: bool> {
    cells: &'x [i16],
    offsets: &'x CellOffsets,
}

impl<'x, const OWN: bool> Placed<'x, OWN> {
    /// Returns the window at `corner`.
    ///
    /// # Panics
    /// If it does not lie within the cells.
    #[inline(always)]
    pub fn new(cells: &'x [i16], corner: usize, offsets: &'x CellOffsets) -> Self {
        let last = offsets.reach() + if OWN { LANES } else { 1 };
        Self { cells: &cells[corner..corner + last], offsets }
    }

    /// Returns the distances of the products' cells.
    #[inline(always)]
    pub fn offsets(self) -> &'x [u32] {
        self.offsets.all()
    }

    /// Returns the operands of the lanes at a distance.
    ///
    /// # Safety
    /// The CPU has AVX2, and `offset` is one of [`Self::offsets`].
    #[inline]
    #[target_feature(enable = "avx2")]
    pub unsafe fn operands(self, offset: usize) -> __m256i {
        // SAFETY: `new` has checked the cells of the farthest product; the load takes any alignment.
        unsafe {
            let cell = self.cells.as_ptr().add(offset);
            if OWN { _mm256_loadu_si256(cell.cast()) } else { _mm256_set1_epi16(*cell) }
        }
    }
}

/// Interleaves the lanes of both rows, for the first eight lanes and for the others.
#[inline]
#[target_feature(enable = "avx2")]
fn side_by_side(a: &Row, b: &Row) -> [__m256i; 2] {
    let half = |first: usize| {
        // SAFETY: eight lanes from `first` on, which is 0 or 8; the load takes any alignment.
        let load = |row: &Row| unsafe { _mm_loadu_si128(row.as_ptr().add(first).cast()) };
        let (a, b) = (load(a), load(b));
        _mm256_set_m128i(_mm_unpackhi_epi16(a, b), _mm_unpacklo_epi16(a, b))
    };
    [half(0), half(LANES / 2)]
}
