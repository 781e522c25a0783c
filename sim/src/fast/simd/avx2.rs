//! Kernels for AVX2: [`kernels::sum`](super::super::kernels::sum) with the multiply-add of pairs, and a saturating
//! [`step_i16`](super::super::kernels::step_i16) that counts in bytes. Compilers do not find either in the plain code.
use std::arch::x86_64::*;

use super::super::kernels::{
    Activations, BOUND_PAIRS, LANES, Lanes, Neighbours, Pair, Rails, Row, Stepped, Walked, first,
};

/// Activations as vectors.
pub(crate) trait VectorActivations: Activations {
    /// Steps `2 * k` and `2 * k + 1` side by side, for the first eight lanes and for the others.
    ///
    /// # Safety
    /// The CPU has AVX2, and both steps exist.
    unsafe fn pairs(self, k: usize) -> [__m256i; 2];

    /// What the lanes multiply in step `k`.
    ///
    /// # Safety
    /// The CPU has AVX2, and the step exists.
    unsafe fn row(self, k: usize) -> __m256i;
}

impl VectorActivations for &[i16] {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn pairs(self, k: usize) -> [__m256i; 2] {
        // SAFETY: both steps exist; the load takes any alignment.
        let pair = unsafe { self.as_ptr().add(2 * k).cast::<i32>().read_unaligned() };
        [_mm256_set1_epi32(pair); 2]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn row(self, k: usize) -> __m256i {
        // SAFETY: the step exists.
        _mm256_set1_epi16(unsafe { *self.get_unchecked(k) })
    }
}

impl VectorActivations for &[Row] {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn pairs(self, k: usize) -> [__m256i; 2] {
        side_by_side(&self[2 * k], &self[2 * k + 1])
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn row(self, k: usize) -> __m256i {
        load_row(&self[k])
    }
}

impl VectorActivations for Neighbours<'_> {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn pairs(self, k: usize) -> [__m256i; 2] {
        side_by_side(Neighbours::row(&self, 2 * k), Neighbours::row(&self, 2 * k + 1))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn row(self, k: usize) -> __m256i {
        load_row(Neighbours::row(&self, k))
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_row(row: &Row) -> __m256i {
    // SAFETY: sixteen lanes of 16 bits; the load takes any alignment.
    unsafe { _mm256_loadu_si256(row.as_ptr().cast()) }
}

/// The lanes of both rows in turn, for the first eight lanes and for the others.
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

/// A saturating [`step_i16`](super::super::kernels::step_i16) for every pixel of a tile.
#[target_feature(enable = "avx2")]
pub(super) fn saturate_tile<X: VectorActivations>(
    x: &[X],
    weights: &[Row],
    start: &Lanes,
    rails: Rails,
    out: &mut [Stepped],
) {
    in_chunks!(x, out, [4, 2, 1], |x, out| saturate(x, weights, start, rails, out));
}

/// Steps after which counts of a byte are moved to where there is room; fewer than a byte counts.
const COUNTED: usize = 252;

/// Both counts of a lane share 16 bits: the high byte counts overflows above, the low one all of them. So the
/// registers hold four pixels.
#[inline]
#[target_feature(enable = "avx2")]
fn saturate<X: VectorActivations, const P: usize>(
    x: &[X; P],
    weights: &[Row],
    start: &Lanes,
    rails: Rails,
    out: &mut [Stepped; P],
) {
    let x = first(x, weights.len());
    let (low, high) = (_mm256_set1_epi16(rails.low as i16), _mm256_set1_epi16(rails.high as i16));
    let zero = _mm256_setzero_si256();
    let mut value = [load_row(&start.map(|start| start as i16)); P];
    let (mut above, mut all) = ([zero; P], [zero; P]);
    for (part, weights) in weights.chunks(COUNTED).enumerate() {
        let mut counts = [zero; P];
        let mut step = |k: usize, w: &Row| {
            let w = load_row(w);
            for p in 0..P {
                // SAFETY: `first` has checked that this step exists.
                let a = unsafe { x[p].row(part * COUNTED + k) };
                let sum = _mm256_adds_epi16(value[p], _mm256_mullo_epi16(a, w));
                counts[p] = _mm256_sub_epi8(counts[p], _mm256_cmpgt_epi16(sum, high));
                counts[p] = _mm256_sub_epi16(counts[p], _mm256_cmpgt_epi16(low, sum));
                value[p] = _mm256_max_epi16(_mm256_min_epi16(sum, high), low);
            }
        };
        let (pairs, last) = weights.as_chunks::<2>();
        for (i, [first, second]) in pairs.iter().enumerate() {
            step(2 * i, first);
            step(2 * i + 1, second);
        }
        for last in last {
            step(weights.len() - 1, last);
        }
        for p in 0..P {
            above[p] = _mm256_add_epi16(above[p], _mm256_srli_epi16::<8>(counts[p]));
            all[p] = _mm256_add_epi16(all[p], _mm256_and_si256(counts[p], _mm256_set1_epi16(0xff)));
        }
    }
    for p in 0..P {
        store_wide(&mut out[p].value, value[p]);
        store_wide(&mut out[p].high, above[p]);
        store_wide(&mut out[p].low, _mm256_sub_epi16(all[p], above[p]));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_wide(lanes: &mut Lanes, row: __m256i) {
    let halves = [_mm256_castsi256_si128(row), _mm256_extracti128_si256::<1>(row)];
    for (lanes, half) in lanes.as_chunks_mut::<{ LANES / 2 }>().0.iter_mut().zip(halves) {
        // SAFETY: eight lanes of 32 bits; the store takes any alignment.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), _mm256_cvtepi16_epi32(half)) };
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn sum_tile<X: VectorActivations, const BOUNDED: bool>(
    x: &[X],
    weights: &[Pair],
    start: &Lanes,
    out: &mut [Walked],
) {
    if BOUNDED {
        in_chunks!(x, out, [2, 1], |x, out| sum::<_, _, BOUNDED>(x, weights, start, out));
    } else {
        in_chunks!(x, out, [4, 2, 1], |x, out| sum::<_, _, BOUNDED>(x, weights, start, out));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn sum<X: VectorActivations, const P: usize, const BOUNDED: bool>(
    x: &[X; P],
    weights: &[Pair],
    start: &Lanes,
    out: &mut [Walked; P],
) {
    let load = |lanes: &Lanes, half: usize| {
        // SAFETY: eight lanes from `8 * half` on, `half` being 0 or 1; the load takes any alignment.
        unsafe { _mm256_loadu_si256(lanes.as_ptr().add(8 * half).cast()) }
    };
    let store = |lanes: &mut Lanes, half: usize, value: __m256i| {
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().add(8 * half).cast(), value) }
    };
    let weight = |pair: &Pair, half: usize| {
        // SAFETY: sixteen weights from `16 * half` on, `half` being 0 or 1; the load takes any alignment.
        unsafe { _mm256_loadu_si256(pair.as_ptr().add(LANES * half).cast()) }
    };
    // The steps that the loop below reads exist.
    let x = first(x, 2 * weights.len());
    let start = [load(start, 0), load(start, 1)];
    let mut sum = [start; P];
    let mut min = sum;
    let mut max = sum;
    for (part, weights) in weights.chunks(BOUND_PAIRS).enumerate() {
        let offset = part * BOUND_PAIRS;
        let before = sum;
        let mut size = [[_mm256_setzero_si256(); 2]; P];
        for (k, pair) in weights.iter().enumerate() {
            let w = [weight(pair, 0), weight(pair, 1)];
            let w_size = [_mm256_abs_epi16(w[0]), _mm256_abs_epi16(w[1])];
            for p in 0..P {
                // SAFETY: `first` has checked that these steps exist.
                let pairs = unsafe { x[p].pairs(offset + k) };
                for half in 0..2 {
                    let a = pairs[half];
                    sum[p][half] = _mm256_add_epi32(sum[p][half], _mm256_madd_epi16(a, w[half]));
                    if BOUNDED {
                        // 16 bits hold every magnitude below 0, but not that of -32768 above.
                        let size_below = _mm256_min_epi16(a, _mm256_sub_epi16(_mm256_setzero_si256(), a));
                        let products = _mm256_madd_epi16(size_below, w_size[half]);
                        size[p][half] = _mm256_sub_epi32(size[p][half], products);
                    }
                }
            }
        }
        if BOUNDED {
            for p in 0..P {
                for half in 0..2 {
                    let (before, size) = (before[p][half], size[p][half]);
                    let change = _mm256_sub_epi32(sum[p][half], before);
                    let up = _mm256_srai_epi32::<1>(_mm256_add_epi32(size, change));
                    let down = _mm256_srai_epi32::<1>(_mm256_sub_epi32(size, change));
                    max[p][half] = _mm256_max_epi32(max[p][half], _mm256_add_epi32(before, up));
                    min[p][half] = _mm256_min_epi32(min[p][half], _mm256_sub_epi32(before, down));
                }
            }
        }
    }
    for p in 0..P {
        for half in 0..2 {
            store(&mut out[p].sum, half, sum[p][half]);
            if BOUNDED {
                store(&mut out[p].min, half, min[p][half]);
                store(&mut out[p].max, half, max[p][half]);
            }
        }
    }
}
