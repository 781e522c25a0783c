//! Accumulators of the lanes: the sum of an addition becomes the term of the next one.

#![allow(clippy::needless_range_loop, reason = "lanes are walked by index, in several arrays at once")]

use guardbit_num::{AlignedRule, FloatFormat, Rounding};

use super::dot::single;
use super::factor::{Factor, NOWHERE};
use crate::fast::{Kernels, LANES, Vectorized};

/// Exponent by which a zero is aligned.
const ZERO_EXPONENT: i32 = -126;

/// Sums of one addition, in units of the largest exponent's last bit, and what was lost.
#[derive(Default)]
pub(super) struct Added {
    pub totals: [i64; LANES],
    pub exponents: [i32; LANES],
    pub cut: [i32; LANES],
    pub vanished: [i32; LANES],
    pub lasts: [i32; LANES],
}

/// The accumulators that enter an addition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Held {
    /// Their codes.
    pub codes: [u32; LANES],
    pub significands: [i32; LANES],
    /// Exponents by which they are aligned.
    pub exponents: [i32; LANES],
    /// Exponents of the last bits that are set.
    pub lasts: [i32; LANES],
}

impl Default for Held {
    /// Accumulators of zero.
    fn default() -> Self {
        let [significands, exponents, lasts] = [0, ZERO_EXPONENT, NOWHERE].map(|value| [value; LANES]);
        Self { codes: [0; LANES], significands, exponents, lasts }
    }
}

impl Held {
    /// Makes the sums of the first `count` lanes the accumulators. Lanes whose sum is not finite become `special`.
    pub fn join(
        &mut self,
        kernels: Kernels,
        rule: &AlignedRule,
        added: &Added,
        count: usize,
        special: &mut [bool; LANES],
    ) {
        let mut normal = [false; LANES];
        let rounding = match rule.result_rounding {
            Rounding::TowardZero => Some(false),
            Rounding::HalfEven => Some(true),
            _ => None,
        };
        if let Some(even) = rounding.filter(|_| rule.result.has_exponents_of(FloatFormat::FLOAT32)) {
            let (unit, bits) = (rule.fraction_bits as i32, rule.result.fraction_bits());
            kernels.run(Normalize { added, unit, bits, even, held: self, normal: &mut normal });
        }
        for lane in 0..count {
            if normal[lane] || special[lane] {
                continue;
            }
            let code = rule.result_of(added.totals[lane].into(), added.exponents[lane]);
            let factor = Factor::new(rule.result, code);
            self.codes[lane] = code;
            self.significands[lane] = factor.significand;
            (self.exponents[lane], self.lasts[lane]) = (factor.exponent, factor.last);
            special[lane] = !factor.finite;
        }
    }
}

/// Rounds sums to a format with the exponents of float32, as far as the results are normal numbers or zero.
pub(super) struct Normalize<'a> {
    pub added: &'a Added,
    /// Fraction bits of the sums.
    pub unit: i32,
    /// Fraction bits of the format.
    pub bits: u32,
    /// Whether to round to nearest even, instead of toward zero.
    pub even: bool,
    pub held: &'a mut Held,
    /// Lanes in which that is so.
    pub normal: &'a mut [bool; LANES],
}

impl Vectorized for Normalize<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { added, unit, bits, even, held, normal } = self;
        for l in 0..LANES {
            let total = added.totals[l];
            let magnitude = total.unsigned_abs();
            let leading = 63 - (magnitude | 1).leading_zeros() as i32;
            let drop = leading - bits as i32;
            let (left, right) = ((-drop).max(0) as u32, drop.max(0) as u32);
            let (kept, rest) = ((magnitude << left) >> right, magnitude & ((1 << right) - 1));
            let half = (1 << right) >> 1;
            let up = even & (rest > half || rest == half && half > 0 && kept & 1 == 1);
            let rounded = kept + u64::from(up);
            let carry = (rounded >> (bits + 1)) as u32;
            let significand = (rounded >> carry) as u32;
            let exponent = added.exponents[l] - unit + leading + carry as i32;
            let (is_zero, negative) = (magnitude == 0, total < 0);
            normal[l] = is_zero | ((-126..=127).contains(&exponent));
            let fields = ((exponent + 127) as u32) << bits | significand & ((1 << bits) - 1);
            let code = fields | u32::from(negative) << (bits + 8);
            let signed = if negative { -(significand as i32) } else { significand as i32 };
            let last = exponent - bits as i32 + significand.trailing_zeros() as i32;
            held.codes[l] = if is_zero { 0 } else { code };
            held.significands[l] = if is_zero { 0 } else { signed };
            held.exponents[l] = if is_zero { ZERO_EXPONENT } else { exponent };
            held.lasts[l] = if is_zero { NOWHERE } else { last };
        }
    }
}

/// Rounds sums of 32 bits to a format with the exponents of float32. Results are normal numbers or zero.
pub(super) struct Narrow {
    /// Fraction bits of the sums.
    unit: i32,
    /// Fraction bits of the format.
    bits: u32,
    /// Whether to round to nearest even, instead of toward zero.
    even: bool,
}

impl Narrow {
    pub fn new(rule: &AlignedRule) -> Self {
        Self {
            unit: rule.fraction_bits as i32,
            bits: rule.result.fraction_bits(),
            even: rule.result_rounding == Rounding::HalfEven,
        }
    }

    /// Makes the sums the accumulators.
    #[inline(always)]
    pub fn join(&self, totals: &[i32; LANES], exponents: &[i32; LANES], held: &mut Held) {
        let Self { unit, bits, even } = *self;
        for l in 0..LANES {
            let (is_zero, negative) = (totals[l] == 0, totals[l] < 0);
            let magnitude = totals[l].unsigned_abs();
            let leading = 31 - (magnitude | 1).leading_zeros() as i32;
            let drop = leading - bits as i32;
            let (left, right) = ((-drop).max(0) as u32, drop.max(0) as u32);
            let (kept, rest) = ((magnitude << left) >> right, magnitude & ((1 << right) - 1));
            let half = (1 << right) >> 1;
            let up = even & ((rest > half) | ((rest == half) & (half > 0) & (kept & 1 == 1)));
            let rounded = kept + u32::from(up);
            let carry = rounded >> (bits + 1);
            let significand = rounded >> carry;
            let exponent = exponents[l] - unit + leading + carry as i32;
            let fields = ((exponent + 127) as u32) << bits | significand & ((1 << bits) - 1);
            let code = fields | u32::from(negative) << (bits + 8);
            let signed = if negative { -(significand as i32) } else { significand as i32 };
            let last = exponent - bits as i32 + significand.trailing_zeros() as i32;
            held.codes[l] = if is_zero { 0 } else { code };
            held.significands[l] = if is_zero { 0 } else { signed };
            held.exponents[l] = if is_zero { ZERO_EXPONENT } else { exponent };
            held.lasts[l] = if is_zero { NOWHERE } else { last };
        }
    }
}

/// Adds the accumulators to sums of promoted ones, and clears them.
#[inline(always)]
pub(super) fn promote(totals: &mut Option<[u32; LANES]>, rule: &AlignedRule, held: &mut Held) {
    let totals = totals.get_or_insert([0; LANES]);
    for l in 0..LANES {
        let [total, own] = [totals[l], single(rule.result, held.codes[l])].map(f32::from_bits);
        totals[l] = (total + own).to_bits();
    }
    *held = Held::default();
}

#[cfg(test)]
mod tests {
    use guardbit_num::{FloatFormat, Incoming};
    use proptest::prelude::*;

    use super::*;
    use crate::options::Isa;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(guardbit_testing::cases(2000)))]

        /// Sums become the codes and the terms that the rule makes of them.
        #[test]
        fn accumulators_are_those_of_the_rule(
            totals in prop::collection::vec((any::<i64>(), 1..62u32), LANES),
            exponents in prop::collection::vec(prop_oneof![-160..140i32, -130..-100i32, 115..130i32], LANES),
            fraction_bits in 0..=40u32,
            format in prop::sample::select(vec!["float32", "e8m13", "bfloat16", "float16"]),
            result_rounding in prop::sample::select(vec![Rounding::TowardZero, Rounding::HalfEven, Rounding::Floor]),
            negative_zero in any::<bool>(),
        ) {
            let format: FloatFormat = format.parse().unwrap();
            let rule = AlignedRule {
                fraction_bits,
                cut: Rounding::TowardZero,
                incoming: Incoming::Term,
                result: format,
                result_rounding,
                negative_zero,
                nan: 0,
            };
            let mut added = Added::default();
            for (lane, (total, shift)) in totals.into_iter().enumerate() {
                // Few bits, ties and zeros.
                added.totals[lane] = (total >> shift) & -(1 << (shift % 23));
                added.exponents[lane] = exponents[lane];
            }
            for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
                let (mut held, mut special) = (Held::default(), [false; LANES]);
                held.join(Kernels::choose(Some(isa)), &rule, &added, LANES, &mut special);
                for lane in 0..LANES {
                    let code = rule.result_of(added.totals[lane].into(), added.exponents[lane]);
                    let factor = Factor::new(format, code);
                    let expected = (code, factor.significand, factor.exponent, factor.last, !factor.finite);
                    let own = (held.codes[lane], held.significands[lane], held.exponents[lane], held.lasts[lane], special[lane]);
                    prop_assert_eq!(own, expected, "{} at 2^{}", added.totals[lane], added.exponents[lane]);
                }
            }
        }
    }
}
