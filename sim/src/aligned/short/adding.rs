//! One addition: aligned, and exact.

#![allow(clippy::needless_range_loop, reason = "lanes are walked by index, in several arrays at once")]

use guardbit_num::{AlignedRule, Rounding};

use super::super::held::Held;
use super::code::{Marks, STEPS, Short};
use super::lanes::{BUCKETS, ShortLanes};
use super::rows::{ShortRow, ShortRows};
use super::window::Term;
use crate::fast::{Aligned, LANES};

/// Returns the products of weights with an activation. The compiler does not see that they and sums lie apart, so that sums
/// are better added afterwards.
#[inline(always)]
pub(super) fn products(values: &[i32; LANES], activation: &Short) -> [i32; LANES] {
    let mut products = *values;
    for l in 0..LANES {
        products[l] *= activation.significand;
    }
    products
}

/// Returns the largest marks of products.
#[inline(always)]
pub(crate) fn most(lanes: &ShortLanes, rows: &ShortRows, terms: &[Term]) -> Marks {
    let mut most = [i8::MIN; 4 * LANES];
    for term in terms {
        let (own, other) = (&rows.row(term).marks, &lanes.marks[term.code as usize]);
        for l in 0..4 * LANES {
            most[l] = most[l].max(own[l].saturating_add(other[l]));
        }
    }
    most
}

/// Exact sums by the exponent of the activation, in units of the weights and of that exponent.
pub(super) struct Buckets {
    sums: [Aligned<[i32; LANES]>; BUCKETS],
    /// One bit per bucket that is not empty.
    used: u32,
    /// Products whose sum fits a bucket.
    pub capacity: usize,
    /// Products since all were empty.
    filled: usize,
}

impl Buckets {
    pub fn new(rows: &ShortRows) -> Self {
        Self { sums: [Aligned([0; LANES]); BUCKETS], used: 0, capacity: rows.capacity(), filled: 0 }
    }

    /// Makes room for products.
    #[inline(always)]
    pub fn reserve(&mut self, products: usize, exact: &mut [i64; LANES]) {
        if self.filled + products > self.capacity {
            self.empty(exact);
            self.filled = 0;
        }
        self.filled += products;
    }

    /// Adds products with an activation.
    #[inline(always)]
    pub fn add(&mut self, lanes: &ShortLanes, activation: &Short, products: &[i32; LANES]) {
        let at = (activation.exponent - lanes.exponents.0) as usize;
        self.used |= 1 << at;
        let bucket = &mut self.sums[at];
        for l in 0..LANES {
            bucket[l] += products[l];
        }
    }

    /// Adds all buckets to `exact`.
    #[inline(always)]
    pub fn empty(&mut self, exact: &mut [i64; LANES]) {
        while self.used != 0 {
            let at = self.used.trailing_zeros() as usize;
            self.used &= self.used - 1;
            let bucket = &mut self.sums[at];
            for l in 0..LANES {
                exact[l] += i64::from(bucket[l]) << at;
            }
            **bucket = [0; LANES];
        }
    }
}

/// An addition on the way, and exact sums. The compiler keeps sums in memory, which buckets could be for all it knows. In
/// registers it would split vectors.
pub(super) struct Adding {
    pub buckets: Buckets,
    /// By how much products are shifted to the left.
    left: u32,
    /// By how much they are then shifted to the right, plus the exponent of the activation.
    right: Aligned<[i32; LANES]>,
    /// Products whose last bit is below this exponent lose bits. As in marks, the negative exponent.
    cut_below: [i8; 2 * LANES],
    /// Products whose leading exponent in steps is below lose all bits.
    vanish_below: [i16; LANES],
    /// Whether terms are cut toward zero.
    toward_zero: bool,
    pub totals: Aligned<[i32; LANES]>,
    /// Of products, as in the marks of one sign of activations.
    counts: [i8; 2 * LANES],
    gone: [i16; LANES],
    /// Of all terms.
    pub cut: [i32; LANES],
    pub vanished: [i32; LANES],
}

impl Adding {
    pub fn new(rows: &ShortRows) -> Self {
        Self {
            buckets: Buckets::new(rows),
            left: 0,
            right: Aligned([0; LANES]),
            cut_below: [0; 2 * LANES],
            vanish_below: [0; LANES],
            toward_zero: false,
            totals: Aligned([0; LANES]),
            counts: [0; 2 * LANES],
            gone: [0; LANES],
            cut: [0; LANES],
            vanished: [0; LANES],
        }
    }

    /// Begins an addition.
    #[inline(always)]
    pub fn begin(
        &mut self,
        lanes: &ShortLanes,
        rows: &ShortRows,
        rule: &AlignedRule,
        exponents: &[i32; LANES],
    ) {
        let (bits, own) = (rule.fraction_bits as i32, lanes.fraction_bits() as i32);
        self.left = (bits - own).max(0) as u32;
        self.toward_zero = rule.cut == Rounding::TowardZero;
        for l in 0..LANES {
            let last = exponents[l] - bits;
            self.right[l] = exponents[l] - rows.low + (own - bits).max(0);
            self.cut_below[l] = (-last).clamp(i8::MIN.into(), i8::MAX.into()) as i8;
            self.cut_below[LANES + l] = self.cut_below[l];
            self.vanish_below[l] = last as i16 * STEPS;
        }
        *self.totals = [0; LANES];
        (self.cut, self.vanished) = ([0; LANES], [0; LANES]);
    }

    /// Adds the products of activations that are all negative, or all positive.
    #[inline(always)]
    pub fn add<const NEGATIVE: bool>(&mut self, lanes: &ShortLanes, rows: &ShortRows, terms: &[Term]) {
        (self.counts, self.gone) = ([0; 2 * LANES], [0; LANES]);
        for term in terms {
            let code = term.code as usize;
            let (short, other) = (&lanes.codes[0][code], &lanes.marks[code]);
            let ShortRow { values, marks, leading, .. } = rows.row(term);
            let from = if NEGATIVE { LANES } else { 0 };
            let marks = &marks[from..from + 2 * LANES];
            let (mut cut, mut gone, mut aligned) = ([0; 2 * LANES], [0; LANES], [0; LANES]);
            for l in 0..2 * LANES {
                cut[l] = i8::from(marks[l].saturating_add(other[l]) > self.cut_below[l]);
            }
            for l in 0..2 * LANES {
                self.counts[l] += cut[l];
            }
            for l in 0..LANES {
                gone[l] = i16::from(leading[l] + short.leading < self.vanish_below[l]);
            }
            for l in 0..LANES {
                self.gone[l] += gone[l];
            }
            let products = products(values, short);
            self.buckets.add(lanes, short, &products);
            for l in 0..LANES {
                // Only a product of zero can lie above all others.
                let right = ((self.right[l] - short.exponent) as u32).min(31);
                aligned[l] = (products[l] << self.left) >> right;
            }
            for l in 0..LANES {
                self.totals[l] += aligned[l];
            }
        }
        // Of all products, and of those that are negative, which the shift has cut toward minus infinity.
        let (all, below) = if NEGATIVE { (0, LANES) } else { (LANES, 0) };
        let Self { mut totals, counts, gone, mut cut, mut vanished, .. } = *self;
        let up = i32::from(self.toward_zero);
        for l in 0..LANES {
            totals[l] += i32::from(counts[below + l]) * up;
        }
        for l in 0..LANES {
            cut[l] += i32::from(counts[all + l]);
        }
        for l in 0..LANES {
            vanished[l] += i32::from(gone[l]);
        }
        (self.totals, self.cut, self.vanished) = (totals, cut, vanished);
    }

    /// Adds the accumulator.
    #[inline(always)]
    pub fn hold(&mut self, held: &Held, rule: &AlignedRule, exponents: &[i32; LANES]) {
        let (bits, own) = (rule.fraction_bits as i32, rule.result.fraction_bits() as i32);
        let (left, more) = ((bits - own).max(0) as u32, (own - bits).max(0));
        let Self { mut totals, mut cut, mut vanished, .. } = *self;
        let down = i32::from(!self.toward_zero);
        for l in 0..LANES {
            let last = exponents[l] - bits;
            let right = ((exponents[l] - held.exponents[l] + more) as u32).min(31);
            let loses = i32::from(held.lasts[l] < last);
            // All ones if negative.
            let sign = held.significands[l] >> 31;
            let kept =
                ((held.significands[l].unsigned_abs() << left) >> right) as i32 + (loses & -sign & down);
            totals[l] += (kept ^ sign) - sign;
            cut[l] += loses;
            vanished[l] += loses & i32::from(held.exponents[l] < last);
        }
        (self.totals, self.cut, self.vanished) = (totals, cut, vanished);
    }
}
