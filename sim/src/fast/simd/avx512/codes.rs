//! Output codes on AVX-512.

use std::arch::x86_64::*;

use super::super::super::kernels::{ByteRows, Delivered, LANES, Lanes, Scaling};
use super::{load, store};

/// Computes output codes under scheme D: see [`kernels::codes`](super::super::kernels::codes).
#[target_feature(enable = "avx512bw,avx512vl")]
pub(in super::super) fn codes_double<'s>(
    sums: impl Iterator<Item = &'s Lanes>,
    scaling: &Scaling,
    out: impl Iterator<Item = &'s mut Lanes>,
) {
    match (scaling.has_room, scaling.is_rectified()) {
        (true, true) => return codes_with_room::<true>(sums, scaling, out),
        (true, false) => return codes_with_room::<false>(sums, scaling, out),
        (false, _) => {}
    }
    let [bias, left, right, low, high] =
        [&scaling.bias, &scaling.left, &scaling.right, &scaling.low, &scaling.high].map(|lanes| load(lanes));
    let significand = load(&scaling.significand);
    let odd_significand = _mm512_srli_epi64::<32>(significand);
    let half = _mm512_set1_epi64(1 << 30);
    let one = _mm512_set1_epi32(1);
    let mask = _mm512_sub_epi32(_mm512_sllv_epi32(one, right), one);
    let threshold = _mm512_srli_epi32::<1>(mask);
    let zero_point = _mm512_set1_epi32(scaling.zero_point);
    for (sum, out) in sums.zip(out) {
        let x = _mm512_sllv_epi32(_mm512_add_epi32(load(sum), bias), left);
        let even = _mm512_add_epi64(_mm512_mul_epi32(x, significand), half);
        let odd = _mm512_mul_epi32(_mm512_srli_epi64::<32>(x), odd_significand);
        let odd = _mm512_slli_epi64::<1>(_mm512_add_epi64(odd, half));
        let product = _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64::<31>(even), odd);
        // Ties away from zero.
        let threshold = _mm512_sub_epi32(threshold, _mm512_srai_epi32::<31>(product));
        let up = _mm512_cmpgt_epi32_mask(_mm512_and_si512(product, mask), threshold);
        let shifted = _mm512_srav_epi32(product, right);
        let scaled = _mm512_mask_add_epi32(shifted, up, shifted, one);
        let clamped = _mm512_min_epi32(_mm512_max_epi32(scaled, low), high);
        store(out, _mm512_add_epi32(clamped, zero_point));
    }
}

/// Computes output codes; requires [`Scaling::has_room`].
#[target_feature(enable = "avx512bw,avx512vl")]
fn codes_with_room<'s, const RECTIFIED: bool>(
    sums: impl Iterator<Item = &'s Lanes>,
    scaling: &Scaling,
    out: impl Iterator<Item = &'s mut Lanes>,
) {
    let room = Room::new(scaling);
    for (sum, out) in sums.zip(out) {
        store(out, room.clamp(room.rounded::<RECTIFIED>(load(sum))));
    }
}

/// Computes codes; requires [`Scaling::has_room`]. The doubling is included in the left shift; the rounding
/// terms of both roundings and the zero point are added before the right shift.
#[derive(Clone, Copy)]
struct Room {
    bias: __m512i,
    left: __m512i,
    /// Significands of the even lanes, and of the odd ones.
    significands: [__m512i; 2],
    added: __m512i,
    right: __m512i,
    low: __m512i,
    high: __m512i,
}

impl Room {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    fn new(scaling: &Scaling) -> Self {
        let (one, zero_point) = (_mm512_set1_epi32(1), _mm512_set1_epi32(scaling.zero_point));
        let right = load(&scaling.right);
        let half = _mm512_sllv_epi32(one, _mm512_sub_epi32(right, one));
        let significand = load(&scaling.significand);
        Self {
            bias: load(&scaling.bias),
            left: _mm512_add_epi32(load(&scaling.left), one),
            significands: [significand, _mm512_srli_epi64::<32>(significand)],
            added: _mm512_add_epi32(half, _mm512_sllv_epi32(zero_point, right)),
            right,
            low: _mm512_add_epi32(load(&scaling.low), zero_point),
            high: _mm512_add_epi32(load(&scaling.high), zero_point),
        }
    }

    /// Returns the scaling of the first eight lanes twice.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    fn doubled(self) -> Self {
        let twice = |lanes| pair(lanes, lanes);
        Self {
            bias: twice(self.bias),
            left: twice(self.left),
            significands: self.significands.map(twice),
            added: twice(self.added),
            right: twice(self.right),
            low: twice(self.low),
            high: twice(self.high),
        }
    }

    /// Returns codes before they are clamped. With `RECTIFIED`, negative products, which the clamp raises,
    /// may be rounded in any way.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    fn rounded<const RECTIFIED: bool>(&self, sums: __m512i) -> __m512i {
        let half_product = _mm512_set1_epi64(1 << 31);
        let x = _mm512_sllv_epi32(_mm512_add_epi32(sums, self.bias), self.left);
        let even = _mm512_add_epi64(_mm512_mul_epi32(x, self.significands[0]), half_product);
        let odd = _mm512_mul_epi32(_mm512_shuffle_epi32::<0xf5>(x), self.significands[1]);
        let odd = _mm512_add_epi64(odd, half_product);
        let product = _mm512_mask_shuffle_epi32::<0xf5>(odd, 0x5555, even);
        let mut rounded = _mm512_add_epi32(product, self.added);
        if !RECTIFIED {
            // Ties away from zero.
            rounded = _mm512_add_epi32(rounded, _mm512_srai_epi32::<31>(product));
        }
        _mm512_srav_epi32(rounded, self.right)
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    fn clamp(&self, codes: __m512i) -> __m512i {
        _mm512_min_epi32(_mm512_max_epi32(codes, self.low), self.high)
    }

    /// Returns the codes of sums as bytes. With `FULL`, the bounds are those of signed bytes.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    fn bytes<const RECTIFIED: bool, const FULL: bool>(&self, sums: __m512i, least: __m512i) -> __m128i {
        let codes = self.rounded::<RECTIFIED>(sums);
        match FULL {
            true => _mm_xor_si128(_mm512_cvtsepi32_epi8(codes), _mm_set1_epi8(i8::MIN)),
            false => _mm512_cvtepi32_epi8(_mm512_sub_epi32(self.clamp(codes), least)),
        }
    }
}

/// Returns the first eight lanes of both.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn pair(first: __m512i, second: __m512i) -> __m512i {
    _mm512_inserti64x4::<1>(first, _mm512_castsi512_si256(second))
}

/// Writes the output codes of sums under scheme D as bytes; requires [`Scaling::has_room`].
///
/// # Panics
/// If `out` is too short.
#[target_feature(enable = "avx512bw,avx512vl")]
pub(in super::super) fn put_with_room<D: Delivered>(
    sums: &[D],
    scaling: &Scaling,
    rows: ByteRows,
    out: &mut [u8],
) {
    match (scaling.is_rectified(), scaling.fills_bytes(rows)) {
        (true, true) => put_rounded::<D, true, true>(sums, scaling, rows, out),
        (true, false) => put_rounded::<D, true, false>(sums, scaling, rows, out),
        (false, true) => put_rounded::<D, false, true>(sums, scaling, rows, out),
        (false, false) => put_rounded::<D, false, false>(sums, scaling, rows, out),
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn put_rounded<D: Delivered, const RECTIFIED: bool, const FULL: bool>(
    sums: &[D],
    scaling: &Scaling,
    rows: ByteRows,
    out: &mut [u8],
) {
    let ByteRows { count, least, stride } = rows;
    assert!(count <= LANES && sums.len().saturating_sub(1) * stride + count <= out.len());
    let (mask, least) = (((1u32 << count) - 1) as __mmask16, _mm512_set1_epi32(least));
    let mut out = out.as_mut_ptr();
    let mut put = |bytes: __m128i| {
        // SAFETY: the written bytes lie within `out` for each of the sums. After the last sum the pointer is
        // not dereferenced.
        unsafe { _mm_mask_storeu_epi8(out.cast(), mask, bytes) };
        out = out.wrapping_add(stride);
    };
    let room = Room::new(scaling);
    if count > LANES / 2 {
        for sum in sums {
            put(room.bytes::<RECTIFIED, FULL>(load(sum.delivered()), least));
        }
        return;
    }
    let room = room.doubled();
    for two in sums.chunks(2) {
        let (first, second) = (load(two[0].delivered()), load(two[two.len() - 1].delivered()));
        let bytes = room.bytes::<RECTIFIED, FULL>(pair(first, second), least);
        put(bytes);
        if two.len() == 2 {
            put(_mm_unpackhi_epi64(bytes, bytes));
        }
    }
}

/// Writes codes as bytes.
///
/// # Panics
/// If `out` is too short.
#[target_feature(enable = "avx512bw,avx512vl")]
pub(in super::super) fn put_bytes(codes: &[Lanes], rows: ByteRows, out: &mut [u8]) {
    let ByteRows { count, least, stride } = rows;
    assert!(count <= LANES && codes.len().saturating_sub(1) * stride + count <= out.len());
    let mask = ((1u32 << count) - 1) as __mmask16;
    let least = _mm512_set1_epi32(least);
    for (i, codes) in codes.iter().enumerate() {
        let bytes = _mm512_sub_epi32(load(codes), least);
        // SAFETY: `count` bytes from there on lie within `out`; the others are not written.
        unsafe { _mm512_mask_cvtepi32_storeu_epi8(out.as_mut_ptr().add(i * stride).cast(), mask, bytes) };
    }
}
