//! One aligned addition: terms, the rule by which they are cut and added, and what is lost.

use crate::float::scaled;
use crate::{Decoded, Dyadic, FloatFormat, FloatOverflow, FloatRounding, Rounding};

/// Exponent with which a zero takes part in the choice of the largest exponent, in every format.
const ZERO_EXPONENT: i32 = -126;

/// One term of an addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// The exact value.
    pub value: Decoded,
    /// The exponent by which the term is aligned. A product has the sum of its operands' exponents, whether or not its
    /// significand reaches 2.
    pub exponent: i32,
}

/// Where the incoming accumulator enters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Incoming {
    /// As one more term.
    Term,
    /// After the products: their sum and the accumulator are aligned to the larger of their exponents, and each is cut
    /// toward minus infinity. Products from `2^128` count as infinite.
    Apart {
        /// Whether even and odd products are added separately first. The two sums are aligned to the larger of their
        /// exponents and cut toward minus infinity, to the fraction bits of the products.
        interleaved: bool,
        /// Fraction bits to which the sum of the products is cut.
        sum_bits: u32,
        /// Fraction bits to which the accumulator is cut, at most `sum_bits`.
        bits: u32,
        /// Largest distance of the accumulator's exponent below the larger one at which it still counts.
        reach: Option<u32>,
    },
}

/// Parameters of one addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AlignedRule {
    /// Bits kept below the largest exponent, at most 40.
    pub fraction_bits: u32,
    /// How a term is cut to these bits.
    pub cut: Rounding,
    /// Where the incoming accumulator enters.
    pub incoming: Incoming,
    /// Format of the result.
    pub result: FloatFormat,
    /// How the sum is rounded to the format of the result.
    pub result_rounding: Rounding,
    /// Whether a negative sum that rounds to zero is -0. Otherwise it is +0.
    pub negative_zero: bool,
    /// Code of a result that is not a number.
    pub nan: u32,
}

/// The result of one addition, and what the register lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlignedSum {
    /// Code of the result, in the rule's format.
    pub code: u32,
    /// Terms that lost bits when they were aligned.
    pub cut_terms: u32,
    /// Nonzero terms that became zero when they were aligned.
    pub vanished_terms: u32,
    /// The least number of fraction bits with which no term would have lost any.
    pub exact_fraction_bits: u32,
}

/// An integer sum in units of `2^(exponent - bits)`.
#[derive(Clone, Copy)]
struct Sum {
    total: i128,
    exponent: i32,
    bits: u32,
}

impl Term {
    /// Returns the term of one code.
    pub fn of(format: FloatFormat, code: u32) -> Self {
        let value = format.decode(code);
        let exponent = match value {
            Decoded::Finite(number) if number.significand != 0 => {
                number.exponent + format.fraction_bits() as i32
            }
            _ => ZERO_EXPONENT,
        };
        Self { value, exponent }
    }

    /// Returns the product with another term. Zero times infinity is not a number.
    pub fn times(self, other: Self) -> Self {
        Self { value: self.value.times(other.value), exponent: self.exponent + other.exponent }
    }

    /// Returns the exact sum of products of operands of 4 bits, as units with block scales form it before they align
    /// its product with the scales. Its exponent is 0.
    pub fn exact(products: impl IntoIterator<Item = Self>) -> Self {
        const UNIT: i32 = -16;
        let numbers = products.into_iter().filter_map(Self::number);
        let total = numbers.map(|number| scaled(number, UNIT, FloatRounding::By(Rounding::Floor))).sum();
        Self { value: Decoded::Finite(Sum { total, exponent: UNIT, bits: 0 }.number()), exponent: 0 }
    }

    fn number(self) -> Option<Dyadic> {
        match self.value {
            Decoded::Finite(number) => Some(number),
            _ => None,
        }
    }
}

impl AlignedRule {
    /// Returns the sum of `products` and the incoming accumulator `c`.
    ///
    /// A NaN among the terms, or infinities of both signs, give NaN. An infinity gives itself.
    pub fn add(&self, products: &[Term], c: Term) -> AlignedSum {
        let mut sum = AlignedSum { code: 0, cut_terms: 0, vanished_terms: 0, exact_fraction_bits: 0 };
        if let Some(code) = self.special(products.iter().chain([&c])) {
            return AlignedSum { code, ..sum };
        }
        let every = |step: usize, first: usize| products.iter().skip(first).step_by(step).copied();
        let total = match self.incoming {
            Incoming::Term => self.aligned(every(1, 0).chain([c]), &mut sum),
            Incoming::Apart { interleaved, sum_bits, bits, reach } => {
                let total = if interleaved {
                    self.aligned(every(2, 0), &mut sum)
                        .joined(self.aligned(every(2, 1), &mut sum), self.fraction_bits)
                } else {
                    self.aligned(every(1, 0), &mut sum)
                };
                let exponent = total.exponent.max(c.exponent);
                let near = reach.is_none_or(|reach| c.exponent >= exponent - reach as i32);
                let c = c.number().filter(|_| near).map_or(0, |c| {
                    sum.count(c, exponent, bits);
                    floor(c, exponent, bits)
                });
                let total = floor(total.number(), exponent, sum_bits) + (c << (sum_bits - bits));
                Sum { total, exponent, bits: sum_bits }
            }
        };
        sum.code = self.code(total);
        sum
    }

    /// Returns the code of a sum of terms in units of `2^(exponent - fraction_bits)`, whose magnitude is below `2^64`.
    pub fn result_of(&self, total: i128, exponent: i32) -> u32 {
        self.code(Sum { total, exponent, bits: self.fraction_bits })
    }

    fn code(&self, sum: Sum) -> u32 {
        let rounding = FloatRounding::By(self.result_rounding);
        let code = self.result.encode(sum.number(), rounding, FloatOverflow::Special);
        if !self.negative_zero && self.result.is_zero(code) { 0 } else { code }
    }

    /// Returns the code of a sum that is not finite.
    fn special<'a>(&self, terms: impl Iterator<Item = &'a Term>) -> Option<u32> {
        // Infinities, and numbers that count as infinite if no term is an infinity.
        let (mut infinite, mut beyond) = ([false; 2], [false; 2]);
        for term in terms {
            match term.value {
                Decoded::Nan => return Some(self.nan),
                Decoded::Infinite { negative } => infinite[usize::from(negative)] = true,
                Decoded::Finite(number) if self.overflows(number) => {
                    beyond[usize::from(number.negative)] = true
                }
                Decoded::Finite(_) => {}
            }
        }
        match if infinite == [false; 2] { beyond } else { infinite } {
            [false, false] => None,
            [true, true] => Some(self.nan),
            [_, negative] => Some(self.result.overflowed(negative, FloatOverflow::Special)),
        }
    }

    /// Returns whether a term counts as infinite: one of a unit that adds the accumulator apart, from `2^128`.
    fn overflows(&self, number: Dyadic) -> bool {
        self.incoming != Incoming::Term && number.leading_exponent().is_some_and(|leading| leading >= 128)
    }

    /// Returns the sum of terms, each cut below the largest exponent.
    fn aligned(&self, terms: impl Iterator<Item = Term> + Clone, losses: &mut AlignedSum) -> Sum {
        let exponent = terms.clone().map(|term| term.exponent).max().unwrap_or(ZERO_EXPONENT);
        let (bits, cut) = (self.fraction_bits, FloatRounding::By(self.cut));
        let total = terms.filter_map(Term::number).map(|number| {
            losses.count(number, exponent, bits);
            scaled(number, exponent - bits as i32, cut)
        });
        Sum { total: total.sum(), exponent, bits }
    }
}

impl AlignedSum {
    /// Counts what `number` loses below `2^(exponent - bits)`.
    pub(super) fn count(&mut self, number: Dyadic, exponent: i32, bits: u32) {
        let Some(leading) = number.leading_exponent() else { return };
        let last = number.exponent + number.significand.trailing_zeros() as i32;
        let unit = exponent - bits as i32;
        self.cut_terms += u32::from(last < unit);
        self.vanished_terms += u32::from(leading < unit);
        self.exact_fraction_bits = self.exact_fraction_bits.max((exponent - last).max(0) as u32);
    }
}

impl Sum {
    fn number(self) -> Dyadic {
        Dyadic {
            negative: self.total < 0,
            significand: self.total.unsigned_abs() as u64,
            exponent: self.exponent - self.bits as i32,
        }
    }

    /// Returns the sum of two sums, both cut toward minus infinity to `bits` below the larger exponent.
    fn joined(self, other: Self, bits: u32) -> Self {
        let exponent = self.exponent.max(other.exponent);
        let total = [self, other].map(|sum| floor(sum.number(), exponent, bits)).iter().sum();
        Self { total, exponent, bits }
    }
}

/// Returns a number in units of `2^(exponent - bits)`, cut toward minus infinity.
fn floor(number: Dyadic, exponent: i32, bits: u32) -> i128 {
    scaled(number, exponent - bits as i32, FloatRounding::By(Rounding::Floor))
}
