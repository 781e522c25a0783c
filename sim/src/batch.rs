//! Runs programs that differ only in their registers on the same samples, e.g. the points of a sweep.
//!
//! The exact network runs once for all programs. Sums whose inputs several programs share are computed once
//! for all of them. A layer whose sums all fit a program's register produces the exact codes there, and is
//! shared with the exact network. Samples run in parallel.

use std::sync::atomic::{AtomicUsize, Ordering};

use guardbit_graph::NodeId;
use guardbit_hwmodels::{Program, Step};
use rayon::prelude::*;

use crate::accumulate::Accumulate;
use crate::codes::{Codes, ToCodes};
use crate::comparable;
use crate::counts::Counts;
use crate::error::SimError;
use crate::fast::{Prepared, Scratch, Settled};
use crate::host::HostNode;
use crate::options::{Engine, Options};
use crate::sample::Sample;
use crate::states::States;
use crate::stats::{EventCounts, LayerStats};

/// Running simulation of several programs. Pass it samples, then call [`finish`](Self::finish) for the
/// statistics.
#[derive(Debug)]
pub struct Batch<'p> {
    pub(crate) programs: Vec<Ready<'p>>,
    pub(crate) options: Options,
    samples: usize,
    /// Host implementation of each node.
    pub(crate) host: Vec<HostNode>,
    /// Last node that reads each tensor. Graph inputs and outputs are needed to the end.
    pub(crate) last_use: Vec<Option<NodeId>>,
    /// Codes by tensor of the constants that are outputs, or activations of an accelerated layer.
    pub(crate) constants: Vec<Option<Codes>>,
    /// Counts by program, without those that `workers` still hold.
    counts: Vec<Counts>,
    /// Workers that ran samples so far, which are reused for the next samples.
    workers: Vec<Worker>,
    /// Values that the next sample reads of the samples before.
    pub(crate) states: States,
}

/// Codes of one sample's tensors, by tensor index; `None` for a tensor that was not kept. Equal codes are
/// shared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BatchTensors {
    /// Tensors of the exact network.
    pub exact: Vec<Option<Codes>>,
    /// Tensors of the narrow hardware, by program. In isolated mode each tensor is what its own layer
    /// produced from exact inputs. A program that was stopped has the tensors it produced before.
    pub simulated: Vec<Vec<Option<Codes>>>,
    /// Events of every accelerated layer in order of execution, by program; empty unless they are requested.
    pub events: Vec<Vec<EventCounts>>,
}

/// Program that is ready to run.
#[derive(Debug)]
pub(crate) struct Ready<'p> {
    pub program: &'p Program,
    /// Prepared layer of every node; empty for nodes that the host runs or the fast engine does not support.
    pub prepared: Vec<Prepared<'p>>,
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
        let mut ready: Vec<Ready<'p>> = Vec::with_capacity(programs.len());
        for program in programs {
            ready.push(Ready::new(program, ready.first(), &options));
        }
        let counts = ready.iter().map(|one| Counts::new(one.program, &one.prepared, &options)).collect();
        let first = programs.first();
        Self {
            programs: ready,
            options,
            samples: 0,
            host: first.map_or(Vec::new(), |program| host(program)),
            last_use: first.map_or(Vec::new(), |program| last_use(program)),
            constants: first.map_or(Vec::new(), |program| constants(program)),
            counts,
            workers: Vec::new(),
            states: first.map_or(States::default(), |program| States::new(program, programs.len())),
        }
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
        let Some(program) = self.programs.first().map(|one| one.program) else { return Ok(Vec::new()) };
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
        let side_by_side = match self.options.engine {
            Engine::Reference => 1,
            // Samples that are steps of a stream run one after another.
            Engine::Fast if !self.states.is_empty() => 1,
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
        if !self.states.is_empty() {
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
            self.states.take(self.programs[0].program, &mut tensors, self.options.mode);
            done.push(tensors);
        }
        done
    }

    /// Continues with the first `count` programs alone. Results are those of a batch that never contained the
    /// others.
    pub fn keep_first(&mut self, count: usize) {
        self.programs.truncate(count);
        self.counts.truncate(count);
        self.states.keep_first(count);
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

    pub(crate) fn is_stopped(&self, index: usize) -> bool {
        self.counts[index].trapped.is_some()
    }

    /// Returns how the fast engine settled the dot products of program `index` so far.
    pub fn settled(&self, index: usize) -> Settled {
        let mut settled = Settled::default();
        let parts = self.workers.iter().map(|worker| &worker.counts);
        parts.chain([&self.counts]).for_each(|counts| settled.merge(counts[index].settled()));
        settled
    }

    /// Returns, per program, its statistics per node (`None` for nodes that the host runs), or the error that
    /// stopped it.
    pub fn finish(mut self) -> Vec<Result<Vec<Option<LayerStats>>, SimError>> {
        for worker in self.workers {
            for ((mine, mut part), one) in self.counts.iter_mut().zip(worker.counts).zip(&self.programs) {
                part.flush(&one.prepared, &self.options);
                mine.merge(part);
            }
        }
        self.counts.into_iter().map(Counts::finish).collect()
    }
}

impl<'p> Ready<'p> {
    /// Prepares `program`; data that it has in common with a similar program `like` is shared.
    fn new(program: &'p Program, like: Option<&Self>, options: &Options) -> Self {
        let prepared = program.steps.iter().enumerate().map(|(node, step)| {
            let like = like.map(|one| &one.prepared[node]);
            prepare(program, step, like, options)
        });
        Self { program, prepared: prepared.collect() }
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
        let all = batch.counts.iter().zip(&batch.programs);
        let counts = all.map(|(counts, one)| counts.empty(&one.prepared)).collect();
        Self { counts, scratch: Scratch::default() }
    }

    fn run(&mut self, batch: &Batch<'_>, index: usize, inputs: &[Codes]) -> BatchTensors {
        let mut sample = Sample::new(batch, &mut self.counts, &mut self.scratch, index, inputs);
        sample.run();
        sample.into_tensors()
    }
}

/// Prepares a layer for the fast engine, if that engine is selected.
fn prepare<'p>(
    program: &'p Program,
    step: &'p Step,
    like: Option<&Prepared<'p>>,
    options: &Options,
) -> Prepared<'p> {
    let Step::Mac(layer) = step else { return Prepared::default() };
    let node = program.graph.node(layer.node);
    let Some(input) = node.inputs[0].filter(|_| options.engine == Engine::Fast) else {
        return Prepared::default();
    };
    if layer.dots.streams_weights() {
        // Every sample has weights of its own: see `images`.
        return Prepared::default();
    }
    let [input, output] = [input, node.output].map(|id| program.graph.tensor(id).ty.dtype);
    Prepared::new(layer, input.min()..=input.max(), output, like, options)
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

/// Returns the host implementation of each node.
fn host(program: &Program) -> Vec<HostNode> {
    let graph = &program.graph;
    let of_step = |(node, step): (_, &Step)| match step {
        Step::Host(_) => HostNode::new(graph, node),
        Step::Mac(_) => HostNode::Any,
    };
    graph.nodes_with_ids().map(|(node, _)| node).zip(&program.steps).map(of_step).collect()
}

/// Returns, by tensor, the codes of the constants that are outputs, activations of an accelerated layer, or
/// next values of a state. They are treated like the inputs of a sample.
fn constants(program: &Program) -> Vec<Option<Codes>> {
    let graph = &program.graph;
    let mut constants = vec![None; graph.tensors().len()];
    let activations = program.mac_layers().filter_map(|layer| graph.node(layer.node).inputs[0]);
    let carried = graph.states().iter().map(|state| state.next);
    for id in activations.chain(graph.outputs().iter().copied()).chain(carried) {
        let tensor = graph.tensor(id);
        constants[id.index()] = tensor.codes().map(|codes| Codes::within(tensor.ty.dtype, codes));
    }
    constants
}

/// Returns the last node that reads each tensor. Graph outputs and next values of states are needed to the
/// end.
fn last_use(program: &Program) -> Vec<Option<NodeId>> {
    let graph = &program.graph;
    let mut last = vec![None; graph.tensors().len()];
    for (id, node) in graph.nodes_with_ids() {
        node.inputs.iter().flatten().for_each(|input| last[input.index()] = Some(id));
    }
    let carried = graph.states().iter().map(|state| &state.next);
    graph.outputs().iter().chain(carried).for_each(|kept| last[kept.index()] = None);
    last
}
