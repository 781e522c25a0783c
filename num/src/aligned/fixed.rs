//! A dot product in a fixed-point register, as a Kulisch accumulator adds.

use super::rule::{AlignedSum, Term};
use crate::float::{nearest_single, reduced, scaled};
use crate::{
    Accumulator, Decoded, Direction, Dyadic, FloatRounding, Format, Overflow, Rounding, required_bits,
};

/// Bits of the largest product, in units of the register. Sums of as many products as a tensor holds fit an `i128`.
const PRODUCT_BITS: i32 = 96;

/// How a dot product is added in a two's complement register with a fixed binary point.
///
/// Each product is cut to a multiple of `2^-fraction_bits`, and counts as `2^96` such units if it is larger. The
/// products of one addition are added exactly, and then to the register, which is checked for overflow. At the end the
/// register becomes the float32 nearest to its value, ties to even.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FixedDot {
    /// Bits below the binary point, at most 40.
    pub fraction_bits: u32,
    /// How a product is cut to these bits.
    pub cut: Rounding,
    /// Width and overflow mode; `None` if every sum fits.
    pub register: Option<(Format, Overflow)>,
    /// Products of one addition, at least 1. The last addition may have fewer.
    pub terms: usize,
    /// Additions, at least 1, after which the register is added to a float32 sum, to nearest even, and starts again at
    /// zero.
    pub promotion: Option<usize>,
}

/// What a dot product did to its register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterUse {
    /// Additions whose exact result did not fit.
    pub overflows: u32,
    /// The first of them: its index among the additions of the dot product, and the rail that was crossed.
    pub first: Option<(usize, Direction)>,
    /// Bits above the binary point, sign included, with which no sum overflows in two's complement; at least 1.
    pub integer_bits: u32,
}

impl FixedDot {
    /// Returns the float32 code of the sum of `products`, what was cut, and what the register did.
    ///
    /// If a product is not finite, the result is that of IEEE 754, and nothing is counted.
    pub fn run(&self, products: &[Term]) -> (AlignedSum, RegisterUse) {
        let mut sum = AlignedSum { code: 0, cut_terms: 0, vanished_terms: 0, exact_fraction_bits: 0 };
        let mut used = RegisterUse { overflows: 0, first: None, integer_bits: 1 };
        let is_finite = |value: &Decoded| matches!(value, Decoded::Finite(_));
        let special = products.iter().map(|term| term.value).filter(|value| !is_finite(value));
        if let Some(special) = special.reduce(Decoded::plus) {
            sum.code = nearest_single(special);
            return (sum, used);
        }
        let mut additions = 0..;
        let all = products.len().max(1);
        for part in products.chunks(self.promotion.map_or(all, |count| count.saturating_mul(self.terms))) {
            let mut register = self.register.map(|(format, overflow)| Accumulator::new(format, overflow));
            let mut exact = 0;
            for (terms, index) in part.chunks(self.terms).zip(&mut additions) {
                let addend: i128 = terms.iter().map(|&term| self.addend(term, &mut sum)).sum();
                exact += addend;
                let integer_bits = required_bits(exact, true).saturating_sub(self.fraction_bits);
                used.integer_bits = used.integer_bits.max(integer_bits);
                if let Some(direction) = register.as_mut().and_then(|register| register.add(addend)) {
                    used.overflows += 1;
                    used.first.get_or_insert((index, direction));
                }
            }
            let value = register.map_or(exact, |register| register.value());
            let value = Decoded::Finite(reduced(value, -(self.fraction_bits as i32)));
            let total = Decoded::from(f64::from(f32::from_bits(sum.code)));
            sum.code = nearest_single(if self.promotion.is_some() { total.plus(value) } else { value });
        }
        (sum, used)
    }

    /// Returns a finite product in units of the register.
    fn addend(&self, product: Term, losses: &mut AlignedSum) -> i128 {
        let Decoded::Finite(number) = product.value else { return 0 };
        losses.count(number, 0, self.fraction_bits);
        let bits = self.fraction_bits as i32;
        if number.leading_exponent().is_some_and(|leading| leading + bits >= PRODUCT_BITS) {
            let Dyadic { negative, .. } = number;
            return if negative { -1 << PRODUCT_BITS } else { 1 << PRODUCT_BITS };
        }
        scaled(number, -bits, FloatRounding::By(self.cut))
    }
}
