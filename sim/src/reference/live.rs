//! One dot product whose operands arrive beat by beat; the caller states where runs end.

use guardbit_hwmodels::{MacLayer, reduction};

use super::level::{RunAdders, Running};
use super::{Draws, Operand, Value, product};
use crate::dot::DotOutcome;
use crate::output;
use crate::trace::{LevelStep, LiveEnd};

/// State of all registers between two beats.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    levels: Vec<Run>,
    outcome: DotOutcome,
    products: i128,
    activations: i128,
    weights: i128,
    count: usize,
}

/// Level within a run.
#[derive(Debug, Clone)]
struct Run {
    /// Index of the run within the dot product.
    index: usize,
    so_far: reduction::Run<Value, Running>,
}

impl Live {
    pub fn new(layer: &MacLayer) -> Self {
        let levels = &layer.datapath.levels;
        let mut outcome = DotOutcome::default();
        outcome.clear(levels.len());
        let levels = levels.iter().map(|level| Run { index: 0, so_far: level.reduce.start() }).collect();
        Self { levels, outcome, products: 0, activations: 0, weights: 0, count: 0 }
    }

    pub fn products(&self) -> i128 {
        self.products
    }

    /// Runs one beat. Returns the delivered value if the last level's run ends; the state is then reset.
    pub fn beat(
        &mut self,
        layer: &MacLayer,
        channel: usize,
        operands: &[Operand],
        run_last: &[bool],
        observer: &mut dyn FnMut(LevelStep),
    ) -> Option<LiveEnd> {
        let datapath = &layer.datapath;
        // Beats do not state their output, so random numbers are those of the first one.
        let draws = Draws::first(layer);
        let mut values = product::multiply(datapath, draws, self.count, operands, &mut self.outcome);
        self.products += operands.iter().map(|o| o.activation * o.weight).sum::<i128>();
        self.activations += operands.iter().map(|o| o.activation).sum::<i128>();
        self.weights += operands.iter().map(|o| o.weight).sum::<i128>();
        self.count += operands.len();

        let last = datapath.levels.len() - 1;
        for (index, level) in datapath.levels.iter().enumerate() {
            let run = &mut self.levels[index];
            let mut adders = RunAdders {
                index,
                level,
                run: run.index,
                draws,
                initial: if index == last { output::preload(layer, channel) } else { None },
                outcome: &mut self.outcome,
                observer: &mut *observer,
            };
            values.iter().for_each(|&value| run.so_far.push(value, &mut adders));
            let ends = !values.is_empty() && run_last.get(index).copied().unwrap_or(false);
            values.clear();
            if ends {
                let done = std::mem::replace(&mut run.so_far, level.reduce.start());
                let result = done.finish(&mut adders);
                values.push(adders.hand_over(result));
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
        let Self { activations, weights, count, .. } = *self;
        let sum = output::Sum { delivered, exact, activations, weights, count };
        output::finish(layer, channel, &sum, &mut self.outcome);
        LiveEnd { delivered, exact, code: self.outcome.code }
    }
}
