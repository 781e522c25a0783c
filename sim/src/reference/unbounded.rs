//! Sums of a dot product with unlimited widths, run by run.

use guardbit_hwmodels::reduction::Adders;
use guardbit_hwmodels::{Check, Level, MacLayer};

use super::draws::{Draws, Stage};
use super::operands::Operand;
use crate::output;

/// Sums of one level of a dot product with unlimited widths, in its unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelSums {
    /// Final sum of every run, in order.
    pub finals: Vec<i128>,
    /// Minimum of 0 and all prefixes of all runs.
    pub min_prefix: i128,
    /// Maximum of 0 and all prefixes of all runs.
    pub max_prefix: i128,
}

/// Returns the sums of every level with the operands, orders, roundings and runs of `run_observed`, but
/// without registers.
pub(super) fn level_sums(
    layer: &MacLayer,
    channel: usize,
    draws: Draws,
    operands: &[Operand],
) -> Vec<LevelSums> {
    let product = layer.datapath.product;
    let shifted = |(k, operand): (usize, &Operand)| {
        let word = |seed| draws.word(seed, product.shift, Stage::Product, k);
        product.round.shift_right(operand.activation * operand.weight, product.shift, word)
    };
    let mut values: Vec<i128> = operands.iter().enumerate().map(shifted).collect();
    let last = layer.datapath.levels.len() - 1;
    let mut sums = Vec::with_capacity(last + 1);
    for (index, level) in layer.datapath.levels.iter().enumerate() {
        let start = if index == last { output::preload(layer, channel) } else { None }.unwrap_or(0);
        let seen = LevelSums { finals: Vec::new(), min_prefix: 0, max_prefix: 0 };
        let mut sum = Unbounded { start, checks: level.check == Check::EachAdd, seen };
        values = sum.reduce(level, &values);
        for (run, value) in values.iter_mut().enumerate() {
            let word = |seed| draws.word(seed, level.shift, Stage::Level(index), run);
            *value = level.round.shift_right(*value, level.shift, word);
        }
        sums.push(sum.seen);
    }
    sums
}

/// Adders of unlimited width.
struct Unbounded {
    start: i128,
    /// Whether sums inside a run are prefixes.
    checks: bool,
    seen: LevelSums,
}

impl Unbounded {
    /// Returns the final sums of all runs.
    fn reduce(&mut self, level: &Level, values: &[i128]) -> Vec<i128> {
        let mut runs: Vec<&[i128]> = values.chunks(level.terms.run_length(values.len())).collect();
        if runs.is_empty() {
            runs.push(&[]);
        }
        for values in runs {
            let mut run = level.reduce.start();
            values.iter().for_each(|&value| run.push(value, self));
            let sum = run.finish(self);
            self.note(sum);
            self.seen.finals.push(sum);
        }
        self.seen.finals.clone()
    }

    fn note(&mut self, prefix: i128) {
        self.seen.min_prefix = self.seen.min_prefix.min(prefix);
        self.seen.max_prefix = self.seen.max_prefix.max(prefix);
    }

    fn inside(&mut self, prefix: i128) -> i128 {
        if self.checks {
            self.note(prefix);
        }
        prefix
    }
}

impl Adders for Unbounded {
    type Value = i128;
    type Register = i128;

    fn load(&mut self) -> i128 {
        self.inside(self.start)
    }

    fn add(&mut self, register: &mut i128, value: i128) {
        *register = self.inside(*register + value);
    }

    fn held(&self, register: &i128) -> i128 {
        *register
    }

    fn node(&mut self, left: i128, right: i128) -> i128 {
        self.inside(left + right)
    }

    fn nothing(&self) -> i128 {
        0
    }
}
