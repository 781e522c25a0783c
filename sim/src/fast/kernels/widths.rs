//! Counts dot products by the bits that they require.

// The compiler vectorizes a single indexed loop over all lanes best.
#![allow(clippy::needless_range_loop)]

use super::{Aligned, LANES, Lanes, TILE, Walked};
use crate::stats::HISTOGRAM_BINS;

/// One bit per lane: the [`mark`] of the width of its dot product, or no bit.
type Marks = Aligned<[u32; LANES]>;

const NONE: Marks = Aligned([0; LANES]);

/// Numbers of dot products by width, stored bit by bit. Each lane holds one number per bit of a word, and
/// bitwise logic counts all of them at once.
#[derive(Debug, Clone)]
pub(crate) struct WidthCounts {
    /// Bits of the numbers, the lowest ones first.
    bits: [Marks; BITS],
    /// Carry per bit that is added together with the next one.
    waiting: [Marks; BITS],
    groups: usize,
}

/// Number of bits of a number.
const BITS: usize = 16;
/// Number of pixels whose marks are added at once.
const GROUP: usize = 1 << GROUP_BITS;
const GROUP_BITS: usize = 3;
/// Number of groups after which a carry could be lost.
const MOST_GROUPS: usize = (1 << (BITS - GROUP_BITS)) - 1;

impl WidthCounts {
    pub const ZERO: Self = Self { bits: [NONE; BITS], waiting: [NONE; BITS], groups: 0 };

    /// Returns whether one more tile could exceed the capacity of the numbers.
    pub fn is_full(&self) -> bool {
        self.groups + TILE / GROUP > MOST_GROUPS
    }

    /// Adds the dot products of every width to `bins`.
    pub fn add_to(&self, bins: &mut [u64; HISTOGRAM_BINS]) {
        let waits = |bit: usize| bit >= GROUP_BITS && self.groups >> (bit - GROUP_BITS) & 1 == 1;
        let waiting = self.waiting.iter().enumerate().filter(|&(bit, _)| waits(bit));
        for (bit, marks) in self.bits.iter().enumerate().chain(waiting) {
            let mut left = marks.iter().fold(0, |all, marks| all | marks);
            while left != 0 {
                let mark = left & left.wrapping_neg();
                let lanes = marks.iter().filter(|&&marks| marks & mark != 0).count();
                bins[width_of(mark)] += (lanes as u64) << bit;
                left &= !mark;
            }
        }
    }

    #[inline(always)]
    fn count(&mut self, marks: &[Marks; GROUP]) {
        let mut carry = self.add_group(marks);
        // Counts like a binary number: a waiting carry and a new one continue as one carry.
        let mut bit = GROUP_BITS;
        for _ in 0..self.groups.trailing_ones() {
            carry = full_add(&mut self.bits[bit], &self.waiting[bit], &carry);
            bit += 1;
        }
        self.waiting[bit] = carry;
        self.groups += 1;
    }

    /// Adds marks to the lowest bits and returns the carries.
    #[inline(always)]
    fn add_group(&mut self, marks: &[Marks; GROUP]) -> Marks {
        let mut carries = *marks;
        for (i, bits) in self.bits[..GROUP_BITS].iter_mut().enumerate() {
            for pair in 0..GROUP >> (i + 1) {
                carries[pair] = full_add(bits, &carries[2 * pair], &carries[2 * pair + 1]);
            }
        }
        carries[0]
    }
}

/// Adds three bits: `bits` becomes the lower bits of the sum of all arguments, and the upper bits are
/// returned.
#[inline(always)]
fn full_add(bits: &mut Marks, a: &Marks, b: &Marks) -> Marks {
    let mut carry = NONE;
    for l in 0..LANES {
        let (a, b, c) = (a[l], b[l], bits[l]);
        bits[l] = a ^ b ^ c;
        carry[l] = (a & b) | (c & (a | b));
    }
    carry
}

/// Counts the bits of two's complement that hold the final sums, and those that hold the prefixes, for the
/// first `lanes` dot products of every pixel of a tile.
#[inline(always)]
pub(crate) fn count_widths([finals, prefixes]: &mut [WidthCounts; 2], walked: &[Walked], lanes: usize) {
    for walked in walked.chunks(GROUP) {
        let mut marks = [[NONE; GROUP]; 2];
        for (at, walked) in walked.iter().enumerate() {
            for l in 0..LANES {
                marks[0][at][l] = mark(magnitude(walked.sum[l]));
                marks[1][at][l] = mark(of_range(walked.min[l], walked.max[l]));
            }
            for l in lanes..LANES {
                (marks[0][at][l], marks[1][at][l]) = (0, 0);
            }
        }
        finals.count(&marks[0]);
        prefixes.count(&marks[1]);
    }
}

/// Computes, lane by lane, the bits of two's complement that hold 0 and every value between extremes.
#[inline(always)]
pub(crate) fn required(extremes: [(&Lanes, &Lanes); 2], widths: &mut [[u8; LANES]; 2]) {
    for ((min, max), widths) in extremes.into_iter().zip(widths) {
        for l in 0..LANES {
            widths[l] = 33 - of_range(min[l], max[l]).leading_zeros() as u8;
        }
    }
}

/// Returns a number as long as the longest number between `min` and `max`, including 0.
#[inline(always)]
fn of_range(min: i32, max: i32) -> i32 {
    max.max(0) | magnitude(min.min(0))
}

/// Returns a number of equal length: a negative number is as long as its complement.
#[inline(always)]
fn magnitude(number: i32) -> i32 {
    number ^ (number >> 31)
}

/// Returns the mark of the width that holds a magnitude and a sign: the bit whose index is the number of
/// leading zeros, or the lowest bit for 32 of them.
#[inline(always)]
fn mark(magnitude: i32) -> u32 {
    1u32.wrapping_shl(magnitude.leading_zeros())
}

/// Returns the width of a mark.
fn width_of(mark: u32) -> usize {
    match mark.trailing_zeros() {
        0 => 1,
        zeros => 33 - zeros as usize,
    }
}
