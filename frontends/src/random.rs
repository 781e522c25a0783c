//! Seeded random codes.

use std::ops::RangeInclusive;

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// `count` codes, uniform over `range`, made from `seed` alone.
///
/// The generator is `Pcg64Mcg::seed_from_u64(seed)` (PCG XSL-RR 128/64, multiplicative; `rand_core` 0.10 expands
/// the seed). Each code takes one 64-bit draw `r`, in order: `code = min + ((r * (max - min + 1)) >> 64)`, the
/// product in 128 bits. For 8-bit codes this is the top byte of `r`. No code is more than `2^-32` off its share.
pub fn random_codes(seed: u64, range: RangeInclusive<i32>, count: usize) -> Vec<i32> {
    let (min, max) = range.into_inner();
    let span = (i64::from(max) - i64::from(min) + 1).max(1) as u128;
    let mut generator = Pcg64Mcg::seed_from_u64(seed);
    let mut code = || (i64::from(min) + ((u128::from(generator.next_u64()) * span) >> 64) as i64) as i32;
    (0..count).map(|_| code()).collect()
}
