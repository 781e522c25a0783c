//! Programs that differ in their registers alone, over the same samples together: the points of a sweep.
//!
//! The exact network runs once for all. What several programs read in common is summed once for all of them; a
//! layer whose sums all fit a program's register makes the exact codes there, and is shared with the exact network.
//! Samples go through in groups, side by side.

use std::sync::Arc;

use guardbit_graph::NodeId;
use guardbit_hwmodels::{Program, Step};
use rayon::prelude::*;

use crate::alike;
use crate::error::SimError;
use crate::fast::{Prepared, Settled};
use crate::group::{Counts, Group, Stopped};
use crate::options::{Engine, Options};
use crate::simulation::Codes;
use crate::spare::Spare;
use crate::stats::LayerStats;

/// Samples times points that go through the network together: few, so that what one layer makes is in the caches when
/// the next one reads it, and threads are done with a batch at about the same time.
const TOGETHER: usize = 2;

/// A running simulation of several programs: feed it samples, then take the statistics.
#[derive(Debug)]
pub struct Points<'p> {
    pub(crate) points: Vec<Point<'p>>,
    pub(crate) options: Options,
    samples: usize,
    /// The node that reads each tensor last; graph inputs and outputs are needed to the end.
    pub(crate) last_use: Vec<Option<NodeId>>,
    pub(crate) spare: Arc<Spare>,
    /// By tensor, the codes of the constants that are activations of an accelerated layer, or outputs.
    pub(crate) constants: Vec<Option<Codes>>,
    /// By point.
    counts: Vec<Counts>,
    /// What stopped the point after the last active one.
    stopped: Option<SimError>,
    /// How many points still run: the first ones.
    active: usize,
}

/// Codes of one sample's tensors, by tensor index; `None` for what was not kept. Equal codes are shared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointTensors {
    /// Of the exact network.
    pub exact: Vec<Option<Codes>>,
    /// Of the narrow hardware, point by point. In isolated mode each tensor is what its own layer made from exact
    /// inputs.
    pub simulated: Vec<Vec<Option<Codes>>>,
}

/// One program, ready to run.
#[derive(Debug)]
pub(crate) struct Point<'p> {
    pub program: &'p Program,
    /// Per node; empty for what the host runs and what the fast engine does not cover.
    pub prepared: Vec<Prepared<'p>>,
}

impl<'p> Points<'p> {
    /// A simulation of `programs` with nothing run yet.
    ///
    /// # Errors
    /// [`SimError::Unlike`] if they differ in more than registers and timing.
    pub fn new(programs: &[&'p Program], options: Options) -> Result<Self, SimError> {
        if let Some((first, rest)) = programs.split_first() {
            rest.iter().try_for_each(|program| alike::check(first, program))?;
        }
        Ok(Self::of_like(programs, options))
    }

    /// A simulation of a single program.
    pub(crate) fn of_one(program: &'p Program, options: Options) -> Self {
        Self::of_like(&[program], options)
    }

    fn of_like(programs: &[&'p Program], options: Options) -> Self {
        let spare = Arc::default();
        let mut points: Vec<Point<'p>> = Vec::with_capacity(programs.len());
        for program in programs {
            points.push(Point::new(program, points.first(), &options, &spare));
        }
        let counts = programs.iter().map(|program| Counts::new(program, &options)).collect();
        let last_use = programs.first().map_or(Vec::new(), |program| last_use(program));
        let constants = programs.first().map_or(Vec::new(), |program| constants(program));
        Self {
            active: points.len(),
            points,
            options,
            samples: 0,
            last_use,
            spare,
            constants,
            counts,
            stopped: None,
        }
    }

    /// Runs a batch. `samples` holds, per sample, the codes of every graph input in order.
    ///
    /// Which samples share a batch makes no difference to any result. Where an overflow is trapped, that point and
    /// those after it run no further.
    ///
    /// # Errors
    /// [`SimError`] if a sample does not fit the graph, or the first point is stopped by a trap.
    pub fn run_batch(&mut self, samples: &[Vec<Vec<i32>>]) -> Result<Vec<PointTensors>, SimError> {
        let Some(program) = self.points.first().map(|point| point.program) else { return Ok(Vec::new()) };
        let bad = samples.par_iter().find_map_first(|sample| check_inputs(program, sample).err());
        if let Some(bad) = bad {
            return Err(bad);
        }
        let size = (TOGETHER / self.points.len()).max(1);
        let part = self.run_groups(samples, size);
        let mut groups = part.groups;
        groups.sort_unstable_by_key(|done| done.index);
        for (counts, share) in self.counts.iter_mut().zip(part.counts) {
            counts.merge(share);
        }
        let first = self.samples;
        self.samples += samples.len();
        let mut batch = Vec::with_capacity(samples.len());
        for done in groups {
            if let Some(stopped) = done.stopped.filter(|stopped| stopped.point < self.active) {
                let begin = done.index * size;
                let group = &samples[begin..(begin + size).min(samples.len())];
                self.active = stopped.point;
                self.stopped = Some(self.first_trap(stopped, group, first + begin));
            }
            batch.extend(done.batch);
        }
        match &self.stopped {
            Some(stopped) if self.active == 0 => Err(stopped.clone()),
            _ => Ok(batch),
        }
    }

    /// Runs the samples in groups of `size`.
    fn run_groups(&self, samples: &[Vec<Vec<i32>>], size: usize) -> Part {
        let first = self.samples;
        let new = || Part {
            counts: self.counts[..self.active].iter().map(|counts| counts.empty_part(first)).collect(),
            groups: Vec::new(),
        };
        let with = |mut part: Part, (index, samples): (usize, &[Vec<Vec<i32>>])| {
            let mut group = Group::new(self, &mut part.counts, samples, first + index * size);
            let stopped = group.run();
            let batch = group.into_tensors();
            part.groups.push(Done { index, batch, stopped });
            part
        };
        match self.options.engine {
            Engine::Reference => samples.chunks(size).enumerate().fold(new(), with),
            Engine::Parallel | Engine::Fast => {
                samples.par_chunks(size).enumerate().fold(new, with).reduce(new, Part::merge)
            }
        }
    }

    /// What stops a point first, sample by sample: that of a group is the first one layer by layer.
    fn first_trap(&self, stopped: Stopped, samples: &[Vec<Vec<i32>>], first: usize) -> SimError {
        if samples.len() == 1 {
            return stopped.error;
        }
        let mut alone = Self::of_one(self.points[stopped.point].program, self.options);
        alone.samples = first;
        let trapped = samples.iter().find_map(|sample| {
            let part = alone.run_groups(std::slice::from_ref(sample), 1);
            alone.samples += 1;
            part.groups.into_iter().find_map(|done| done.stopped)
        });
        trapped.unwrap_or(stopped).error
    }

    /// Goes on with the first `count` points alone, as if there had never been others.
    pub fn keep_first(&mut self, count: usize) {
        self.points.truncate(count);
        self.counts.truncate(count);
        if self.active >= count {
            self.active = self.points.len();
            self.stopped = None;
        }
    }

    /// Samples run so far.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// How many points still run: the first ones.
    pub fn active(&self) -> usize {
        self.active
    }

    /// How many dot products of point `index` the fast engine settled in which way, so far.
    pub fn settled(&self, index: usize) -> Settled {
        self.counts[index].settled
    }

    /// The statistics per point and node; `None` for what the host runs.
    ///
    /// # Errors
    /// What stopped the first point that was stopped: the points are then no whole.
    pub fn finish(self) -> Result<Vec<Vec<Option<LayerStats>>>, SimError> {
        match self.stopped {
            Some(stopped) => Err(stopped),
            None => Ok(self.counts.into_iter().map(Counts::finish).collect()),
        }
    }
}

impl<'p> Point<'p> {
    /// `program` made ready; what it has in common with a point `like` it is shared.
    fn new(program: &'p Program, like: Option<&Self>, options: &Options, spare: &Arc<Spare>) -> Self {
        let prepared = program.steps.iter().enumerate().map(|(node, step)| {
            let like = like.map(|point| &point.prepared[node]);
            prepare(program, step, like, options, spare)
        });
        Self { program, prepared: prepared.collect() }
    }
}

/// What some groups left behind.
struct Part {
    /// By point.
    counts: Vec<Counts>,
    groups: Vec<Done>,
}

/// A group that is through.
struct Done {
    index: usize,
    batch: Vec<PointTensors>,
    /// The first point that was stopped.
    stopped: Option<Stopped>,
}

impl Part {
    fn merge(mut self, other: Self) -> Self {
        self.counts.iter_mut().zip(other.counts).for_each(|(mine, others)| mine.merge(others));
        self.groups.extend(other.groups);
        self
    }
}

/// A layer made ready for the fast engine, if that is wanted.
fn prepare<'p>(
    program: &'p Program,
    step: &'p Step,
    like: Option<&Prepared<'p>>,
    options: &Options,
    spare: &Arc<Spare>,
) -> Prepared<'p> {
    let Step::Mac(layer) = step else { return Prepared::default() };
    let input = program.graph.node(layer.node).inputs[0].filter(|_| options.engine == Engine::Fast);
    let Some(input) = input else { return Prepared::default() };
    let dtype = program.graph.tensor(input).ty.dtype;
    Prepared::new(layer, dtype.min()..=dtype.max(), like, options, spare)
}

fn check_inputs(program: &Program, sample: &[Vec<i32>]) -> Result<(), SimError> {
    let graph = &program.graph;
    if sample.len() != graph.inputs().len() {
        return Err(SimError::InputCount { expected: graph.inputs().len(), found: sample.len() });
    }
    for (&id, codes) in graph.inputs().iter().zip(sample) {
        let tensor = graph.tensor(id);
        let (name, ty) = (&tensor.name, &tensor.ty);
        if codes.len() != ty.len() {
            let (expected, found) = (ty.len(), codes.len());
            return Err(SimError::InputSize { tensor: name.clone(), expected, found });
        }
        let (least, greatest) = (ty.dtype.min(), ty.dtype.max());
        let outside = |&code: &i32| (code < least) | (code > greatest);
        // Without an early end it is done on vectors.
        if codes.iter().fold(false, |found, code| found | outside(code)) {
            let code = codes.iter().copied().find(outside).unwrap_or(0);
            return Err(SimError::InputCode { tensor: name.clone(), code, dtype: ty.dtype });
        }
    }
    Ok(())
}

/// By tensor, the codes of the constants that are activations of an accelerated layer, or outputs: they are there like
/// what a sample brings along.
fn constants(program: &Program) -> Vec<Option<Codes>> {
    let graph = &program.graph;
    let mut constants = vec![None; graph.tensors().len()];
    let activations = program.mac_layers().filter_map(|layer| graph.node(layer.node).inputs[0]);
    for id in activations.chain(graph.outputs().iter().copied()) {
        constants[id.index()] = graph.tensor(id).codes().map(|codes| Arc::new(codes.to_vec()));
    }
    constants
}

/// The node that reads each tensor last; graph inputs and outputs are needed to the end.
fn last_use(program: &Program) -> Vec<Option<NodeId>> {
    let graph = &program.graph;
    let mut last = vec![None; graph.tensors().len()];
    for (id, node) in graph.nodes_with_ids() {
        node.inputs.iter().flatten().for_each(|input| last[input.index()] = Some(id));
    }
    graph.outputs().iter().for_each(|output| last[output.index()] = None);
    last
}
