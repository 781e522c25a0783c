//! One dot product whose operands arrive beat by beat, and whose runs end when they are told to.

use guardbit_hwmodels::{MacLayer, Reduce};

use super::level::{Running, Stage};
use super::{Operand, Value, product};
use crate::dot::DotOutcome;
use crate::output;
use crate::trace::{LevelStep, LiveEnd};

/// Everything that registers hold between two beats.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    levels: Vec<Run>,
    outcome: DotOutcome,
    products: i128,
    activations: i128,
    count: usize,
}

/// A level within a run.
#[derive(Debug, Clone, Default)]
struct Run {
    /// The run within the dot product.
    index: usize,
    /// A serial level's register, from its first addition on.
    register: Option<Running>,
    /// A tree's values so far.
    waiting: Vec<Value>,
}

impl Live {
    pub fn new(layer: &MacLayer) -> Self {
        let levels = layer.datapath.levels.len();
        let mut outcome = DotOutcome::default();
        outcome.clear(levels);
        Self { levels: vec![Run::default(); levels], outcome, products: 0, activations: 0, count: 0 }
    }

    pub fn products(&self) -> i128 {
        self.products
    }

    /// One beat; says what was delivered if the last level's run ends, and is then as new.
    pub fn beat(
        &mut self,
        layer: &MacLayer,
        channel: usize,
        operands: &[Operand],
        run_last: &[bool],
        observer: &mut dyn FnMut(LevelStep),
    ) -> Option<LiveEnd> {
        let datapath = &layer.datapath;
        let mut values = product::multiply(datapath, operands, &mut self.outcome);
        for value in &mut values {
            value.last_k += self.count;
        }
        self.products += operands.iter().map(|o| o.activation * o.weight).sum::<i128>();
        self.activations += operands.iter().map(|o| o.activation).sum::<i128>();
        self.count += operands.len();

        let last = datapath.levels.len() - 1;
        for (index, level) in datapath.levels.iter().enumerate() {
            let run = &mut self.levels[index];
            let mut stage =
                Stage { index, level, run: run.index, outcome: &mut self.outcome, observer: &mut *observer };
            let initial = if index == last { output::preload(layer, channel) } else { None };
            match level.reduce {
                Reduce::Tree => run.waiting.extend(&values),
                Reduce::Serial => {
                    for value in &values {
                        let register = run.register.get_or_insert_with(|| stage.start(initial));
                        stage.add(register, value);
                    }
                }
            }
            let ends = !values.is_empty() && run_last.get(index).copied().unwrap_or(false);
            values.clear();
            if ends {
                let result = match run.register.take() {
                    Some(register) => register.sum(),
                    None => stage.tree(&std::mem::take(&mut run.waiting)),
                };
                values.push(stage.hand_over(result));
                run.index += 1;
            }
        }
        let delivered = values.first()?.narrow;
        let end = self.finish(layer, channel, delivered);
        *self = Self::new(layer);
        Some(end)
    }

    fn finish(&mut self, layer: &MacLayer, channel: usize, delivered: i128) -> LiveEnd {
        let exact = output::exact_sum(layer, channel, self.products);
        let sum = output::Sum { delivered, exact, activations: self.activations, count: self.count };
        output::finish(layer, channel, &sum, &mut self.outcome);
        LiveEnd { delivered, exact, code: self.outcome.code }
    }
}
