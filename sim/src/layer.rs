//! One accelerated layer over a batch of samples.

use std::ops::Range;

use guardbit_hwmodels::MacLayer;
use rayon::prelude::*;

use crate::accumulate::Accumulate;
use crate::dot::{DotEngine, DotOutcome};
use crate::error::Trap;
use crate::fast::{self, Image, LevelsLayer, LevelsTask, Prepared, Settled};
use crate::options::{Engine, Options};
use crate::parallel::ParallelEngine;
use crate::reference::ReferenceEngine;
use crate::simulation::Codes;
use crate::stats::LayerStats;

/// Multiplications that are worth a task of their own.
const MACS_PER_TASK: usize = 1 << 18;
/// The same for the fast engine.
const FAST_MACS_PER_TASK: usize = 1 << 21;

/// The layer of one program. Those that run together differ in their registers alone.
pub(crate) struct LayerRun<'a, 'p> {
    pub layer: &'p MacLayer,
    /// The layer as the fast engine runs it; empty if that is not wanted.
    pub prepared: &'a Prepared<'p>,
    /// What it did is added to these.
    pub stats: &'a mut LayerStats,
    pub settled: &'a mut Settled,
    /// The first overflow that stops the program.
    pub trap: Option<Trap>,
}

/// The activations of one sample.
pub(crate) struct Reading<'a> {
    pub sample: usize,
    pub codes: &'a Codes,
    /// Whether they are those of the exact network.
    pub exact: bool,
    /// Which programs read them, by ascending index.
    pub by: Vec<usize>,
}

/// Output codes that were made from the same activations.
#[derive(Debug, Clone, Default)]
pub(crate) struct LayerCodes {
    /// What the exact sums make.
    pub exact: Vec<i32>,
    /// What the narrow hardware of each program that read them made; `None` where that is the same.
    pub simulated: Vec<Option<Vec<i32>>>,
}

/// Runs every program's layer over the readings that are its own. The first sample has index `first`.
pub(crate) fn run(
    runs: &mut [LayerRun<'_, '_>],
    readings: &[Reading<'_>],
    first: usize,
    options: &Options,
) -> Vec<LayerCodes> {
    let Some(LayerRun { layer, .. }) = runs.first() else { return Vec::new() };
    let is_fast = runs.iter().any(|run| run.prepared.covers_datapath());
    let tasks = tasks(layer, readings.len(), if is_fast { FAST_MACS_PER_TASK } else { MACS_PER_TASK });
    let shared = &*runs;
    let image = |reading: &Reading<'_>| {
        reading.by.iter().find_map(|&index| shared[index].prepared.image(reading.codes))
    };
    let images: Vec<Option<Image>> = readings.par_iter().map(image).collect();
    let new = || Part { codes: Vec::new(), shares: shared.iter().map(|_| None).collect() };
    let with = |mut part: Part, (index, task): (usize, &Task)| {
        let work = Work {
            runs: shared,
            reading: &readings[task.reading],
            image: images[task.reading].as_ref(),
            outputs: &task.outputs,
            first,
            options,
        };
        let codes = part.run(&work);
        part.codes.push((index, codes));
        part
    };
    let part = match options.engine {
        Engine::Reference => tasks.iter().enumerate().fold(new(), with),
        Engine::Parallel | Engine::Fast => {
            tasks.par_iter().enumerate().fold(new, with).reduce(new, Part::merge)
        }
    };
    for (run, share) in runs.iter_mut().zip(part.shares) {
        let Some(share) = share else { continue };
        run.stats.merge(share.stats);
        run.settled.merge(share.settled);
        run.trap = share.trap;
    }
    let mut pieces = part.codes;
    pieces.sort_unstable_by_key(|(index, _)| *index);
    let mut all = vec![LayerCodes::default(); readings.len()];
    for (index, piece) in pieces {
        all[tasks[index].reading].append(piece);
    }
    all
}

impl LayerCodes {
    fn append(&mut self, piece: Self) {
        if self.exact.is_empty() {
            *self = piece;
            return;
        }
        for (whole, made) in self.simulated.iter_mut().zip(piece.simulated) {
            if whole.is_some() || made.is_some() {
                let whole = whole.get_or_insert_with(|| self.exact.clone());
                whole.extend(made.as_deref().unwrap_or(&piece.exact));
            }
        }
        self.exact.extend(piece.exact);
    }
}

/// A stretch of one reading's outputs.
struct Task {
    reading: usize,
    outputs: Range<usize>,
}

fn tasks(layer: &MacLayer, readings: usize, macs_per_task: usize) -> Vec<Task> {
    let window = &layer.dots.window;
    // Whole pixels, so that a window is read once for all of its channels.
    let pixel = window.channels().max(1);
    let macs_per_pixel = (pixel * window.terms()).max(1);
    let step = pixel * (macs_per_task / macs_per_pixel).max(1);
    let of_reading = |reading| {
        let dots = window.dots();
        (0..dots).step_by(step).map(move |start| Task { reading, outputs: start..(start + step).min(dots) })
    };
    (0..readings).flat_map(of_reading).collect()
}

/// A task with all that it needs.
struct Work<'w, 'a, 'p> {
    runs: &'w [LayerRun<'a, 'p>],
    reading: &'w Reading<'w>,
    image: Option<&'w Image>,
    outputs: &'w Range<usize>,
    first: usize,
    options: &'w Options,
}

impl Work<'_, '_, '_> {
    fn pixels(&self) -> Range<usize> {
        let channels = self.runs[0].layer.dots.window.channels();
        self.outputs.start / channels..self.outputs.end / channels
    }
}

/// What some tasks left behind.
struct Part {
    codes: Vec<(usize, LayerCodes)>,
    /// By program; `None` where it had nothing to do.
    shares: Vec<Option<Share>>,
}

/// What some tasks left behind of one program.
struct Share {
    stats: LayerStats,
    settled: Settled,
    trap: Option<Trap>,
}

impl Part {
    fn run(&mut self, work: &Work<'_, '_, '_>) -> LayerCodes {
        let by = &work.reading.by;
        let mut codes = LayerCodes { exact: Vec::new(), simulated: vec![None; by.len()] };
        // Those that the fast engine covers go through it together.
        let mut points = Vec::new();
        let mut slots = Vec::new();
        for (index, (run, share)) in work.runs.iter().zip(&mut self.shares).enumerate() {
            let Ok(slot) = by.binary_search(&index) else { continue };
            let share = share.get_or_insert_with(|| Share::new(run.stats.empty_part(work.first)));
            match (run.prepared.covered(), &run.prepared.levels, work.image) {
                (Some(fast), ..) => {
                    points.push((fast, &mut share.stats, &mut share.settled));
                    slots.push(slot);
                }
                (None, Some(levels), Some(image)) => {
                    let (exact, simulated) = share.run_levels(levels, image, work);
                    (codes.exact, codes.simulated[slot]) = (exact, Some(simulated));
                }
                _ => {
                    let (exact, simulated) = share.run(run.layer, work);
                    (codes.exact, codes.simulated[slot]) = (exact, Some(simulated));
                }
            }
        }
        if let (Some(image), false) = (work.image, points.is_empty()) {
            let (exact, simulated) =
                fast::run(points, image, work.pixels(), work.reading.sample, work.options);
            codes.exact = exact;
            slots.into_iter().zip(simulated).for_each(|(slot, made)| codes.simulated[slot] = made);
        }
        codes
    }

    fn merge(mut self, other: Self) -> Self {
        self.codes.extend(other.codes);
        for (mine, others) in self.shares.iter_mut().zip(other.shares) {
            *mine = match (mine.take(), others) {
                (Some(a), Some(b)) => Some(a.merge(b)),
                (a, b) => a.or(b),
            };
        }
        self
    }
}

impl Share {
    fn new(stats: LayerStats) -> Self {
        Self { stats, settled: Settled::default(), trap: None }
    }

    /// Dot product by dot product; gives the exact and the simulated codes.
    fn run(&mut self, layer: &MacLayer, work: &Work<'_, '_, '_>) -> (Vec<i32>, Vec<i32>) {
        match work.options.engine {
            Engine::Reference => self.run_on(layer, ReferenceEngine::new(layer, work.reading.codes), work),
            Engine::Parallel | Engine::Fast => {
                self.run_on(layer, ParallelEngine::new(layer, work.reading.codes), work)
            }
        }
    }

    /// On lanes, whatever the datapath.
    fn run_levels(
        &mut self,
        levels: &LevelsLayer<'_>,
        image: &Image,
        work: &Work<'_, '_, '_>,
    ) -> (Vec<i32>, Vec<i32>) {
        let (input, sample) = (work.reading.codes, work.reading.sample);
        let task = LevelsTask { image, input, pixels: work.pixels(), sample };
        levels.run(task, &mut self.stats, &mut self.settled, work.options)
    }

    fn run_on(
        &mut self,
        layer: &MacLayer,
        mut engine: impl DotEngine,
        work: &Work<'_, '_, '_>,
    ) -> (Vec<i32>, Vec<i32>) {
        let (mut exact, mut simulated) = (Vec::new(), Vec::new());
        let mut outcome = DotOutcome::default();
        let sample = work.reading.sample;
        for index in work.outputs.clone() {
            let out = layer.dots.window.output_position(index);
            engine.run(out, &mut outcome);
            simulated.push(outcome.code);
            exact.push(outcome.exact_code);
            self.stats.record(layer, sample, out, &outcome, work.options);
            if let Some((stage, k)) = outcome.trap {
                let cycle = layer.timing.place(out, k, stage.level(layer)).cycle;
                let trap = Trap { sample, cycle, out, stage, k };
                self.trap = Some(self.trap.map_or(trap, |earlier| earlier.min(trap)));
            }
        }
        (exact, simulated)
    }

    fn merge(mut self, other: Self) -> Self {
        self.stats.merge(other.stats);
        self.settled.merge(other.settled);
        self.trap = match (self.trap, other.trap) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self
    }
}
