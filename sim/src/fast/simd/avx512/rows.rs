//! Weights for two windows per vector, from weights of four products per lane.

use std::arch::x86_64::*;

use super::super::super::bytes::QuadRow;
use super::super::super::kernels::LANES;
use super::super::super::pairs::PairRow;
use super::sums::load_bytes;

/// Returns the weights of quads row by row, every lane twice in succession; `counts` has the number of rows of
/// each quad.
#[target_feature(enable = "avx512bw,avx512vl")]
pub(in super::super) fn double(quads: &[QuadRow], counts: impl Iterator<Item = usize>) -> Vec<PairRow> {
    // Moves byte `product` of every lane to the upper half of two words.
    let order = |product: i8| {
        let words =
            [0, 0, 4, 4, 8, 8, 12, 12].map(|lane: i8| i16::from_le_bytes([0x80, (lane + product) as u8]));
        let [a, b, c, d, e, f, g, h] = words;
        _mm512_broadcast_i32x4(_mm_setr_epi16(a, b, c, d, e, f, g, h))
    };
    let orders = [order(0), order(1), order(2), order(3)];
    let mut rows = Vec::with_capacity(4 * quads.len());
    for (quad, count) in quads.iter().zip(counts) {
        let weights = load_bytes(quad);
        for order in &orders[..count] {
            let mut row = PairRow([0; 2 * LANES]);
            let doubled = _mm512_srai_epi16::<8>(_mm512_shuffle_epi8(weights, *order));
            // SAFETY: 32 words; the store takes any alignment.
            unsafe { _mm512_storeu_si512(row.0.as_mut_ptr().cast(), doubled) };
            rows.push(row);
        }
    }
    rows.shrink_to_fit();
    rows
}
