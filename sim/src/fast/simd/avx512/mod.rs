//! Kernels for AVX-512 with 16 output channels per vector of 32-bit lanes. Sums of bytes need VNNI in
//! addition to BW and VL; two windows per vector need VBMI2, BITALG and VPOPCNTDQ.

mod codes;
mod columns;
mod pairs;
mod places;
mod registers;
mod rows;
mod runs;
mod sources;
mod statistics;
mod steps;
mod sums;
mod trees;

use std::arch::x86_64::*;

pub(super) use codes::{codes_double, put_bytes, put_with_room};
pub(super) use columns::column_sums;
pub(super) use pairs::{step_logged, step_pairs};
pub(super) use places::count_places;
pub(super) use rows::double;
pub(super) use runs::chains;
pub(super) use statistics::{misfits, take_extremes};
pub(super) use steps::list_steps;
pub(super) use sums::{sums, sums_of_two};
pub(super) use trees::trees;

use super::super::kernels::Lanes;

/// Instructions under names that AVX2 and AVX-512 share.
mod names {
    pub use std::arch::x86_64::{
        __m512i as Register, _mm512_add_epi16 as add_16, _mm512_add_epi32 as add_32,
        _mm512_adds_epi16 as adds_16, _mm512_and_si512 as and, _mm512_max_epi16 as max_16,
        _mm512_max_epi32 as max_32, _mm512_min_epi16 as min_16, _mm512_min_epi32 as min_32,
        _mm512_mullo_epi16 as mullo_16, _mm512_set1_epi16 as set_16, _mm512_setzero_si512 as zero,
        _mm512_slli_epi16 as slli_16, _mm512_slli_epi32 as slli_32, _mm512_srai_epi16 as srai_16,
        _mm512_sub_epi16 as sub_16,
    };
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) fn load(lanes: &Lanes) -> __m512i {
    // SAFETY: sixteen lanes of 32 bits; the load takes any alignment.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) fn store(lanes: &mut Lanes, value: __m512i) {
    // SAFETY: as above.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), value) };
}

/// Separates the values of the first window from those of the second one.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi2,avx512bitalg")]
pub(super) fn halves(pairs: __m512i) -> [__m512i; 2] {
    let first = _mm512_set1_epi32(1);
    [_mm512_madd_epi16(pairs, first), _mm512_srai_epi32::<16>(pairs)]
}
