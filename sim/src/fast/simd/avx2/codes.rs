//! Output codes.

use std::arch::x86_64::*;

use super::super::super::kernels::{ByteRows, Delivered, LANES, Lanes, Scaling};
use super::{HALF, load, store};

/// The odd lanes in the places of the even ones.
const ODD: i32 = 0xf5;
/// The odd lanes of the second operand.
const BLEND: i32 = 0xaa;

/// Output codes under scheme D: see [`kernels::codes`](super::super::super::kernels::codes).
#[target_feature(enable = "avx2")]
pub(in super::super) fn codes_double<'s>(
    sums: impl Iterator<Item = &'s Lanes>,
    scaling: &Scaling,
    out: impl Iterator<Item = &'s mut Lanes>,
) {
    let [first, second] = [Half::new(scaling, 0), Half::new(scaling, 1)];
    if scaling.has_room {
        for (sum, out) in sums.zip(out) {
            store(out, 0, first.code_with_room(load(sum, 0)));
            store(out, 1, second.code_with_room(load(sum, 1)));
        }
    } else {
        for (sum, out) in sums.zip(out) {
            store(out, 0, first.code(load(sum, 0)));
            store(out, 1, second.code(load(sum, 1)));
        }
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
    /// What is added before the shift to the right where there is room: half a code and the zero point.
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
        // Not by a shift to the right: the compiler would take what it knows of the upper halves then for a reason to multiply
        // 64 bits.
        let odd_significand = _mm256_shuffle_epi32::<ODD>(significand);
        let added = _mm256_add_epi32(half_code, _mm256_sllv_epi32(zero_point, right));
        Self { bias, left, right, low, high, zero_point, significand, odd_significand, added }
    }

    /// Products of the even and of the odd lanes of `x`, with `half` added.
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

    /// The same where [`Scaling::has_room`].
    #[inline]
    #[target_feature(enable = "avx2")]
    fn code_with_room(&self, sum: __m256i) -> __m256i {
        let [low, high] = [self.low, self.high].map(|bound| _mm256_add_epi32(bound, self.zero_point));
        _mm256_min_epi32(_mm256_max_epi32(self.rounded(sum), low), high)
    }

    /// The code before it is clamped, where [`Scaling::has_room`]: the doubling is a shift on the way in, and what both
    /// roundings add, and the zero point, are added before the shift to the right.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn rounded(&self, sum: __m256i) -> __m256i {
        let left = _mm256_add_epi32(self.left, _mm256_set1_epi32(1));
        let x = _mm256_sllv_epi32(_mm256_add_epi32(sum, self.bias), left);
        let [even, odd] = self.products(x, 1 << 31);
        let product = _mm256_blend_epi32::<BLEND>(_mm256_shuffle_epi32::<ODD>(even), odd);
        // Ties away from zero.
        let rounded =
            _mm256_add_epi32(_mm256_add_epi32(product, self.added), _mm256_srai_epi32::<31>(product));
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
    let [first, second] = [Half::new(scaling, 0), Half::new(scaling, 1)];
    if scaling.has_room {
        // The bounds as words, which hold every code of a byte.
        let bounds = |of: fn(&Half) -> __m256i| {
            let [first, second] = [&first, &second].map(|half| _mm256_add_epi32(of(half), half.zero_point));
            _mm256_packs_epi32(first, second)
        };
        let (low, high) = (bounds(|half| half.low), bounds(|half| half.high));
        put_rows(sums, rows, out, |sum| {
            let codes = _mm256_packs_epi32(first.rounded(load(sum, 0)), second.rounded(load(sum, 1)));
            _mm256_min_epi16(_mm256_max_epi16(codes, low), high)
        });
    } else {
        put_rows(sums, rows, out, |sum| {
            _mm256_packs_epi32(first.code(load(sum, 0)), second.code(load(sum, 1)))
        });
    }
}

/// Writes codes as bytes.
///
/// # Panics
/// If `out` is too short.
#[target_feature(enable = "avx2")]
pub(in super::super) fn put_bytes(codes: &[Lanes], rows: ByteRows, out: &mut [u8]) {
    put_rows(codes, rows, out, |codes| _mm256_packs_epi32(load(codes, 0), load(codes, 1)));
}

/// Writes the codes that `words` makes of every pixel's lanes, in the order of `_mm256_packs_epi32`.
#[inline]
#[target_feature(enable = "avx2")]
fn put_rows<D: Delivered>(sums: &[D], rows: ByteRows, out: &mut [u8], words: impl Fn(&Lanes) -> __m256i) {
    let least = _mm256_set1_epi16(rows.least as i16);
    // Packed once more, two pixels lie in turns, by four lanes.
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    let bytes = |of: [&D; 2]| {
        let [a, b] = of.map(|sum| _mm256_sub_epi16(words(sum.delivered()), least));
        let bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(a, b), order);
        [_mm256_castsi256_si128(bytes), _mm256_extracti128_si256::<1>(bytes)]
    };
    let (twos, rest) = sums.as_chunks::<2>();
    for (two, [a, b]) in twos.iter().enumerate() {
        let [a, b] = bytes([a, b]);
        put_row(&mut out[2 * two * rows.stride..], rows.count, a);
        put_row(&mut out[(2 * two + 1) * rows.stride..], rows.count, b);
    }
    if let [last] = rest {
        put_row(&mut out[2 * twos.len() * rows.stride..], rows.count, bytes([last, last])[0]);
    }
}

/// Writes the first `count` bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn put_row(out: &mut [u8], count: usize, bytes: __m128i) {
    let mut all = [0; LANES];
    // SAFETY: sixteen bytes; the store takes any alignment.
    unsafe { _mm_storeu_si128(all.as_mut_ptr().cast(), bytes) };
    // Whole vectors, and halves, without a call.
    match count {
        LANES => out[..LANES].copy_from_slice(&all),
        HALF => out[..HALF].copy_from_slice(&all[..HALF]),
        _ => out[..count].copy_from_slice(&all[..count]),
    }
}
