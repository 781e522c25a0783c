//! Output codes on AVX2.

use std::arch::x86_64::*;

use super::super::super::kernels::{ByteRows, Delivered, LANES, Lanes, Scaling};
use super::{HALF, load, store};

/// Shuffle that moves odd lanes to even ones.
const ODD: i32 = 0xf5;
/// Blend that takes odd lanes from the second operand.
const BLEND: i32 = 0xaa;

/// Computes output codes under scheme D: see [`kernels::codes`](super::super::super::kernels::codes).
#[target_feature(enable = "avx2")]
pub(in super::super) fn codes_double<'s>(
    sums: impl Iterator<Item = &'s Lanes>,
    scaling: &Scaling,
    out: impl Iterator<Item = &'s mut Lanes>,
) {
    let [first, second] = [Half::new(scaling, 0), Half::new(scaling, 1)];
    let pixels = sums.zip(out);
    match (scaling.has_room, scaling.is_rectified()) {
        (true, true) => pixels.for_each(|(sum, out)| {
            store(out, 0, first.code_with_room::<true>(load(sum, 0)));
            store(out, 1, second.code_with_room::<true>(load(sum, 1)));
        }),
        (true, false) => pixels.for_each(|(sum, out)| {
            store(out, 0, first.code_with_room::<false>(load(sum, 0)));
            store(out, 1, second.code_with_room::<false>(load(sum, 1)));
        }),
        (false, _) => pixels.for_each(|(sum, out)| {
            store(out, 0, first.code(load(sum, 0)));
            store(out, 1, second.code(load(sum, 1)));
        }),
    }
}

/// Eight lanes of a [`Scaling`].
struct Half {
    bias: __m256i,
    left: __m256i,
    right: __m256i,
    low: __m256i,
    high: __m256i,
    zero_point: __m256i,
    significand: __m256i,
    odd_significand: __m256i,
    /// Value that is added before the right shift if there is room: half a code and the zero point.
    added: __m256i,
}

impl Half {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(scaling: &Scaling, half: usize) -> Self {
        let [bias, left, right, low, high, significand] =
            [&scaling.bias, &scaling.left, &scaling.right, &scaling.low, &scaling.high, &scaling.significand]
                .map(|lanes| load(lanes, half));
        let (one, zero_point) = (_mm256_set1_epi32(1), _mm256_set1_epi32(scaling.zero_point));
        let half_code = _mm256_sllv_epi32(one, _mm256_sub_epi32(right, one));
        // Not by a right shift: from its knowledge of the upper halves the compiler would derive a 64-bit
        // multiplication.
        let odd_significand = _mm256_shuffle_epi32::<ODD>(significand);
        let added = _mm256_add_epi32(half_code, _mm256_sllv_epi32(zero_point, right));
        Self { bias, left, right, low, high, zero_point, significand, odd_significand, added }
    }

    /// Returns the products of the even and of the odd lanes of `x`, with `half` added.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn products(&self, x: __m256i, half: i64) -> [__m256i; 2] {
        let half = _mm256_set1_epi64x(half);
        let even = _mm256_mul_epi32(x, self.significand);
        let odd = _mm256_mul_epi32(_mm256_shuffle_epi32::<ODD>(x), self.odd_significand);
        [_mm256_add_epi64(even, half), _mm256_add_epi64(odd, half)]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn code(&self, sum: __m256i) -> __m256i {
        let one = _mm256_set1_epi32(1);
        let mask = _mm256_sub_epi32(_mm256_sllv_epi32(one, self.right), one);
        let x = _mm256_sllv_epi32(_mm256_add_epi32(sum, self.bias), self.left);
        let [even, odd] = self.products(x, 1 << 30);
        let product = _mm256_blend_epi32::<BLEND>(_mm256_srli_epi64::<31>(even), _mm256_slli_epi64::<1>(odd));
        // Ties away from zero.
        let threshold = _mm256_sub_epi32(_mm256_srli_epi32::<1>(mask), _mm256_srai_epi32::<31>(product));
        let up = _mm256_cmpgt_epi32(_mm256_and_si256(product, mask), threshold);
        let scaled = _mm256_sub_epi32(_mm256_srav_epi32(product, self.right), up);
        let clamped = _mm256_min_epi32(_mm256_max_epi32(scaled, self.low), self.high);
        _mm256_add_epi32(clamped, self.zero_point)
    }

    /// Returns the codes of sums; requires [`Scaling::has_room`].
    #[inline]
    #[target_feature(enable = "avx2")]
    fn code_with_room<const RECTIFIED: bool>(&self, sum: __m256i) -> __m256i {
        let [low, high] = [self.low, self.high].map(|bound| _mm256_add_epi32(bound, self.zero_point));
        _mm256_min_epi32(_mm256_max_epi32(self.rounded::<RECTIFIED>(sum), low), high)
    }

    /// Returns codes before they are clamped; requires [`Scaling::has_room`]. The doubling is included in the
    /// left shift; the rounding terms of both roundings and the zero point are added before the right shift.
    /// With `RECTIFIED`, codes below the zero point, which the clamp raises, may have other values below it.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn rounded<const RECTIFIED: bool>(&self, sum: __m256i) -> __m256i {
        let left = _mm256_add_epi32(self.left, _mm256_set1_epi32(1));
        let x = _mm256_sllv_epi32(_mm256_add_epi32(sum, self.bias), left);
        let [even, odd] = self.products(x, 1 << 31);
        let product = _mm256_blend_epi32::<BLEND>(_mm256_shuffle_epi32::<ODD>(even), odd);
        let mut rounded = _mm256_add_epi32(product, self.added);
        if !RECTIFIED {
            // Ties away from zero.
            rounded = _mm256_add_epi32(rounded, _mm256_srai_epi32::<31>(product));
        }
        _mm256_srav_epi32(rounded, self.right)
    }
}

/// Writes the output codes of sums under scheme D as bytes.
///
/// # Panics
/// If `out` is too short.
#[target_feature(enable = "avx2")]
pub(in super::super) fn put_double<D: Delivered>(
    sums: &[D],
    scaling: &Scaling,
    rows: ByteRows,
    out: &mut [u8],
) {
    match (scaling.has_room, scaling.is_rectified()) {
        (true, true) => put_with_room::<_, true>(sums, scaling, rows, out),
        (true, false) => put_with_room::<_, false>(sums, scaling, rows, out),
        (false, _) => {
            let [first, second] = [Half::new(scaling, 0), Half::new(scaling, 1)];
            if rows.count <= HALF {
                put_rows::<_, 2, HALF>(sums, rows, out, |[a, b]| {
                    _mm256_packs_epi32(first.code(load(a, 0)), first.code(load(b, 0)))
                });
            } else {
                put_rows::<_, 1, LANES>(sums, rows, out, |[sum]| {
                    _mm256_packs_epi32(first.code(load(sum, 0)), second.code(load(sum, 1)))
                });
            }
        }
    }
}

/// Writes the output codes of sums as bytes; requires [`Scaling::has_room`].
#[inline]
#[target_feature(enable = "avx2")]
fn put_with_room<D: Delivered, const RECTIFIED: bool>(
    sums: &[D],
    scaling: &Scaling,
    rows: ByteRows,
    out: &mut [u8],
) {
    let halves = [Half::new(scaling, 0), Half::new(scaling, 1)];
    // The bounds as 16-bit words, which hold every code of a byte.
    let bounds = |of: fn(&Half) -> __m256i, [a, b]: [&Half; 2]| {
        _mm256_packs_epi32(_mm256_add_epi32(of(a), a.zero_point), _mm256_add_epi32(of(b), b.zero_point))
    };
    let [first, second] = &halves;
    if rows.count <= HALF {
        let [low, high] = [bounds(|half| half.low, [first; 2]), bounds(|half| half.high, [first; 2])];
        put_rows::<_, 2, HALF>(sums, rows, out, |[a, b]| {
            let words = [a, b].map(|sum| first.rounded::<RECTIFIED>(load(sum, 0)));
            let codes = _mm256_packs_epi32(words[0], words[1]);
            _mm256_min_epi16(_mm256_max_epi16(codes, low), high)
        });
    } else {
        let both = [first, second];
        let [low, high] = [bounds(|half| half.low, both), bounds(|half| half.high, both)];
        put_rows::<_, 1, LANES>(sums, rows, out, |[sum]| {
            let words = [first.rounded::<RECTIFIED>(load(sum, 0)), second.rounded::<RECTIFIED>(load(sum, 1))];
            let codes = _mm256_packs_epi32(words[0], words[1]);
            _mm256_min_epi16(_mm256_max_epi16(codes, low), high)
        });
    }
}

/// Writes codes as bytes.
///
/// # Panics
/// If `out` is too short.
#[target_feature(enable = "avx2")]
pub(in super::super) fn put_bytes(codes: &[Lanes], rows: ByteRows, out: &mut [u8]) {
    if rows.count <= HALF {
        put_rows::<_, 2, HALF>(codes, rows, out, |[a, b]| _mm256_packs_epi32(load(a, 0), load(b, 0)));
    } else {
        put_rows::<_, 1, LANES>(codes, rows, out, |[codes]| {
            _mm256_packs_epi32(load(codes, 0), load(codes, 1))
        });
    }
}

/// Writes the codes of the first `WIDTH` lanes of every pixel. `words` computes them for `N` pixels in the
/// order of `_mm256_packs_epi32`: for one pixel, or for the first halves of two.
#[inline]
#[target_feature(enable = "avx2")]
fn put_rows<D: Delivered, const N: usize, const WIDTH: usize>(
    sums: &[D],
    rows: ByteRows,
    out: &mut [u8],
    words: impl Fn([&Lanes; N]) -> __m256i,
) {
    let least = _mm256_set1_epi16(rows.least as i16);
    // After the second packing, pixels are interleaved in groups of four lanes.
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (index, pixels) in sums.chunks(2 * N).enumerate() {
        // The last pixel replaces missing ones.
        let sum = |at: usize| pixels[at.min(pixels.len() - 1)].delivered();
        let mut codes = [_mm256_setzero_si256(); 2];
        // A single call of `words`, so that it is inlined.
        for (i, codes) in codes.iter_mut().enumerate() {
            *codes = _mm256_sub_epi16(words(std::array::from_fn(|pixel| sum(i * N + pixel))), least);
        }
        let bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(codes[0], codes[1]), order);
        let out = &mut out[2 * N * index * rows.stride..];
        if rows.count == WIDTH && pixels.len() == 2 * N {
            store_pixels::<WIDTH>(bytes, rows.stride, out);
            continue;
        }
        let mut all = [0; 2 * LANES];
        // SAFETY: 32 bytes; the store takes any alignment.
        unsafe { _mm256_storeu_si256(all.as_mut_ptr().cast(), bytes) };
        for (bytes, out) in all.chunks(WIDTH).take(pixels.len()).zip(out.chunks_mut(rows.stride)) {
            out[..rows.count].copy_from_slice(&bytes[..rows.count]);
        }
    }
}

/// Stores the bytes of pixels, `WIDTH` (16 or 8) of each.
#[inline]
#[target_feature(enable = "avx2")]
fn store_pixels<const WIDTH: usize>(bytes: __m256i, stride: usize, out: &mut [u8]) {
    let parts = [_mm256_castsi256_si128(bytes), _mm256_extracti128_si256::<1>(bytes)];
    for (i, part) in parts.into_iter().enumerate() {
        if WIDTH == LANES {
            let out = &mut out[i * stride..][..LANES];
            // SAFETY: 16 bytes; the store takes any alignment.
            unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), part) };
            continue;
        }
        const { assert!(WIDTH == LANES || WIDTH == LANES / 2) };
        for (half, part) in [part, _mm_unpackhi_epi64(part, part)].into_iter().enumerate() {
            let out = &mut out[(2 * i + half) * stride..][..LANES / 2];
            // SAFETY: 8 bytes; the store takes any alignment.
            unsafe { _mm_storel_epi64(out.as_mut_ptr().cast(), part) };
        }
    }
}
