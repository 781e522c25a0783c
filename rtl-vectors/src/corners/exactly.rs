//! Products with a given sum that few operands have: all sums of a few products are known, so one product after the other can be
//! taken off.

use std::collections::BTreeMap;

use guardbit_hwmodels::bounds::Range;
use guardbit_sim::trace::{TraceOperand, trace_observed};

use super::{Maker, Sums};
use crate::arithmetic::one_channel;
use crate::coverage::Aim;
use crate::reach::{Bits, Effort};

/// Greatest number of products: a search finds sums of more.
const MOST: usize = 8;
/// Greatest number of pairs of operands.
const MAX_PAIRS: i128 = 1 << 18;
/// Greatest number of words of sets that are computed.
const EFFORT: usize = 1 << 28;

impl Maker<'_> {
    /// Returns the fewest products that reach an aim at a sum of the innermost level; `None` for other aims, or if more than a few
    /// products are needed.
    pub(super) fn exactly(&self, aim: &Aim) -> Option<Vec<TraceOperand>> {
        let target = aim.nearest().filter(|_| aim.level() == Some(0))?;
        let operands = self.summands(target)?;
        let mut layer = one_channel(self.layer, 0, None);
        layer.bias.iter_mut().for_each(|biases| biases.fill(0));
        let mut watch = aim.watch();
        trace_observed(&layer, 0, &operands, &mut |step| watch.step(step));
        (watch.miss()?.distance == 0).then_some(operands)
    }

    /// Returns the fewest products that sum to `target`, in the unit of the innermost level. Sums on the way lie between 0 and
    /// `target` where possible.
    fn summands(&self, target: i128) -> Option<Vec<TraceOperand>> {
        let Sums { values, sums } = self.sums.get_or_init(|| self.sums()).as_ref()?;
        let count = sums.iter().position(|sums| sums.contains(target))?;
        let (mut rest, mut operands) = (target, Vec::new());
        for before in sums[..count].iter().rev() {
            let is_inwards = |value: i128| (rest - value).signum() * rest.signum() >= 0 && value * rest >= 0;
            let fits = |&(&value, _): &(&i128, &TraceOperand)| before.contains(rest - value);
            let inwards = values.iter().filter(|(value, _)| is_inwards(**value)).find(fits);
            let (value, operand) = inwards.or_else(|| values.iter().find(fits))?;
            rest -= value;
            operands.push(*operand);
        }
        operands.push(*values.get(&rest)?);
        operands.reverse();
        Some(operands)
    }

    /// Returns the sums of up to a few products, as far as they can be computed.
    fn sums(&self) -> Option<Sums> {
        let values = self.values()?;
        let effort = &mut Effort(EFFORT);
        let ends = Range { min: *values.keys().next()?, max: *values.keys().next_back()? };
        let mut sums = vec![Bits::of(ends, values.keys().copied(), effort)?];
        while sums.len() < MOST.min(self.value_terms(1)).min(self.terms) {
            let Some(next) = sums.last()?.plus(&sums[0], effort) else { break };
            sums.push(next);
        }
        Some(Sums { values, sums })
    }

    /// Returns the values that the multiplier hands over, with operands of each; `None` if there are too many pairs.
    fn values(&self) -> Option<BTreeMap<i128, TraceOperand>> {
        let (a, w) = (&self.ranges.activation, &self.ranges.weight);
        let count = |min: i64, max: i64| i128::from(max) - i128::from(min) + 1;
        if count(a.min, a.max).checked_mul(count(w.min, w.max))? > MAX_PAIRS {
            return None;
        }
        let product = self.ranges.product;
        let pairs = (a.min..=a.max).flat_map(|activation| {
            (w.min..=w.max)
                .map(move |weight| TraceOperand { activation: activation.into(), weight: weight.into() })
        });
        let allowed = pairs.filter(|&operand| self.ranges.allows(operand));
        Some(
            allowed
                .map(|operand| {
                    let held = self.fitted(operand);
                    (product.round.shift_right(held, product.shift, |_| 0), operand)
                })
                .collect(),
        )
    }
}
