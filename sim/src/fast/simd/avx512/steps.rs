//! Which products of two windows have to be stepped.

use std::arch::x86_64::*;

use super::super::super::pairs::StepList;

/// Products that are looked at together.
const CHUNK: usize = 16;

/// Lists the products of the windows that begin with `cells`: `runs` are the distances and lengths of neighbouring cells
/// in the order of addition.
///
/// # Panics
/// If a run does not lie within the cells.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg,avx512vpopcntdq")]
pub(in super::super) fn list_steps(cells: &[u32], runs: &[(usize, usize)], list: &mut StepList) {
    let terms: usize = runs.iter().map(|run| run.1).sum();
    list.operands.resize(terms + CHUNK, 0);
    list.rows.resize(terms + CHUNK, 0);
    list.before.resize(terms + CHUNK, 0);
    let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    // Bits of the lanes before each one.
    let earlier = _mm512_sub_epi32(_mm512_sllv_epi32(_mm512_set1_epi32(1), lanes), _mm512_set1_epi32(1));
    let (mut first, mut count) = (0, 0);
    for &(distance, length) in runs {
        for chunk in cells[distance..distance + length].chunks(CHUNK) {
            let there = ((1u32 << chunk.len()) - 1) as __mmask16;
            // SAFETY: the cells of the chunk; the others are not read.
            let operands = unsafe { _mm512_maskz_loadu_epi32(there, chunk.as_ptr().cast()) };
            let some = _mm512_test_epi32_mask(operands, operands);
            let rows = _mm512_add_epi32(lanes, _mm512_set1_epi32(first as i32));
            let before = _mm512_popcnt_epi32(_mm512_and_si512(earlier, _mm512_set1_epi32(some.into())));
            let before = _mm512_add_epi32(before, _mm512_set1_epi32(count as i32));
            put(&mut list.operands, count, _mm512_maskz_compress_epi32(some, operands));
            put(&mut list.rows, count, _mm512_maskz_compress_epi32(some, rows));
            put_short(&mut list.before, first, _mm512_cvtepi32_epi16(before));
            first += chunk.len();
            count += some.count_ones() as usize;
        }
    }
    list.operands[count..].fill(0);
    list.rows[count..].fill(0);
    list.before[terms..].fill(count as i16);
    (list.count, list.terms) = (count, terms);
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn put(to: &mut [u32], at: usize, lanes: __m512i) {
    // SAFETY: sixteen numbers from there on, as the slice says; the store takes any alignment.
    unsafe { _mm512_storeu_si512(to[at..at + CHUNK].as_mut_ptr().cast(), lanes) };
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn put_short(to: &mut [i16], at: usize, lanes: __m256i) {
    // SAFETY: as above.
    unsafe { _mm256_storeu_si256(to[at..at + CHUNK].as_mut_ptr().cast(), lanes) };
}
