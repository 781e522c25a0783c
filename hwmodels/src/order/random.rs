//! Permutations that follow from a seed.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// Returns the permutation of `0..terms` for `seed`. Each permutation's probability deviates from uniform by
/// less than `2^-32` of it.
///
/// The algorithm is Fisher and Yates' shuffle (Knuth, The Art of Computer Programming 2, 3.4.2, algorithm P)
/// of 0, 1, 2, ...: for `i` from `terms - 1` down to 1, a draw `r` of 64 bits swaps the elements `i` and
/// `(r * (i + 1)) >> 64`. The generator is `rand_pcg::Pcg64Mcg::seed_from_u64(seed)`.
pub fn random_permutation(seed: u64, terms: usize) -> Vec<usize> {
    let mut generator = Pcg64Mcg::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..terms).collect();
    for i in (1..terms).rev() {
        let j = (u128::from(generator.next_u64()) * (i as u128 + 1)) >> 64;
        order.swap(i, j as usize);
    }
    order
}
