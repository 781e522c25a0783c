//! Weights in lanes.

use super::code::{ABOVE, FRACTION_BITS, Marks, Short};
use super::window::Term;
use crate::fast::LANES;

/// Weights of one term, in the lanes of a block of channels.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(crate) struct ShortRow {
    /// In units of the least exponent of the block.
    pub values: [i32; LANES],
    pub marks: Marks,
    pub leading: [i16; LANES],
    pub significands: [i8; LANES],
}

/// Weights of a block of channels, in the order of addition.
#[derive(Debug, Default)]
pub(crate) struct ShortRows {
    rows: Vec<ShortRow>,
    /// Whether a lane has a weight that is not finite.
    pub special: [bool; LANES],
    /// The least exponent.
    pub low: i32,
    /// Bits of the largest magnitude.
    bits: u32,
}

impl ShortRows {
    /// Returns the weights of `count` lanes, in the order of addition; `None` if they are too far apart. `weights` are the
    /// factors by code, and `code` returns the code of a term in a lane.
    pub(super) fn new(
        weights: &[Short],
        (count, terms): (usize, usize),
        code: impl Fn(usize, usize) -> i32,
    ) -> Option<Self> {
        let mut used = vec![false; weights.len()];
        for k in 0..terms {
            (0..count).for_each(|lane| used[code(k, lane) as usize] = true);
        }
        let numbers = || weights.iter().zip(&used).filter(|(short, used)| **used && !short.is_zero());
        let low = numbers().map(|(short, _)| short.exponent).min().unwrap_or(0);
        let magnitude = |short: &Short| u64::from(short.significand.unsigned_abs()) << (short.exponent - low);
        let bits = numbers().map(|(short, _)| magnitude(short).ilog2() + 1).max().unwrap_or(0);
        if bits > 28 {
            return None;
        }
        let mut rows = Self { low, bits, ..Self::default() };
        for k in 0..terms {
            let (values, significands) = ([0; LANES], [0; LANES]);
            let (marks, leading) = ([i8::MIN; 4 * LANES], [ABOVE; LANES]);
            let mut row = ShortRow { values, marks, leading, significands };
            for lane in 0..count {
                let short = &weights[code(k, lane) as usize];
                let [exponent, last] = short.bytes();
                if !short.is_zero() {
                    row.values[lane] = short.significand << (short.exponent - low);
                    row.significands[lane] = short.significand as i8;
                    row.marks[if short.significand < 0 { lane } else { 2 * LANES + lane }] = last;
                }
                (row.marks[LANES + lane], row.marks[3 * LANES + lane], row.leading[lane]) =
                    (last, exponent, short.leading);
                rows.special[lane] |= !short.finite;
            }
            rows.rows.push(row);
        }
        Some(rows)
    }

    /// Returns the bits of a product, sign included.
    pub fn product_bits(&self) -> u32 {
        self.bits + FRACTION_BITS + 1
    }

    /// Returns the number of products whose sum fits a bucket.
    pub fn capacity(&self) -> usize {
        1 << (31 - self.product_bits())
    }

    /// Returns the weights of a term.
    #[inline(always)]
    pub fn row(&self, term: &Term) -> &ShortRow {
        &self.rows[term.cell as usize]
    }
}
