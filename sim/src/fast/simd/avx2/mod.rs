//! Kernels for AVX2: sixteen output channels fill one vector of 16-bit lanes, or two of 32-bit lanes.

mod activations;
mod codes;
mod runs;
mod saturate;
mod singles;
mod sort;
mod statistics;
mod sums;
mod trees;
mod walk;

use std::arch::x86_64::*;

pub(crate) use activations::VectorActivations;
pub(super) use codes::{codes_double, put_bytes, put_double};
pub(super) use runs::chains;
pub(super) use saturate::saturate_tile;
pub(super) use singles::{step_singles, trace_singles};
pub(super) use sort::sort;
pub(super) use statistics::misfits;
pub(super) use sums::{SPLIT_PRODUCTS, sum_in_place, sum_own, sum_runs, sum_tile};
pub(super) use trees::trees;
pub(super) use walk::walk_in_place;

use super::super::kernels::{LANES, Lanes, Row};

/// Instructions under names that AVX2 and AVX-512 share.
mod names {
    pub use std::arch::x86_64::{
        __m256i as Register, _mm256_add_epi16 as add_16, _mm256_add_epi32 as add_32,
        _mm256_adds_epi16 as adds_16, _mm256_and_si256 as and, _mm256_max_epi16 as max_16,
        _mm256_max_epi32 as max_32, _mm256_min_epi16 as min_16, _mm256_min_epi32 as min_32,
        _mm256_mullo_epi16 as mullo_16, _mm256_set1_epi16 as set_16, _mm256_setzero_si256 as zero,
        _mm256_slli_epi16 as slli_16, _mm256_slli_epi32 as slli_32, _mm256_srai_epi16 as srai_16,
        _mm256_sub_epi16 as sub_16,
    };
}

/// Number of lanes in a vector of 32-bit lanes.
const HALF: usize = LANES / 2;

/// Loads the first eight lanes, or the others.
#[inline]
#[target_feature(enable = "avx2")]
fn load(lanes: &Lanes, half: usize) -> __m256i {
    let half = &lanes.as_chunks::<HALF>().0[half];
    // SAFETY: eight lanes of 32 bits; the load takes any alignment.
    unsafe { _mm256_loadu_si256(half.as_ptr().cast()) }
}

/// Stores the first eight lanes, or the others.
#[inline]
#[target_feature(enable = "avx2")]
fn store(lanes: &mut Lanes, half: usize, value: __m256i) {
    let half = &mut lanes.as_chunks_mut::<HALF>().0[half];
    // SAFETY: eight lanes of 32 bits; the store takes any alignment.
    unsafe { _mm256_storeu_si256(half.as_mut_ptr().cast(), value) };
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_row(row: &Row) -> __m256i {
    // SAFETY: sixteen lanes of 16 bits; the load takes any alignment.
    unsafe { _mm256_loadu_si256(row.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_row(row: &mut Row, value: __m256i) {
    // SAFETY: sixteen lanes of 16 bits; the store takes any alignment.
    unsafe { _mm256_storeu_si256(row.as_mut_ptr().cast(), value) };
}

/// Converts signed 16-bit lanes to 32-bit lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn widen(row: __m256i) -> [__m256i; 2] {
    let (first, second) = (_mm256_castsi256_si128(row), _mm256_extracti128_si256::<1>(row));
    [_mm256_cvtepi16_epi32(first), _mm256_cvtepi16_epi32(second)]
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_wide(lanes: &mut Lanes, row: __m256i) {
    for (half, value) in widen(row).into_iter().enumerate() {
        store(lanes, half, value);
    }
}
