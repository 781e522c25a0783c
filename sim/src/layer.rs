//! One accelerated layer over a batch of samples.

use std::ops::Range;

use guardbit_hwmodels::MacLayer;
use rayon::prelude::*;

use crate::dot::{DotEngine, DotOutcome};
use crate::error::{SimError, Trap};
use crate::fast::{FastLayer, Image, Settled};
use crate::options::{Engine, Options};
use crate::parallel::ParallelEngine;
use crate::reference::ReferenceEngine;
use crate::stats::LayerStats;

/// Multiplications that are worth a task of their own.
const MACS_PER_TASK: usize = 1 << 18;
/// The same for the fast engine.
const FAST_MACS_PER_TASK: usize = 1 << 21;

/// Output codes of one sample: what the narrow hardware made, and what the exact sums of the same activations
/// would have made.
#[derive(Debug, Clone, Default)]
pub(crate) struct LayerCodes {
    pub simulated: Vec<i32>,
    pub exact: Vec<i32>,
}

/// Runs `layer` over one input per sample and adds to `stats`. The first sample has index `first`.
///
/// `fast` is the layer prepared for the fast engine, if that engine is wanted and covers it; `settled` counts
/// what it did.
pub(crate) fn run(
    layer: &MacLayer,
    fast: Option<&FastLayer<'_>>,
    inputs: &[&[i32]],
    first: usize,
    stats: &mut LayerStats,
    settled: &mut Settled,
    options: &Options,
) -> Result<Vec<LayerCodes>, SimError> {
    let fast = fast.filter(|fast| fast.covers_datapath());
    let tasks = tasks(layer, inputs.len(), if fast.is_some() { FAST_MACS_PER_TASK } else { MACS_PER_TASK });
    let images: Vec<Image> =
        fast.map_or(Vec::new(), |fast| inputs.par_iter().map(|input| fast.image(input)).collect());
    let empty = stats.empty_part(first);
    let new = || Part { codes: Vec::new(), stats: empty.clone(), settled: Settled::default(), trap: None };
    let with = |mut part: Part, (index, task): (usize, &Task)| {
        let input = inputs[task.sample];
        let codes = match (options.engine, fast) {
            (Engine::Reference, _) => {
                part.run(layer, ReferenceEngine::new(layer, input), task, first, options)
            }
            (_, None) => part.run(layer, ParallelEngine::new(layer, input), task, first, options),
            (_, Some(fast)) => {
                let channels = layer.dots.window.channels();
                let pixels = task.outputs.start / channels..task.outputs.end / channels;
                let image = &images[task.sample];
                let (codes, settled) = fast.run(image, pixels, first + task.sample, &mut part.stats, options);
                part.settled.merge(settled);
                codes
            }
        };
        part.codes.push((index, codes));
        part
    };
    let mut part = match options.engine {
        Engine::Reference => tasks.iter().enumerate().fold(new(), with),
        Engine::Parallel | Engine::Fast => {
            tasks.par_iter().enumerate().fold(new, with).reduce(new, Part::merge)
        }
    };
    if let Some(trap) = part.trap {
        return Err(trap.error(layer));
    }
    stats.merge(part.stats);
    settled.merge(part.settled);

    part.codes.sort_unstable_by_key(|(index, _)| *index);
    let mut samples = vec![LayerCodes::default(); inputs.len()];
    for (index, codes) in part.codes {
        let sample = &mut samples[tasks[index].sample];
        append(&mut sample.simulated, codes.simulated);
        append(&mut sample.exact, codes.exact);
    }
    Ok(samples)
}

/// Appends, without a copy where there is nothing to append to.
fn append(codes: &mut Vec<i32>, more: Vec<i32>) {
    if codes.is_empty() { *codes = more } else { codes.extend(more) }
}

/// A stretch of one sample's outputs.
struct Task {
    sample: usize,
    outputs: Range<usize>,
}

fn tasks(layer: &MacLayer, samples: usize, macs_per_task: usize) -> Vec<Task> {
    let window = &layer.dots.window;
    // Whole pixels, so that a window is read once for all of its channels.
    let pixel = window.channels().max(1);
    let macs_per_pixel = (pixel * window.terms()).max(1);
    let step = pixel * (macs_per_task / macs_per_pixel).max(1);
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
    settled: Settled,
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
        self.settled.merge(other.settled);
        self.trap = match (self.trap, other.trap) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self
    }
}
