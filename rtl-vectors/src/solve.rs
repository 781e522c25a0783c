//! Operands with a given sum: solved for, not hoped for.

use guardbit_sim::trace::TraceOperand;

use crate::manifest::Operand;

/// What a value source may use.
#[derive(Debug, Clone)]
pub(crate) struct Ranges {
    pub activation: Operand,
    pub weight: Operand,
}

impl Ranges {
    /// At most `terms` products that sum to `target`, all of its sign. The last one is the smallest.
    ///
    /// Greedy: the largest product that does not overshoot, then one that ends it. `None` if that needs more products.
    pub fn solve(&self, target: i128, terms: usize) -> Option<Vec<TraceOperand>> {
        let mut rest = target;
        let mut operands = Vec::new();
        while rest != 0 {
            if operands.len() == terms {
                return None;
            }
            let operand = self.last(rest).or_else(|| self.largest(rest))?;
            rest -= operand.activation * operand.weight;
            operands.push(operand);
        }
        Some(operands)
    }

    /// A product of exactly `value`.
    fn last(&self, value: i128) -> Option<TraceOperand> {
        [1, -1]
            .into_iter()
            .map(|weight| TraceOperand { activation: value * weight, weight })
            .find(|o| self.allows(*o))
    }

    /// The product nearest to `target` between 0 and it.
    fn largest(&self, target: i128) -> Option<TraceOperand> {
        let (low, high) = (i128::from(self.weight.min), i128::from(self.weight.max));
        let candidates =
            [self.activation.min, self.activation.max].into_iter().filter(|&a| a != 0).map(|a| {
                let activation = i128::from(a);
                TraceOperand { activation, weight: (target / activation).clamp(low, high) }
            });
        let useful = |o: &TraceOperand| {
            let product = o.activation * o.weight;
            product != 0 && product.signum() == target.signum() && product.abs() <= target.abs()
        };
        candidates.filter(useful).max_by_key(|o| (o.activation * o.weight).abs())
    }

    /// A pair whose product is 0: it takes a place and adds nothing.
    pub fn zero(&self) -> TraceOperand {
        let weight = i128::from(self.weight.max.clamp(self.weight.min, 1));
        TraceOperand { activation: 0, weight }
    }

    /// The four corners.
    pub fn extremes(&self) -> Vec<TraceOperand> {
        let weights = [self.weight.min, self.weight.max];
        let pair = |a: i64| weights.map(|w| TraceOperand { activation: a.into(), weight: w.into() });
        [self.activation.min, self.activation.max].into_iter().flat_map(pair).collect()
    }

    fn allows(&self, o: TraceOperand) -> bool {
        let inside = |range: &Operand, v: i128| i128::from(range.min) <= v && v <= i128::from(range.max);
        inside(&self.activation, o.activation) && inside(&self.weight, o.weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What comes back sums to the target, within the ranges, without ever passing it.
        #[test]
        fn solutions_are_exact(target in -300_000i64..300_000, zero in -128i64..=127, bits in 4u32..=8) {
            let half = 1i64 << (bits - 1);
            let ranges = Ranges {
                activation: Operand { bits: 9, min: (-128 - zero).min(0), max: (127 - zero).max(0) },
                weight: Operand { bits, min: -half, max: half - 1 },
            };
            if let Some(operands) = ranges.solve(target.into(), 4096) {
                let mut sum = 0;
                for o in &operands {
                    prop_assert!(ranges.allows(*o));
                    sum += o.activation * o.weight;
                    prop_assert!(sum.abs() <= i128::from(target).abs());
                }
                prop_assert_eq!(sum, i128::from(target));
            } else {
                prop_assert!(false, "a signed weight reaches every sum");
            }
        }
    }
}
