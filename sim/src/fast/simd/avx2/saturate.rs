//! Saturating [`step`](super::super::super::kernels::step) on lanes of 16 bits that counts in bytes, which compilers
//! do not derive from the plain code.

use std::arch::x86_64::*;

use super::super::super::kernels::{Lanes, Row, Stepped, first};
use super::{VectorActivations, load_row, store_wide};

/// Runs a saturating [`step`](super::super::kernels::step) for every pixel of a tile, between the least and the
/// greatest value.
#[target_feature(enable = "avx2")]
pub(in super::super) fn saturate_tile<X: VectorActivations>(
    x: &[X],
    weights: &[Row],
    start: &Lanes,
    rails: [i16; 2],
    out: &mut [Stepped],
) {
    in_chunks!(x, out, [4, 2, 1], |x, out| saturate(x, weights, start, rails, out));
}

/// Number of steps after which byte counts are widened; a byte can count a few more.
const COUNTED: usize = 252;

/// Steps `P` pixels. Both counts of a lane share 16 bits: the high byte counts overflows above, the low byte
/// counts all. The registers therefore hold four pixels.
#[inline]
#[target_feature(enable = "avx2")]
fn saturate<X: VectorActivations, const P: usize>(
    x: &[X; P],
    weights: &[Row],
    start: &Lanes,
    rails: [i16; 2],
    out: &mut [Stepped; P],
) {
    let x = first(x, weights.len());
    let [low, high] = rails.map(|rail| _mm256_set1_epi16(rail));
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
