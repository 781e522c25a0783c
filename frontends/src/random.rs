//! Seeded random codes.

use std::collections::BTreeSet;

use guardbit_graph::{CodeRange, RealCodes, TensorType};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// An endless sequence of codes, uniform over a range and determined by a seed.
///
/// The generator is `rand_pcg::Pcg64Mcg::seed_from_u64(seed)`. Each code takes one 64-bit draw `r`, in order: `code =
/// min + step * ((r * ((max - min) / step + 1)) >> 64)`, with the product in 128 bits. For 8-bit codes this is `min`
/// plus the top byte of `r`. The step is 1 except for ranges such as that of bipolar codes. The probability of a code
/// differs from the uniform one by less than `2^-32` of it.
#[derive(Debug, Clone)]
pub struct RandomCodes {
    generator: Pcg64Mcg,
    codes: CodeRange,
    count: u128,
    /// The codes of real values, if the draws are steps of them.
    reals: Option<RealCodes>,
}

/// Steps of real values per unit.
const STEPS: i32 = 1 << 24;

impl RandomCodes {
    /// Returns the codes for `seed` in a range. An empty range gives its start.
    pub fn new(seed: u64, codes: impl Into<CodeRange>) -> Self {
        let codes = codes.into();
        let count = u128::from(codes.max().abs_diff(codes.min()) / codes.step()) + 1;
        Self { generator: Pcg64Mcg::seed_from_u64(seed), codes, count, reals: None }
    }

    /// Returns the values for `seed` of a tensor: its codes or, for a floating-point tensor, the nearest codes of real
    /// values uniform over `[-1, 1]` in steps of `2^-24`, over `[0, 1]` for float8_e8m0.
    pub fn of_tensor(seed: u64, ty: &TensorType) -> Self {
        let Some(reals) = RealCodes::of(ty.dtype) else { return Self::new(seed, ty.code_range()) };
        let least = if reals.are_signed() { -STEPS } else { 0 };
        Self { reals: Some(reals), ..Self::new(seed, least..=STEPS) }
    }
}

impl Iterator for RandomCodes {
    type Item = i32;

    fn next(&mut self) -> Option<i32> {
        let draw = u128::from(self.generator.next_u64());
        let steps = ((draw * self.count) >> 64) as i64;
        let code = (i64::from(self.codes.min()) + steps * i64::from(self.codes.step())) as i32;
        // Exact: at most 25 bits, of which a single holds 24 and the power of two.
        Some(self.reals.map_or(code, |reals| reals.code(code as f32 / STEPS as f32, true)))
    }
}

/// Returns the first `count` codes of [`RandomCodes`].
pub fn random_codes(seed: u64, codes: impl Into<CodeRange>, count: usize) -> Vec<i32> {
    RandomCodes::new(seed, codes).take(count).collect()
}

/// Returns `count` different numbers below `of`, or all of them if there are fewer, in ascending order.
///
/// The generator is that of [`RandomCodes`]. For `j` from `of - count` to `of - 1`, a draw `r` gives `t = (r * (j +
/// 1)) >> 64`. The set gets `t`, or `j` if it already contains `t` (R. Floyd's algorithm: Bentley and Floyd, "A
/// sample of brilliance", CACM 30(9), 1987).
pub fn random_subset(seed: u64, count: usize, of: usize) -> Vec<usize> {
    let mut generator = Pcg64Mcg::seed_from_u64(seed);
    let mut taken = BTreeSet::new();
    for last in of.saturating_sub(count)..of {
        let draw = (u128::from(generator.next_u64()) * (last as u128 + 1)) >> 64;
        if !taken.insert(draw as usize) {
            taken.insert(last);
        }
    }
    taken.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected codes come from a separate implementation in Python of the seed expansion of `rand_core` 0.10
    /// (PCG32), the generator (PCG XSL-RR 128/64, multiplicative) and the mapping.
    #[test]
    fn codes_can_be_reproduced_elsewhere() {
        assert_eq!(random_codes(1, -128..=127, 8), [91, -93, -8, 57, -34, 14, -28, 61]);
        assert_eq!(random_codes(42, -7..=7, 8), [1, -6, -2, -4, -6, -2, -5, 5]);
        assert_eq!(random_codes(7, i32::MIN..=i32::MAX, 3), [815603166, -102081897, -984655832]);
    }

    /// Every subset is about equally likely, and has the requested size.
    #[test]
    fn subsets_are_drawn_evenly() {
        let mut found = std::collections::BTreeMap::new();
        for seed in 0..6000 {
            let subset = random_subset(seed, 2, 4);
            assert!(subset.len() == 2 && subset[0] < subset[1] && subset[1] < 4, "{subset:?}");
            *found.entry(subset).or_insert(0) += 1;
        }
        assert_eq!(found.len(), 6);
        // The mean is 1000, the standard deviation 29.
        assert!(found.values().all(|&count| (850..1150).contains(&count)), "{found:?}");
        assert_eq!(random_subset(3, 9, 4), [0, 1, 2, 3]);
        assert_eq!(random_subset(3, 0, 4), [0; 0]);
    }

    #[test]
    fn every_code_turns_up() {
        let codes = random_codes(3, -8..=7, 1000);
        assert!((-8..=7).all(|code| codes.contains(&code)));
        assert!(codes.iter().all(|code| (-8..=7).contains(code)));
        assert_eq!(random_codes(3, 5..=5, 4), [5; 4]);
        let bipolar = random_codes(3, CodeRange::BIPOLAR, 1000);
        assert!([-1, 1].iter().all(|code| bipolar.contains(code)) && !bipolar.contains(&0));
    }
}
