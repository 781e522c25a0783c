//! Runs programs that differ only in their registers on the same samples, e.g. the points of a sweep.
//!
//! The exact network runs once for all programs. Sums whose inputs several programs share are computed once
//! for all of them. A layer whose sums all fit a program's register produces the exact codes there, and is
//! shared with the exact network. Samples run in parallel.

use std::sync::atomic::{AtomicUsize, Ordering};

use guardbit_hwmodels::Program;
use rayon::prelude::*;

use crate::accumulate::Accumulate;
use crate::aligned::FloatStats;
use crate::codes::{Codes, ToCodes};
use crate::comparable;
use crate::counts::Counts;
use crate::error::SimError;
use crate::fast::{Scratch, Settled};
use crate::options::{Engine, Options};
use crate::sample::Sample;
use crate::setup::Setup;
use crate::stats::LayerStats;
use crate::tensors::BatchTensors;

/// Running simulation of several programs. Pass it samples, then call [`finish`](Self::finish) for the
/// statistics.
#[derive(Debug)]
pub struct Batch<'p> {
    setup: Setup<'p>,
    samples: usize,
    /// Counts by program, without those that `workers` still hold.
    counts: Vec<Counts>,
    /// Workers that ran samples so far, which are reused for the next samples.
    workers: Vec<Worker>,
}

impl<'p> Batch<'p> {
    /// Creates a simulation of `programs`.
    ///
    /// # Errors
    /// [`SimError::Unlike`] if they differ in more than registers and timing.
    pub fn new(programs: &[&'p Program], options: Options) -> Result<Self, SimError> {
        if let Some((first, rest)) = programs.split_first() {
            rest.iter().try_for_each(|program| comparable::check(first, program))?;
        }
        Ok(Self::of_comparable(programs, options))
    }

    /// Creates a simulation of a single program.
    pub(crate) fn of_one(program: &'p Program, options: Options) -> Self {
        Self::of_comparable(&[program], options)
    }

    fn of_comparable(programs: &[&'p Program], options: Options) -> Self {
        let setup = Setup::new(programs, options);
        let counts = setup.programs.iter().map(|one| Counts::new(one.program, &one.prepared, &setup.options));
        Self { counts: counts.collect(), setup, samples: 0, workers: Vec::new() }
    }

    /// Runs a batch. `samples` holds, per sample, the codes of every graph input in order.
    ///
    /// How samples are divided into batches does not affect any result. The samples of a network with states
    /// are steps of one stream, which continues from batch to batch. A program in which an overflow is
    /// trapped stops running: see [`Self::stopped`].
    ///
    /// # Errors
    /// [`SimError`] if a sample does not match the graph, or if every program is stopped: then it is the
    /// error of the first one.
    pub fn run_batch<C: ToCodes>(&mut self, samples: &[Vec<C>]) -> Result<Vec<BatchTensors>, SimError> {
        let Some(program) = self.setup.programs.first().map(|one| one.program) else { return Ok(Vec::new()) };
        let inputs: Vec<Vec<Codes>> =
            samples.iter().map(|sample| inputs(program, sample)).collect::<Result<_, _>>()?;
        let done = self.run_samples(&inputs);
        for worker in &self.workers {
            self.counts.iter_mut().zip(&worker.counts).for_each(|(mine, part)| mine.take_trap(part));
        }
        self.samples += samples.len();
        match self.stopped(0).filter(|_| (0..self.counts.len()).all(|i| self.is_stopped(i))) {
            Some(stopped) => Err(stopped.clone()),
            None => Ok(done),
        }
    }

    /// Runs samples on workers, each of which takes the next sample until none is left.
    fn run_samples(&mut self, samples: &[Vec<Codes>]) -> Vec<BatchTensors> {
        let side_by_side = match self.setup.options.engine {
            Engine::Reference => 1,
            // Samples that are steps of a stream run one after another.
            Engine::Fast if !self.setup.states.is_empty() => 1,
            Engine::Fast => rayon::current_num_threads().min(samples.len()),
        };
        let mut workers = std::mem::take(&mut self.workers);
        let missing = side_by_side.saturating_sub(workers.len());
        workers.extend((0..missing).map(|_| Worker::new(self)));
        let next = AtomicUsize::new(0);
        let take = || {
            let index = next.fetch_add(1, Ordering::Relaxed);
            Some((index, samples.get(index)?))
        };
        if !self.setup.states.is_empty() {
            let worker = workers.first_mut();
            let done = worker.map_or_else(Vec::new, |worker| self.run_steps(worker, samples));
            self.workers = workers;
            return done;
        }
        let run = |worker: &mut Worker| {
            let taken = std::iter::from_fn(take);
            let done = taken.map(|(index, inputs)| (index, worker.run(self, self.samples + index, inputs)));
            done.collect::<Vec<_>>()
        };
        let mut done: Vec<(usize, BatchTensors)> = match side_by_side {
            0 | 1 => workers.iter_mut().flat_map(run).collect(),
            _ => workers.par_iter_mut().with_max_len(1).flat_map_iter(run).collect(),
        };
        self.workers = workers;
        done.sort_unstable_by_key(|(index, _)| *index);
        done.into_iter().map(|(_, tensors)| tensors).collect()
    }

    /// Runs samples that are the next steps of a stream: each reads the state that the one before it left.
    fn run_steps(&mut self, worker: &mut Worker, samples: &[Vec<Codes>]) -> Vec<BatchTensors> {
        let mut done = Vec::with_capacity(samples.len());
        for (index, inputs) in samples.iter().enumerate() {
            let mut tensors = worker.run(self, self.samples + index, inputs);
            self.setup.states.take(self.setup.programs[0].program, &mut tensors, self.setup.options.mode);
            done.push(tensors);
        }
        done
    }

    /// Continues with the first `count` programs alone. Results are those of a batch that never contained the
    /// others.
    pub fn keep_first(&mut self, count: usize) {
        self.setup.programs.truncate(count);
        self.counts.truncate(count);
        self.setup.states.keep_first(count);
        self.workers.iter_mut().for_each(|worker| worker.counts.truncate(count));
    }

    /// Returns the number of samples run so far.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Returns the error that stopped program `index`: its first trapped overflow, in the order of samples
    /// and layers.
    pub fn stopped(&self, index: usize) -> Option<&SimError> {
        self.counts[index].trapped.as_ref().map(|(_, error)| error)
    }

    fn is_stopped(&self, index: usize) -> bool {
        self.counts[index].trapped.is_some()
    }

    /// Returns how the fast engine settled the dot products of program `index` so far.
    pub fn settled(&self, index: usize) -> Settled {
        let mut settled = Settled::default();
        let parts = self.workers.iter().map(|worker| &worker.counts);
        parts.chain([&self.counts]).for_each(|counts| settled.merge(counts[index].settled()));
        settled
    }

    /// Returns the statistics per node of program `index` so far, of layers of floating-point codes; `None` for other
    /// nodes.
    pub fn float_stats(&self, index: usize) -> Vec<Option<FloatStats>> {
        let mut all = self.counts[index].floats.clone();
        let parts = self.workers.iter().map(|worker| &worker.counts[index]);
        parts.for_each(|counts| all.merge(counts.floats.clone()));
        all
    }

    /// Returns, per program, its statistics per node (`None` for nodes that the host runs), or the error that
    /// stopped it.
    pub fn finish(mut self) -> Vec<Result<Vec<Option<LayerStats>>, SimError>> {
        for worker in self.workers {
            for ((mine, mut part), one) in self.counts.iter_mut().zip(worker.counts).zip(&self.setup.programs)
            {
                part.flush(&one.prepared, &self.setup.options);
                mine.merge(part);
            }
        }
        self.counts.into_iter().map(Counts::finish).collect()
    }
}

/// Counts of samples that ran one after the other.
#[derive(Debug)]
struct Worker {
    /// Counts by program.
    counts: Vec<Counts>,
    scratch: Scratch,
}

impl Worker {
    fn new(batch: &Batch<'_>) -> Self {
        let all = batch.counts.iter().zip(&batch.setup.programs);
        let counts = all.map(|(counts, one)| counts.empty(&one.prepared)).collect();
        Self { counts, scratch: Scratch::default() }
    }

    fn run(&mut self, batch: &Batch<'_>, index: usize, inputs: &[Codes]) -> BatchTensors {
        let mut sample =
            Sample::new(&batch.setup, &batch.counts, &mut self.counts, &mut self.scratch, index, inputs);
        sample.run();
        sample.into_tensors()
    }
}

/// Returns the codes of one sample after checking them.
fn inputs<C: ToCodes>(program: &Program, sample: &[C]) -> Result<Vec<Codes>, SimError> {
    let graph = &program.graph;
    if sample.len() != graph.inputs().len() {
        return Err(SimError::InputCount { expected: graph.inputs().len(), found: sample.len() });
    }
    let one = |(&id, codes): (&guardbit_graph::TensorId, &C)| {
        let tensor = graph.tensor(id);
        let (name, ty) = (&tensor.name, &tensor.ty);
        if codes.count() != ty.len() {
            let (expected, found) = (ty.len(), codes.count());
            return Err(SimError::InputSize { tensor: name.clone(), expected, found });
        }
        let outside = |code| SimError::InputCode { tensor: name.clone(), code, ty: ty.code_type() };
        let codes = codes.to_codes(ty.dtype).map_err(outside)?;
        let narrower = ty.quantization.as_ref().and_then(|quantization| quantization.range());
        match narrower.and_then(|range| codes.to_vec().into_iter().find(|&code| !range.contains(code))) {
            Some(code) => Err(outside(code)),
            None => Ok(codes),
        }
    };
    graph.inputs().iter().zip(sample).map(one).collect()
}
