//! A dot product by aligned additions, one after another, with or without promotion.

use super::rule::{AlignedRule, AlignedSum, Term};
use crate::float::wide::FLOAT32;
use crate::{FloatOverflow, FloatRounding, Rounding};

/// How a dot product is cut into aligned additions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AlignedDot {
    /// The rule of each addition.
    pub rule: AlignedRule,
    /// Products of one addition, at least 1. The last addition may have fewer.
    pub terms: usize,
    /// Additions, at least 1, after which the accumulator is added to a float32 sum, to nearest even, and starts again
    /// at zero. The remedy of DeepSeek-V3 (technical report, section 3.5.2): 4 additions of 32 products.
    pub promotion: Option<usize>,
}

impl AlignedDot {
    /// Returns the sum of `products`: a code of the rule's result, or of float32 with promotion. What was lost is
    /// counted over all additions.
    pub fn run(&self, products: &[Term]) -> AlignedSum {
        let mut sum = AlignedSum { code: 0, cut_terms: 0, vanished_terms: 0, exact_fraction_bits: 0 };
        let mut total = 0;
        for part in products.chunks(self.terms * self.promotion.unwrap_or(products.len().max(1))) {
            sum.code = 0;
            for terms in part.chunks(self.terms) {
                let added = self.rule.add(terms, Term::of(self.rule.result, sum.code));
                sum = AlignedSum {
                    code: added.code,
                    cut_terms: sum.cut_terms + added.cut_terms,
                    vanished_terms: sum.vanished_terms + added.vanished_terms,
                    exact_fraction_bits: sum.exact_fraction_bits.max(added.exact_fraction_bits),
                };
            }
            total = self.promoted(total, sum.code);
        }
        let code = if self.promotion.is_some() { total } else { sum.code };
        AlignedSum { code, ..sum }
    }

    /// Returns the float32 sum `total` plus the accumulator, to nearest even.
    pub fn promoted(&self, total: u32, accumulator: u32) -> u32 {
        let sum = FLOAT32.decode(total).plus(self.rule.result.decode(accumulator));
        let rounding = FloatRounding::By(Rounding::HalfEven);
        FLOAT32.code(sum, rounding, FloatOverflow::Special).unwrap_or(0)
    }
}
