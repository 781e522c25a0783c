//! One accelerated layer over a batch of samples.

use std::ops::Range;

use guardbit_hwmodels::MacLayer;
use rayon::prelude::*;

use crate::dot::{DotEngine, DotOutcome};
use crate::error::{SimError, Trap};
use crate::options::{Engine, Options};
use crate::parallel::ParallelEngine;
use crate::reference::ReferenceEngine;
use crate::stats::LayerStats;

/// Multiplications that are worth a task of their own.
const MACS_PER_TASK: usize = 1 << 18;

/// Output codes of one sample: what the narrow hardware made, and what the exact sums of the same activations
/// would have made.
#[derive(Debug, Clone, Default)]
pub(crate) struct LayerCodes {
    pub simulated: Vec<i32>,
    pub exact: Vec<i32>,
}

/// Runs `layer` over one input per sample and adds to `stats`. The first sample has index `first`.
pub(crate) fn run(
    layer: &MacLayer,
    inputs: &[&[i32]],
    first: usize,
    stats: &mut LayerStats,
    options: &Options,
) -> Result<Vec<LayerCodes>, SimError> {
    let tasks = tasks(layer, inputs.len());
    let empty = stats.empty_part(first);
    let new = || Part { codes: Vec::new(), stats: empty.clone(), trap: None };
    let with = |mut part: Part, (index, task): (usize, &Task)| {
        let input = inputs[task.sample];
        let codes = match options.engine {
            Engine::Reference => part.run(layer, ReferenceEngine::new(layer, input), task, first, options),
            Engine::Parallel => part.run(layer, ParallelEngine::new(layer, input), task, first, options),
        };
        part.codes.push((index, codes));
        part
    };
    let mut part = match options.engine {
        Engine::Reference => tasks.iter().enumerate().fold(new(), with),
        Engine::Parallel => tasks.par_iter().enumerate().fold(new, with).reduce(new, Part::merge),
    };
    if let Some(trap) = part.trap {
        return Err(trap.error(layer));
    }
    stats.merge(part.stats);

    part.codes.sort_unstable_by_key(|(index, _)| *index);
    let mut samples = vec![LayerCodes::default(); inputs.len()];
    for (index, codes) in part.codes {
        let sample = &mut samples[tasks[index].sample];
        sample.simulated.extend(codes.simulated);
        sample.exact.extend(codes.exact);
    }
    Ok(samples)
}

/// A stretch of one sample's outputs.
struct Task {
    sample: usize,
    outputs: Range<usize>,
}

fn tasks(layer: &MacLayer, samples: usize) -> Vec<Task> {
    let window = &layer.dots.window;
    // Whole pixels, so that a window is read once for all of its channels.
    let pixel = window.channels().max(1);
    let macs_per_pixel = (pixel * window.terms()).max(1);
    let step = pixel * (MACS_PER_TASK / macs_per_pixel).max(1);
    let of_sample = |sample| {
        let dots = window.dots();
        (0..dots).step_by(step).map(move |start| Task { sample, outputs: start..(start + step).min(dots) })
    };
    (0..samples).flat_map(of_sample).collect()
}

/// What some tasks left behind.
struct Part {
    codes: Vec<(usize, LayerCodes)>,
    stats: LayerStats,
    trap: Option<Trap>,
}

impl Part {
    fn run(
        &mut self,
        layer: &MacLayer,
        mut engine: impl DotEngine,
        task: &Task,
        first: usize,
        options: &Options,
    ) -> LayerCodes {
        let mut codes = LayerCodes::default();
        let mut outcome = DotOutcome::default();
        let sample = first + task.sample;
        for index in task.outputs.clone() {
            let out = layer.dots.window.output_position(index);
            engine.run(out, &mut outcome);
            codes.simulated.push(outcome.code);
            codes.exact.push(outcome.exact_code);
            self.stats.record(layer, sample, out, &outcome, options);
            if let Some((stage, k)) = outcome.trap {
                let cycle = layer.timing.place(out, k, stage.level(layer)).cycle;
                let trap = Trap { sample, cycle, out, stage, k };
                self.trap = Some(self.trap.map_or(trap, |earlier| earlier.min(trap)));
            }
        }
        codes
    }

    fn merge(mut self, other: Self) -> Self {
        self.codes.extend(other.codes);
        self.stats.merge(other.stats);
        self.trap = match (self.trap, other.trap) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self
    }
}
