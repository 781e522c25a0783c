//! Fraction bits that dot products of short codes require.
//!
//! [`Scan`] adds with as many bits as keep every term. Besides, it sums what each product loses with fewer bits, and
//! compares it with what the sum may lose before its code changes. The greatest number with a change is a candidate:
//! later additions may undo the change. [`Deliver`] therefore adds with that number, and if need be with smaller ones.

#![allow(clippy::needless_range_loop, reason = "lanes are walked by index, in several arrays at once")]

use guardbit_num::Rounding;

use super::dot::{Required, same, single};
use super::held::{Added, Held, Normalize, promote};
use super::short::{Addition, ShortLanes, ShortRow, ShortRows, ShortSums, ShortWindow, most};
use crate::fast::{LANES, Vectorized};

/// Most fraction bits for which products fit 32 bits.
const TOP: i32 = 28;
/// Numbers of fraction bits that a scan compares.
const COMPARED: usize = 12;
/// Bits of the low part of totals.
const LOW: i32 = 8;

/// Sums with all bits, and where fewer bits change one.
#[derive(Default)]
struct Scanned {
    held: Held,
    totals: Option<[u32; LANES]>,
    exact_bits: [i32; LANES],
    /// Greatest number of fraction bits with which an accumulator differs; -1 if none of the compared ones does.
    differs: [i32; LANES],
}

impl ShortLanes {
    /// Returns what lanes require; `None` if a number of fraction bits does not fit. `sums` are those with the bits of the
    /// layer, `exact` the exact ones.
    pub fn required(
        &self,
        window: &ShortWindow,
        rows: &ShortRows,
        sums: &ShortSums,
        exact: &[u32; LANES],
        lanes: [bool; LANES],
    ) -> Option<[Required; LANES]> {
        if self.rule().result_rounding != Rounding::TowardZero {
            return None;
        }
        let most = |bits: &[i32; LANES]| (0..LANES).filter(|&lane| lanes[lane]).map(|lane| bits[lane]).max();
        // The bits that keep every term depend on the accumulators, and thus a little on the bits.
        let mut top = most(sums.exact_bits())?;
        let scanned = loop {
            if top > TOP {
                return None;
            }
            let mut scanned = Scanned { differs: [-1; LANES], ..Scanned::default() };
            self.kernels().run(Scan { lanes: self, window, rows, top, scanned: &mut scanned });
            match most(&scanned.exact_bits)? {
                bits if bits <= top => break scanned,
                bits => top = bits,
            }
        };
        let codes = scanned.totals.unwrap_or(scanned.held.codes);
        let (mut results, mut bits) = ([0; LANES], [0; LANES]);
        let mut open = lanes;
        for lane in 0..LANES {
            // Numbers that have not been compared follow.
            let below = (top - COMPARED as i32).min(scanned.exact_bits[lane]) - 1;
            bits[lane] = if scanned.differs[lane] >= 0 { scanned.differs[lane] } else { below };
        }
        loop {
            for lane in 0..LANES {
                open[lane] &= bits[lane] >= 0;
                bits[lane] = bits[lane].max(0);
            }
            if open == [false; LANES] {
                break;
            }
            let mut delivered = [0; LANES];
            self.kernels().run(Deliver { lanes: self, window, rows, bits: &bits, codes: &mut delivered });
            for lane in 0..LANES {
                if open[lane] && delivered[lane] != codes[lane] {
                    (results[lane], open[lane]) = (bits[lane] as u32 + 1, false);
                }
                bits[lane] -= i32::from(open[lane]);
            }
        }
        let result = self.result();
        Some(std::array::from_fn(|lane| Required {
            exact: Some(scanned.exact_bits[lane] as u32),
            result: results[lane],
            reaches_exact: lanes[lane] && same(single(result, codes[lane]), exact[lane]),
        }))
    }
}

/// Adds with `top` bits, which keep every term, and compares sums with those of fewer bits.
struct Scan<'a> {
    lanes: &'a ShortLanes,
    window: &'a ShortWindow,
    rows: &'a ShortRows,
    top: i32,
    scanned: &'a mut Scanned,
}

/// Sums of products, and of what they lose with fewer bits.
struct Sums {
    high: [i32; LANES],
    low: [i32; LANES],
    /// Minus the number of negative terms that are cut toward zero.
    negative: [i32; LANES],
    /// Of the last 1, 2, ... bits.
    rests: [[i32; LANES]; COMPARED],
}

impl Sums {
    /// Adds terms in units of the last of the bits.
    #[inline(always)]
    fn add(&mut self, terms: &[i32; LANES], toward_zero: i32) {
        for l in 0..LANES {
            let sign = (terms[l] >> 31) & toward_zero;
            self.high[l] += terms[l] >> LOW;
            self.low[l] += terms[l] & ((1 << LOW) - 1);
            self.negative[l] += sign;
            // In ones' complement, the last bits are those of the magnitude, inverted.
            let ones = terms[l] + sign;
            for j in 0..COMPARED {
                self.rests[j][l] += ones & ((2 << j) - 1);
            }
        }
    }
}

impl Vectorized for Scan<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { lanes, window, rows, top, scanned } = self;
        let (rule, own) = (lanes.rule(), lanes.fraction_bits() as i32);
        let result_bits = rule.result.fraction_bits() as i32;
        let toward_zero = if rule.cut == Rounding::TowardZero { -1 } else { 0 };
        for Addition { terms, promotes, .. } in window.additions(lanes.promotion()) {
            let most = most(lanes, rows, terms);
            let (held, mut exponents) = (&mut scanned.held, [0; LANES]);
            for l in 0..LANES {
                exponents[l] = held.exponents[l].max(most[3 * LANES + l].into());
                let bits = (exponents[l] - held.lasts[l]).max(exponents[l] + i32::from(most[LANES + l]));
                scanned.exact_bits[l] = scanned.exact_bits[l].max(bits);
            }
            let mut sums = Sums {
                high: [0; LANES],
                low: [0; LANES],
                negative: [0; LANES],
                rests: [[0; LANES]; COMPARED],
            };
            let mut aligned = [0; LANES];
            for term in terms {
                let (significand, exponent) = lanes.activation(term);
                let ShortRow { significands, marks, .. } = rows.row(term);
                for l in 0..LANES {
                    let product = (i32::from(significands[l]) * significand) << (TOP - own);
                    let right = exponents[l] - i32::from(marks[3 * LANES + l]) - exponent + TOP - top;
                    aligned[l] = product >> (right as u32).min(31);
                }
                sums.add(&aligned, toward_zero);
            }
            for l in 0..LANES {
                let right = (exponents[l] - held.exponents[l] + result_bits - top).clamp(-31, 31);
                let (left, right) = ((-right).max(0), right.max(0));
                aligned[l] = (held.significands[l] >> right) << left;
            }
            sums.add(&aligned, toward_zero);
            let mut added = Added { exponents, ..Added::default() };
            for l in 0..LANES {
                let total = (i64::from(sums.high[l]) << LOW) + i64::from(sums.low[l]);
                added.totals[l] = total;
                // Totals from `total - rest` on, and below that plus `size`, have the same code.
                let magnitude = total.unsigned_abs();
                let drop = (63 - (magnitude | 1).leading_zeros() as i32 - result_bits).max(0);
                let size = 1u32 << drop;
                let rest = magnitude as u32 & (size - 1);
                for j in 0..COMPARED {
                    let lost = sums.rests[j][l] + sums.negative[l] * ((2 << j) - 1);
                    let lost = if total < 0 { -lost } else { lost };
                    let differs = rest.wrapping_sub(lost as u32) >= size;
                    let bits = if differs { top - 1 - j as i32 } else { -1 };
                    scanned.differs[l] = scanned.differs[l].max(bits);
                }
            }
            let (bits, mut normal) = (result_bits as u32, [false; LANES]);
            Normalize { added: &added, unit: top, bits, even: false, held, normal: &mut normal }.run();
            if promotes {
                promote(&mut scanned.totals, &rule, held);
            }
        }
    }
}

/// Adds with a number of fraction bits per lane.
struct Deliver<'a> {
    lanes: &'a ShortLanes,
    window: &'a ShortWindow,
    rows: &'a ShortRows,
    bits: &'a [i32; LANES],
    codes: &'a mut [u32; LANES],
}

impl Vectorized for Deliver<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { lanes, window, rows, bits, codes } = self;
        let (rule, own) = (lanes.rule(), lanes.fraction_bits() as i32);
        let result_bits = rule.result.fraction_bits() as i32;
        let toward_zero = if rule.cut == Rounding::TowardZero { -1 } else { 0 };
        let (mut held, mut totals) = (Held::default(), None);
        for Addition { terms, promotes, .. } in window.additions(lanes.promotion()) {
            let most = most(lanes, rows, terms);
            let (mut exponents, mut right) = ([0; LANES], [0; LANES]);
            for l in 0..LANES {
                exponents[l] = held.exponents[l].max(most[3 * LANES + l].into());
                right[l] = exponents[l] + TOP - bits[l];
            }
            let (mut high, mut low) = ([0; LANES], [0; LANES]);
            let mut add = |l: usize, value: i32, right: i32| {
                // Toward zero, magnitudes are cut as if in ones' complement.
                let sign = (value >> 31) & toward_zero;
                let kept = ((value + sign) >> (right as u32).min(31)) - sign;
                high[l] += kept >> LOW;
                low[l] += kept & ((1 << LOW) - 1);
            };
            for term in terms {
                let (significand, exponent) = lanes.activation(term);
                let ShortRow { significands, marks, .. } = rows.row(term);
                for l in 0..LANES {
                    let product = (i32::from(significands[l]) * significand) << (TOP - own);
                    add(l, product, right[l] - i32::from(marks[3 * LANES + l]) - exponent);
                }
            }
            for l in 0..LANES {
                add(l, held.significands[l] << (TOP - result_bits), right[l] - held.exponents[l]);
            }
            let mut added = Added::default();
            for l in 0..LANES {
                added.totals[l] = (i64::from(high[l]) << LOW) + i64::from(low[l]);
                added.exponents[l] = exponents[l] - bits[l];
            }
            let (bits, mut normal) = (result_bits as u32, [false; LANES]);
            Normalize { added: &added, unit: 0, bits, even: false, held: &mut held, normal: &mut normal }
                .run();
            if promotes {
                promote(&mut totals, &rule, &mut held);
            }
        }
        *codes = totals.unwrap_or(held.codes);
    }
}
