//! [`kernels::walk`](super::super::super::kernels::walk) of windows in place: the prefixes of a few products
//! at a time on lanes of 16 bits.

use std::arch::x86_64::*;

use super::super::super::cells::PlacedWindows;
use super::super::super::kernels::{Lanes, Row, Walked};
use super::activations::Placed;
use super::{load, load_row, store, widen};

/// Number of products whose prefixes are computed in 16 bits, from 0.
const PART: usize = 32;

/// Walks windows whose products fit 16 bits.
///
/// # Panics
/// If a window does not lie within the cells.
#[target_feature(enable = "avx2")]
pub(in super::super) fn walk_in_place(
    windows: PlacedWindows<'_>,
    weights: &[Row],
    start: &Lanes,
    out: &mut [Walked],
) {
    let PlacedWindows { cells, corners, offsets, own } = windows;
    in_chunks!(corners, out, [4, 2, 1], |corners, out| match own {
        true => walk(&corners.map(|corner| Placed::<true>::new(cells, corner, offsets)), weights, start, out),
        false =>
            walk(&corners.map(|corner| Placed::<false>::new(cells, corner, offsets)), weights, start, out),
    });
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn walk<const OWN: bool, const P: usize>(
    windows: &[Placed<'_, OWN>; P],
    weights: &[Row],
    start: &Lanes,
    out: &mut [Walked; P],
) {
    let zero = _mm256_setzero_si256();
    let (least, most) = (_mm256_set1_epi16(i16::MIN), _mm256_set1_epi16(i16::MAX));
    let mut all = [Extremes::new(start); P];
    for (offsets, weights) in windows[0].offsets().chunks(PART).zip(weights.chunks(PART)) {
        let (mut sum, mut min, mut max) = ([zero; P], [zero; P], [zero; P]);
        for (&offset, w) in offsets.iter().zip(weights) {
            let w = load_row(w);
            for p in 0..P {
                // SAFETY: the distance of a product's cell.
                let x = unsafe { windows[p].operands(offset as usize) };
                sum[p] = _mm256_adds_epi16(sum[p], _mm256_mullo_epi16(x, w));
                min[p] = _mm256_min_epi16(min[p], sum[p]);
                max[p] = _mm256_max_epi16(max[p], sum[p]);
            }
        }
        for p in 0..P {
            // Only values at the limits of 16 bits can have been clamped.
            let ends = _mm256_or_si256(_mm256_cmpeq_epi16(min[p], least), _mm256_cmpeq_epi16(max[p], most));
            match _mm256_testz_si256(ends, ends) {
                1 => all[p].append(sum[p], min[p], max[p]),
                _ => all[p].step(windows[p], offsets, weights),
            }
        }
    }
    for (all, out) in all.iter().zip(out) {
        all.store(out);
    }
}

/// Sum and extremes of its prefixes, for the first eight lanes and for the others.
#[derive(Clone, Copy)]
struct Extremes {
    sum: [__m256i; 2],
    min: [__m256i; 2],
    max: [__m256i; 2],
}

impl Extremes {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(start: &Lanes) -> Self {
        let start = [load(start, 0), load(start, 1)];
        Self { sum: start, min: start, max: start }
    }

    /// Appends products that sum to `sum`, with the extremes of their own prefixes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn append(&mut self, sum: __m256i, min: __m256i, max: __m256i) {
        let (sum, min, max) = (widen(sum), widen(min), widen(max));
        for half in 0..2 {
            let before = self.sum[half];
            self.min[half] = _mm256_min_epi32(self.min[half], _mm256_add_epi32(before, min[half]));
            self.max[half] = _mm256_max_epi32(self.max[half], _mm256_add_epi32(before, max[half]));
            self.sum[half] = _mm256_add_epi32(before, sum[half]);
        }
    }

    /// Appends products one by one.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    fn step<const OWN: bool>(&mut self, window: Placed<'_, OWN>, offsets: &[u32], weights: &[Row]) {
        for (&offset, w) in offsets.iter().zip(weights) {
            // SAFETY: the distance of a product's cell.
            let x = unsafe { window.operands(offset as usize) };
            let product = _mm256_mullo_epi16(x, load_row(w));
            self.append(product, product, product);
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn store(&self, out: &mut Walked) {
        for half in 0..2 {
            store(&mut out.sum, half, self.sum[half]);
            store(&mut out.min, half, self.min[half]);
            store(&mut out.max, half, self.max[half]);
        }
    }
}
