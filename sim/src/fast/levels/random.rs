//! Rounding at random, lane by lane.

use guardbit_hwmodels::MacLayer;
use guardbit_num::{PHILOX_MULTIPLIERS, PHILOX_ROUNDS, PHILOX_STEPS};

use super::super::kernels::{LANES, Lane, Vector};
use super::super::simd::{Kernels, Vectorized};
use crate::reference::{BLOCK_BITS, Draws, Stage, bits_per_draw};

/// Random numbers of the dot products of one block at one pixel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Random<'a> {
    pub kernels: Kernels,
    pub layer: &'a MacLayer,
    pub sample: usize,
    /// Index of the first lane's output.
    pub first: usize,
}

/// A block of Philox per lane.
pub(super) type Words = [Vector<i32>; 4];

/// How a stage takes random bits from blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    pub seed: u64,
    pub shift: u32,
    pub stage: Stage,
}

impl Draw {
    /// Returns the number of products, or runs, that share a block.
    #[inline(always)]
    pub fn per_block(self) -> usize {
        BLOCK_BITS / bits_per_draw(self.shift) as usize
    }

    /// Returns `(value + r) / 2^shift`, rounded down, with the random bits `r` for number `number` from its block.
    #[inline(always)]
    pub fn round<V: Lane>(self, value: &Vector<V>, number: usize, words: &Words) -> Vector<V> {
        let first = bits_per_draw(self.shift) * (number % self.per_block()) as u32;
        let (word, low) = (&words[first as usize / 32], (1u32 << self.shift) - 1);
        let mut rounded = *value;
        for l in 0..LANES {
            let bits = (word[l] as u32) >> (first % 32) & low;
            rounded[l] = rounded[l].plus(V::of_word(bits as i32)).shift_right(self.shift);
        }
        rounded
    }
}

impl Random<'_> {
    /// Returns block `index` of a stage.
    ///
    /// See [`guardbit_num::philox4x32`]. Words are in the low halves of 64 bits, and what is above is not read: these
    /// are the operands of the instruction that multiplies 32 bits by 32 bits.
    #[inline(always)]
    pub fn words(&self, Draw { seed, stage, .. }: Draw, index: usize) -> Words {
        const LOW: u64 = u32::MAX as u64;
        let draws = Draws::of_output(self.layer, self.sample, self.first);
        let (counter, [mut left, mut right]) = draws.block(seed, stage, index);
        let [mut a, mut b, mut c, mut d] = [[0; LANES]; 4];
        for l in 0..LANES {
            (a[l], b[l]) = (counter[0].into(), counter[1].into());
            (c[l], d[l]) = (u64::from(counter[2]) + l as u64, counter[3].into());
        }
        let [by_a, by_c] = [u64::from(PHILOX_MULTIPLIERS[0]), u64::from(PHILOX_MULTIPLIERS[1])];
        for _ in 0..PHILOX_ROUNDS {
            for l in 0..LANES {
                let (of_a, of_c) = ((a[l] & LOW) * by_a, (c[l] & LOW) * by_c);
                (a[l], b[l]) = ((of_c >> 32) ^ b[l] ^ u64::from(left), of_c);
                (c[l], d[l]) = ((of_a >> 32) ^ d[l] ^ u64::from(right), of_a);
            }
            (left, right) = (left.wrapping_add(PHILOX_STEPS[0]), right.wrapping_add(PHILOX_STEPS[1]));
        }
        let mut words = [Vector::ZERO; 4];
        for l in 0..LANES {
            (words[0][l], words[1][l]) = (a[l] as i32, b[l] as i32);
            (words[2][l], words[3][l]) = (c[l] as i32, d[l] as i32);
        }
        words
    }

    /// Returns both values of run `number`, rounded.
    pub fn rounded<V: Lane>(&self, values: [Vector<V>; 2], draw: Draw, number: usize) -> [Vector<V>; 2] {
        let mut words = [Vector::ZERO; 4];
        let index = number / draw.per_block();
        self.kernels.run(Block { random: self, draw, index, words: &mut words });
        values.map(|value| draw.round(&value, number, &words))
    }
}

/// Computes [`Random::words`].
struct Block<'a> {
    random: &'a Random<'a>,
    draw: Draw,
    index: usize,
    words: &'a mut Words,
}

impl Vectorized for Block<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { random, draw, index, words } = self;
        *words = random.words(draw, index);
    }
}
