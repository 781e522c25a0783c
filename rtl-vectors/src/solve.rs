//! Solves for operands with a given sum.

use guardbit_hwmodels::Product;
use guardbit_hwmodels::bounds::Range;
use guardbit_sim::trace::TraceOperand;

use crate::manifest::Operand;

/// Greatest weight that is tried as a divisor of a given product.
const MOST_TRIED: i128 = 1 << 16;

/// Returns an activation and a weight whose product is `value`.
pub(crate) fn factors(activation: &Operand, weight: &Operand, value: i128) -> Option<TraceOperand> {
    let weights = (1..=greatest(weight).min(MOST_TRIED)).flat_map(|w| [w, -w]);
    weights
        .filter(|w| value % w == 0)
        .map(|w| TraceOperand { activation: value / w, weight: w })
        .find(|o| activation.holds(o.activation) && weight.holds(o.weight))
}

/// Returns whether [`factors`] tries every weight.
pub(crate) fn tries_all(weight: &Operand) -> bool {
    greatest(weight) <= MOST_TRIED
}

fn greatest(weight: &Operand) -> i128 {
    i128::from(weight.max).max(-i128::from(weight.min))
}

/// Ranges of the operands that a solution may use.
#[derive(Debug, Clone)]
pub(crate) struct Ranges {
    pub activation: Operand,
    pub weight: Operand,
    /// Register and shift of the multiplier.
    pub product: Product,
}

impl Ranges {
    /// Returns at most `terms` products that sum to `target`, in the unit after the multiplier. All have the
    /// sign of `target` and are multiples of `grain`. The last one is the smallest.
    ///
    /// The search is greedy: it takes the largest product that does not overshoot, then one that completes
    /// the sum. Returns `None` if that needs more products.
    pub fn solve(&self, target: i128, terms: usize, grain: i128) -> Option<Vec<TraceOperand>> {
        let mut rest = target;
        let mut operands = Vec::new();
        while rest != 0 {
            if operands.len() == terms {
                return None;
            }
            let operand = self.last(rest).or_else(|| self.largest(rest, grain))?;
            rest -= self.value(operand)?;
            operands.push(operand);
        }
        Some(operands)
    }

    /// Returns a pair whose exact product is `value`.
    pub fn product(&self, value: i128) -> Option<TraceOperand> {
        factors(&self.activation, &self.weight, value)
    }

    /// Returns the range of values after the multiplier.
    pub fn reach(&self) -> Range {
        let Product { register, shift, round } = self.product;
        let products = self.extremes().into_iter().map(|o| o.activation * o.weight);
        let exact = products.fold(Range::ZERO, |range, value| range.hull(Range::point(value)));
        let limits = register.limits().unwrap_or(exact);
        let held = Range { min: exact.min.max(limits.min), max: exact.max.min(limits.max) };
        held.shift_right(shift, round)
    }

    /// Returns the value that the multiplier hands over; `None` if its register cannot hold the product.
    fn value(&self, o: TraceOperand) -> Option<i128> {
        let Product { register, shift, round } = self.product;
        let product = o.activation * o.weight;
        register.keeps(Range::point(product)).then(|| round.shift_right(product, shift, |_| 0))
    }

    /// Returns a product of exactly `value`.
    fn last(&self, value: i128) -> Option<TraceOperand> {
        let product = value << self.product.shift;
        let weights = (0..62).flat_map(|bit| [1i128 << bit, -(1i128 << bit)]);
        weights
            .take_while(|&w| w <= product.abs())
            .filter(|w| product % w == 0)
            .map(|weight| TraceOperand { activation: product / weight, weight })
            .find(|o| self.allows(*o) && self.value(*o) == Some(value))
    }

    /// Returns the product nearest to `target` between 0 and `target` that is a multiple of `grain`.
    fn largest(&self, target: i128, grain: i128) -> Option<TraceOperand> {
        let (low, high) = (i128::from(self.weight.min), i128::from(self.weight.max));
        let step = grain << self.product.shift;
        let reach = self.reach();
        let aim = target.clamp(reach.min, reach.max) << self.product.shift;
        let ends = [self.activation.min, self.activation.max].map(i128::from);
        // Multiples of the step have products that are multiples of it too.
        let activations = ends.into_iter().chain(ends.map(|a| a / step * step)).filter(|&a| a != 0);
        let by = i128::from(self.weight.step);
        let candidates = activations.flat_map(|activation| {
            let weight = self.weight.nearest((aim / activation).clamp(low, high));
            // Rounding may overshoot by one.
            [weight, weight - weight.signum() * by].map(|weight| TraceOperand { activation, weight })
        });
        let useful = |o: &TraceOperand| {
            let value = self.value(*o).unwrap_or(0);
            value != 0
                && value.signum() == target.signum()
                && value.abs() <= target.abs()
                && value % grain == 0
        };
        candidates.filter(useful).max_by_key(|o| self.value(*o).map(i128::abs))
    }

    /// Returns a pair whose product is 0: it occupies a term and adds nothing.
    pub fn zero(&self) -> TraceOperand {
        let weight = i128::from(self.weight.max.clamp(self.weight.min, 1));
        TraceOperand { activation: 0, weight }
    }

    /// Returns the four combinations of extreme operands.
    pub fn extremes(&self) -> Vec<TraceOperand> {
        let weights = [self.weight.min, self.weight.max];
        let pair = |a: i64| weights.map(|w| TraceOperand { activation: a.into(), weight: w.into() });
        [self.activation.min, self.activation.max].into_iter().flat_map(pair).collect()
    }

    /// Returns the pairs with the least and the greatest product.
    pub fn ends(&self) -> [TraceOperand; 2] {
        let mut all = self.extremes();
        all.sort_by_key(|o| o.activation * o.weight);
        [all[0], all[3]]
    }

    /// Returns whether stimuli may contain both operands.
    pub fn allows(&self, o: TraceOperand) -> bool {
        self.activation.holds(o.activation) && self.weight.holds(o.weight)
    }

    /// Returns the pair of stimuli nearest to two values within the ranges.
    pub fn nearest(&self, o: TraceOperand) -> TraceOperand {
        TraceOperand {
            activation: self.activation.nearest(o.activation),
            weight: self.weight.nearest(o.weight),
        }
    }
}

#[cfg(test)]
mod tests {
    use guardbit_hwmodels::Register;
    use guardbit_num::{Format, Overflow, Rounding};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The result sums to the target, within the ranges, without ever passing it.
        #[test]
        fn solutions_are_exact(
            target in -30_000i128..30_000,
            zero in -128i64..=127,
            bits in 5u32..=8,
            product in prop::option::of(10u32..17),
            shift in 0u32..4,
            dropped in 0u32..3,
        ) {
            let half = 1i64 << (bits - 1);
            let register = match product {
                None => Register::Auto,
                Some(bits) => Register::Fixed {
                    format: Format::new(bits, true).unwrap(),
                    overflow: Overflow::Saturate,
                },
            };
            let ranges = Ranges {
                activation: Operand { bits: 9, min: (-128 - zero).min(0), max: (127 - zero).max(0), step: 1 },
                weight: Operand { bits, min: -half, max: half - 1, step: 1 },
                product: Product { register, shift, round: Rounding::HalfUp.into() },
            };
            let grain = 1 << dropped;
            let target = target * grain;
            let solved = ranges.solve(target, 1 << 16, grain);
            // With a signed weight every sum is reachable, unless products are truncated.
            prop_assert!(solved.is_some() || shift > 0 || dropped > 0);
            let mut sum = 0;
            for o in solved.iter().flatten() {
                prop_assert!(ranges.allows(*o));
                let value = ranges.value(*o).unwrap();
                prop_assert_eq!(value % grain, 0);
                sum += value;
                prop_assert!(sum.abs() <= target.abs());
            }
            prop_assert!(solved.is_none() || sum == target);
        }
    }
}
