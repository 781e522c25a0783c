//! Output codes.

use std::arch::x86_64::*;

use super::super::super::kernels::{ByteRows, LANES, Lanes, Scaling};
use super::{load, store};

/// Output codes under scheme D: see [`kernels::codes`](super::super::kernels::codes).
#[target_feature(enable = "avx512bw,avx512vl")]
pub(in super::super) fn codes_double<'s>(
    sums: impl Iterator<Item = &'s Lanes>,
    scaling: &Scaling,
    out: impl Iterator<Item = &'s mut Lanes>,
) {
    if scaling.has_room {
        return codes_with_room(sums, scaling, out);
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

/// The same where [`Scaling::has_room`]: the doubling is a shift on the way in, and what both roundings add, and the zero
/// point, are added before the shift to the right.
#[target_feature(enable = "avx512bw,avx512vl")]
fn codes_with_room<'s>(
    sums: impl Iterator<Item = &'s Lanes>,
    scaling: &Scaling,
    out: impl Iterator<Item = &'s mut Lanes>,
) {
    let [bias, left, right, low, high] =
        [&scaling.bias, &scaling.left, &scaling.right, &scaling.low, &scaling.high].map(|lanes| load(lanes));
    let (one, zero_point) = (_mm512_set1_epi32(1), _mm512_set1_epi32(scaling.zero_point));
    let left = _mm512_add_epi32(left, one);
    let half = _mm512_sllv_epi32(one, _mm512_sub_epi32(right, one));
    let added = _mm512_add_epi32(half, _mm512_sllv_epi32(zero_point, right));
    let [low, high] = [low, high].map(|bound| _mm512_add_epi32(bound, zero_point));
    let significand = load(&scaling.significand);
    let odd_significand = _mm512_srli_epi64::<32>(significand);
    let half_product = _mm512_set1_epi64(1 << 31);
    for (sum, out) in sums.zip(out) {
        let x = _mm512_sllv_epi32(_mm512_add_epi32(load(sum), bias), left);
        let even = _mm512_add_epi64(_mm512_mul_epi32(x, significand), half_product);
        let odd = _mm512_mul_epi32(_mm512_shuffle_epi32::<0xf5>(x), odd_significand);
        let odd = _mm512_add_epi64(odd, half_product);
        let product = _mm512_mask_shuffle_epi32::<0xf5>(odd, 0x5555, even);
        // Ties away from zero.
        let rounded = _mm512_add_epi32(_mm512_add_epi32(product, added), _mm512_srai_epi32::<31>(product));
        let code = _mm512_srav_epi32(rounded, right);
        store(out, _mm512_min_epi32(_mm512_max_epi32(code, low), high));
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
