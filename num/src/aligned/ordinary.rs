//! A dot product by ordinary floating-point additions, with or without promotion.

use super::rule::{AlignedSum, Term};
use crate::PairwiseDot;
use crate::float::nearest_single;

/// How a dot product is cut into groups of products, which are added to the accumulator one after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OrdinaryDot {
    /// How a group is added.
    pub unit: PairwiseDot,
    /// Groups, at least 1, after which the accumulator is added to a float32 sum, to nearest even, and starts again at
    /// zero.
    pub promotion: Option<usize>,
}

impl OrdinaryDot {
    /// Returns the sum of `products`: a code of the unit's result, or of float32 with promotion.
    ///
    /// A cut term is an addition whose result was rounded, or whose products were. A vanished term is an addition of
    /// two nonzero numbers that returns one of them. The exact fraction bits are those of the longest exact result.
    pub fn run(&self, products: &[Term]) -> AlignedSum {
        let mut sum = AlignedSum { code: 0, cut_terms: 0, vanished_terms: 0, exact_fraction_bits: 0 };
        let group = self.unit.group;
        let all = products.len().max(1);
        let mut total = 0;
        for part in products.chunks(self.promotion.map_or(all, |count| count.saturating_mul(group))) {
            let mut code = 0;
            for terms in part.chunks(group) {
                let values: Vec<_> = terms.iter().map(|term| term.value).collect();
                let added = self.unit.add(&values, code);
                code = added.code;
                sum.cut_terms += added.rounded;
                sum.vanished_terms += added.vanished;
                sum.exact_fraction_bits = sum.exact_fraction_bits.max(added.fraction_bits);
            }
            let own = self.unit.result.decode(code);
            total = nearest_single(crate::FloatFormat::FLOAT32.decode(total).plus(own));
            sum.code = code;
        }
        AlignedSum { code: if self.promotion.is_some() { total } else { sum.code }, ..sum }
    }
}
