//! The values that a register can see, one by one, where they are few enough.
//!
//! A set holds at least every value that occurs in a dot product of up to the layer's number of terms: what is not in the set
//! is proved unreachable.

use guardbit_hwmodels::Check;
use guardbit_hwmodels::bounds::Range;

use super::bits::{Bits, Effort};
use super::tree::left;
use super::word;
use crate::arithmetic::register;
use crate::manifest::{Arithmetic, BiasAt, LevelInfo, Operand, RegisterInfo};

/// Greatest number of words that are computed.
const EFFORT: usize = 1 << 26;
/// Greatest number of pairs of operands.
const MAX_PAIRS: i128 = 1 << 20;

/// Sets of the results that registers compare with their rails.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sets {
    /// Exact products.
    pub product: Option<Bits>,
    /// Per level, innermost first; those that are not known are left out.
    pub levels: Vec<Bits>,
    /// Results of the bias adder.
    pub bias: Option<Bits>,
}

impl Sets {
    /// Returns the sets for dot products of up to `terms` products.
    pub fn new(arithmetic: &Arithmetic, terms: usize) -> Self {
        let mut sets = Self::default();
        let _ = sets.fill(arithmetic, terms.max(1));
        sets
    }

    /// Adds one set after the other; `None` once that takes too long.
    fn fill(&mut self, arithmetic: &Arithmetic, terms: usize) -> Option<()> {
        let effort = &mut Effort(EFFORT);
        let mut values = products(&arithmetic.activation, &arithmetic.weight, effort)?;
        self.product = Some(values.clone());
        values = leaving(&fitted(&values, &arithmetic.product, effort)?, &arithmetic.product, effort)?;
        let mut below = 1;
        for (index, level) in arithmetic.levels.iter().enumerate() {
            let preload = arithmetic.bias.at == BiasAt::PRELOAD && index + 1 == arithmetic.levels.len();
            let start = if preload { word(arithmetic) } else { Range::ZERO };
            let most = terms.div_ceil(below);
            let length = level.terms.unwrap_or(most).clamp(1, most);
            let (results, held) = match level.reduce.takes_run_at_once() {
                true => tree(level, &values, length, effort)?,
                false => serial(level, &values, length, start, effort)?,
            };
            self.levels.push(results);
            values = leaving(&held, &level.register, effort)?;
            below = (below * length).min(terms);
        }
        if arithmetic.bias.at == BiasAt::POST {
            self.bias = Some(values.plus(&Bits::all(word(arithmetic), effort)?, effort)?);
        }
        Some(())
    }
}

/// Returns the products of two operands, and 0.
fn products(activation: &Operand, weight: &Operand, effort: &mut Effort) -> Option<Bits> {
    let range = |operand: &Operand| Range::new(operand.min, operand.max);
    let count = |operand: &Operand| i128::from(operand.max) - i128::from(operand.min) + 1;
    if count(activation).checked_mul(count(weight))? > MAX_PAIRS {
        return None;
    }
    let values = |operand: &Operand| (operand.min..=operand.max).step_by(operand.step.max(1) as usize);
    let pairs = values(activation).flat_map(|a| values(weight).map(move |w| i128::from(a) * i128::from(w)));
    Bits::of(range(activation).times(range(weight)).hull(Range::ZERO), pairs.chain([0]), effort)
}

/// Returns what a register holds of exact results.
fn fitted(results: &Bits, info: &RegisterInfo, effort: &mut Effort) -> Option<Bits> {
    match register(info).ok()?.fixed() {
        None => Some(results.clone()),
        Some((format, overflow)) => results.map(|value| overflow.fit(value, format).value, effort),
    }
}

/// Returns what leaves a register: without the dropped bits.
fn leaving(held: &Bits, info: &RegisterInfo, effort: &mut Effort) -> Option<Bits> {
    match info.shift {
        0 => Some(held.clone()),
        shift => held.map(|value| info.round.shift_right(value, shift), effort),
    }
}

/// Returns the results that are compared in a run of up to `length` values, and what the run hands over.
fn serial(
    level: &LevelInfo,
    values: &Bits,
    length: usize,
    start: Range,
    effort: &mut Effort,
) -> Option<(Bits, Bits)> {
    let first = Bits::all(start.hull(Range::ZERO), effort)?;
    let is_exact = level.check == Check::HandOver;
    let fit = |results: &Bits, effort: &mut Effort| fitted(results, &level.register, effort);
    let mut held = if is_exact { first } else { fit(&first, effort)? };
    let mut results = held.clone();
    for _ in 0..length {
        results = held.plus(values, effort)?;
        let fitted = if is_exact { results.clone() } else { fit(&results, effort)? };
        let next = held.or(&fitted, effort)?;
        if next.iter().eq(held.iter()) {
            break;
        }
        held = next;
    }
    if is_exact {
        return Some((held.clone(), fit(&held, effort)?));
    }
    // Values include 0, so that the last results include all earlier ones.
    Some((results, held))
}

/// Returns the results that are compared in a tree over up to `length` values, and what it hands over.
fn tree(level: &LevelInfo, values: &Bits, length: usize, effort: &mut Effort) -> Option<(Bits, Bits)> {
    let mut nodes = vec![values.clone()];
    let (mut results, mut held) = (None::<Bits>, values.clone());
    for count in 2..=length {
        let sums = nodes[left(count) - 1].plus(&nodes[count - left(count) - 1], effort)?;
        let node = match level.check {
            Check::EachAdd => fitted(&sums, &level.register, effort)?,
            Check::HandOver => sums.clone(),
        };
        results = Some(match results {
            Some(results) => results.or(&sums, effort)?,
            None => sums,
        });
        held = held.or(&node, effort)?;
        nodes.push(node);
    }
    match level.check {
        Check::HandOver => Some((held.clone(), fitted(&held, &level.register, effort)?)),
        Check::EachAdd => Some((results.unwrap_or_else(|| values.clone()), held)),
    }
}
