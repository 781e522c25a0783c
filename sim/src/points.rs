//! Programs that differ in their registers alone, over the same samples together: the points of a sweep.
//!
//! The exact network runs once for all. What several programs read in common is summed once for all of them; a
//! layer whose sums all fit a program's register makes the exact codes there, and is shared with the exact network.

use std::sync::Arc;

use guardbit_graph::{NodeId, TensorId};
use guardbit_hwmodels::{MacLayer, Program, Step};
use rayon::prelude::*;

use crate::error::SimError;
use crate::fast::{Prepared, Settled};
use crate::layer::{self, LayerCodes, LayerRun, Reading};
use crate::options::{Engine, Keep, Mode, Options};
use crate::simulation::Codes;
use crate::spare::Spare;
use crate::stats::{LayerStats, Outputs};
use crate::{alike, exact};

/// Samples that go through the network together: few, so that what one layer makes is in the caches when the next
/// one reads it.
const GROUP: usize = 8;

/// A running simulation of several programs: feed it samples, then take the statistics.
#[derive(Debug)]
pub struct Points<'p> {
    points: Vec<Point<'p>>,
    options: Options,
    samples: usize,
    /// The node that reads each tensor last; graph inputs and outputs are needed to the end.
    last_use: Vec<Option<NodeId>>,
    spare: Arc<Spare>,
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

/// One program with what it did.
#[derive(Debug)]
struct Point<'p> {
    program: &'p Program,
    /// Per node; `None` for what the host runs.
    layers: Vec<Option<LayerStats>>,
    /// Per node; empty for what the host runs and what the fast engine does not cover.
    prepared: Vec<Prepared<'p>>,
    settled: Settled,
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
        let points: Vec<_> = programs.iter().map(|program| Point::new(program, &options, &spare)).collect();
        let last_use = programs.first().map_or(Vec::new(), |program| last_use(program));
        Self { active: points.len(), points, options, samples: 0, last_use, spare, stopped: None }
    }

    /// Runs a batch. `samples` holds, per sample, the codes of every graph input in order.
    ///
    /// Which samples share a batch makes no difference to any result. Where an overflow is trapped, that point and
    /// those after it run no further, and get no tensors.
    ///
    /// # Errors
    /// [`SimError`] if a sample does not fit the graph, or the first point is stopped by a trap.
    pub fn run_batch(&mut self, samples: &[Vec<Vec<i32>>]) -> Result<Vec<PointTensors>, SimError> {
        let Some(program) = self.points.first().map(|point| point.program) else { return Ok(Vec::new()) };
        for sample in samples {
            check_inputs(program, sample)?;
        }
        let mut tensors = Vec::with_capacity(samples.len());
        for group in samples.chunks(GROUP) {
            tensors.extend(self.run_group(program, group)?);
        }
        Ok(tensors)
    }

    fn run_group(
        &mut self,
        program: &'p Program,
        samples: &[Vec<Vec<i32>>],
    ) -> Result<Vec<PointTensors>, SimError> {
        let mut batch: Vec<PointTensors> = samples.iter().map(|s| self.start(program, s)).collect();
        for (node, _) in program.graph.nodes_with_ids() {
            match &program.steps[node.index()] {
                Step::Host => self.run_on_host(program, node, &mut batch),
                Step::Mac(layer) => self.run_layer(layer, &mut batch)?,
            }
            if self.options.keep == Keep::Outputs {
                self.forget(program, node, &mut batch);
            }
        }
        self.samples += samples.len();
        Ok(batch)
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
        self.points[index].settled
    }

    /// The statistics per point and node; `None` for what the host runs.
    ///
    /// # Errors
    /// What stopped the first point that was stopped: the points are then no whole.
    pub fn finish(self) -> Result<Vec<Vec<Option<LayerStats>>>, SimError> {
        let finished = |mut point: Point<'p>| {
            point.layers.iter_mut().flatten().for_each(LayerStats::finish);
            point.layers
        };
        match self.stopped {
            Some(stopped) => Err(stopped),
            None => Ok(self.points.into_iter().map(finished).collect()),
        }
    }

    fn start(&self, program: &Program, sample: &[Vec<i32>]) -> PointTensors {
        let graph = &program.graph;
        let mut exact = vec![None; graph.tensors().len()];
        for (&id, codes) in graph.inputs().iter().zip(sample) {
            exact[id.index()] = Some(Arc::new(codes.clone()));
        }
        PointTensors { simulated: vec![exact.clone(); self.active], exact }
    }

    fn run_on_host(&self, program: &Program, node: NodeId, batch: &mut [PointTensors]) {
        let (inputs, output) = (&program.graph.node(node).inputs, program.graph.node(node).output.index());
        let isolated = self.options.mode == Mode::Isolated;
        batch.par_iter_mut().for_each(|tensors| {
            let exact = Arc::new(evaluate(program, node, &tensors.exact));
            tensors.exact[output] = Some(Arc::clone(&exact));
            for point in 0..tensors.simulated.len() {
                let (before, rest) = tensors.simulated.split_at_mut(point);
                let own = &mut rest[0];
                let mut known = std::iter::once(&tensors.exact).chain(&*before);
                let made = match known.find(|other| reads_same(inputs, own, other)) {
                    _ if isolated => Arc::clone(&exact),
                    Some(other) => Arc::clone(shared(other, program.graph.node(node).output)),
                    None => {
                        let codes = evaluate(program, node, own);
                        if codes == *exact { Arc::clone(&exact) } else { Arc::new(codes) }
                    }
                };
                own[output] = Some(made);
            }
        });
    }

    fn run_layer(&mut self, layer: &MacLayer, batch: &mut [PointTensors]) -> Result<(), SimError> {
        let (first, options) = (self.samples, self.options);
        let graph = &self.points[0].program.graph;
        let (input, output) = {
            let node = graph.node(layer.node);
            (node.inputs[0].expect("an accelerated layer has activations"), node.output)
        };
        let zero_point = graph.tensor(output).ty.quantization.as_ref().map_or(0, |q| q.zero_point(0));
        let mut runs: Vec<LayerRun<'_, '_>> =
            self.points[..self.active].iter_mut().filter_map(|point| point.run(layer.node)).collect();
        let readings: Vec<Reading<'_>> = batch
            .iter()
            .zip(first..)
            .flat_map(|(tensors, sample)| readings(tensors, input, sample, options.mode))
            .collect();
        let made = layer::run(&mut runs, &readings, first, &options);

        let trapped = runs.iter().enumerate().find_map(|(index, run)| Some((index, run.trap?)));
        if let Some((index, trap)) = trapped {
            self.active = index;
            runs.truncate(index);
            self.stopped = Some(trap.error(layer));
        }
        let prepared = runs.first().map(|run| run.prepared);
        let mut by_sample: Vec<Vec<(Reading<'_>, LayerCodes)>> = batch.iter().map(|_| Vec::new()).collect();
        for (reading, codes) in readings.into_iter().zip(made) {
            by_sample[reading.sample - first].push((reading, codes));
        }
        let channels = layer.dots.window.channels();
        let settle = |(tensors, made): (&PointTensors, Vec<(Reading<'_>, LayerCodes)>)| {
            let exactly = || exact::layer_codes(layer, prepared, codes(&tensors.exact, input));
            let (exact, simulated) = outputs(made, self.active, exactly);
            let compare = |codes: &Codes| Outputs::compare(channels, zero_point, &exact, codes);
            let compared: Vec<Outputs> = simulated.iter().map(compare).collect();
            (exact, simulated, compared)
        };
        let settled: Vec<(Codes, Vec<Codes>, Vec<Outputs>)> =
            batch.par_iter().zip(by_sample).map(settle).collect();
        for (_, _, compared) in &settled {
            runs.iter_mut().zip(compared).for_each(|(run, outputs)| run.stats.add_compared(outputs));
        }
        for (tensors, (exact, simulated, _)) in batch.iter_mut().zip(settled) {
            tensors.exact[output.index()] = Some(exact);
            tensors.simulated.truncate(self.active);
            for (tensors, codes) in tensors.simulated.iter_mut().zip(simulated) {
                tensors[output.index()] = Some(codes);
            }
        }
        match &self.stopped {
            Some(stopped) if self.active == 0 => Err(stopped.clone()),
            _ => Ok(()),
        }
    }

    fn forget(&self, program: &Program, node: NodeId, batch: &mut [PointTensors]) {
        for input in program.graph.node(node).inputs.iter().flatten() {
            if self.last_use[input.index()] == Some(node) {
                for tensors in &mut *batch {
                    for tensors in std::iter::once(&mut tensors.exact).chain(&mut tensors.simulated) {
                        self.spare.give(tensors[input.index()].take());
                    }
                }
            }
        }
    }
}

impl<'p> Point<'p> {
    fn new(program: &'p Program, options: &Options, spare: &Arc<Spare>) -> Self {
        let stats = |step: &Step| match step {
            Step::Host => None,
            Step::Mac(layer) => Some(LayerStats::new(layer, options)),
        };
        Self {
            program,
            layers: program.steps.iter().map(stats).collect(),
            prepared: program.steps.iter().map(|step| prepare(program, step, options, spare)).collect(),
            settled: Settled::default(),
        }
    }

    /// The layer of `node`, about to run.
    fn run(&mut self, node: NodeId) -> Option<LayerRun<'_, 'p>> {
        Some(LayerRun {
            layer: self.program.mac_layer(node)?,
            prepared: &self.prepared[node.index()],
            stats: self.layers[node.index()].as_mut()?,
            settled: &mut self.settled,
            trap: None,
        })
    }
}

/// A layer made ready for the fast engine, if that is wanted.
fn prepare<'p>(program: &'p Program, step: &'p Step, options: &Options, spare: &Arc<Spare>) -> Prepared<'p> {
    let Step::Mac(layer) = step else { return Prepared::default() };
    let input = program.graph.node(layer.node).inputs[0].filter(|_| options.engine == Engine::Fast);
    let Some(input) = input else { return Prepared::default() };
    let dtype = program.graph.tensor(input).ty.dtype;
    Prepared::new(layer, dtype.min()..=dtype.max(), options, spare)
}

/// What the points read in one sample: the exact activations, if some point reads them, come first.
fn readings(tensors: &PointTensors, input: TensorId, sample: usize, mode: Mode) -> Vec<Reading<'_>> {
    let exact = shared(&tensors.exact, input);
    if mode == Mode::Isolated {
        let by = (0..tensors.simulated.len()).collect();
        return vec![Reading { sample, codes: exact, exact: true, by }];
    }
    let mut readings = vec![Reading { sample, codes: exact, exact: true, by: Vec::new() }];
    for (point, simulated) in tensors.simulated.iter().enumerate() {
        let codes = shared(simulated, input);
        match readings.iter_mut().find(|reading| Arc::ptr_eq(reading.codes, codes)) {
            Some(reading) => reading.by.push(point),
            None => readings.push(Reading { sample, codes, exact: false, by: vec![point] }),
        }
    }
    readings.retain(|reading| !reading.by.is_empty());
    readings
}

/// The exact output codes of one sample and those of the first `active` points, the equal ones shared.
/// `exactly` makes the exact ones where no point read what the exact network reads.
fn outputs(
    made: Vec<(Reading<'_>, LayerCodes)>,
    active: usize,
    exactly: impl FnOnce() -> Vec<i32>,
) -> (Codes, Vec<Codes>) {
    let mut exact = None;
    let mut simulated: Vec<Option<Vec<i32>>> = vec![None; active];
    for (reading, codes) in made {
        if reading.exact {
            exact = Some(codes.exact);
        }
        for (point, codes) in reading.by.into_iter().zip(codes.simulated).filter(|(point, _)| *point < active)
        {
            simulated[point] = Some(codes);
        }
    }
    let exact = Arc::new(exact.unwrap_or_else(exactly));
    let mut distinct = vec![Arc::clone(&exact)];
    let share = |codes: Option<Vec<i32>>| {
        let codes = codes.expect("every point reads something");
        if let Some(same) = distinct.iter().find(|other| ***other == codes) {
            return Arc::clone(same);
        }
        let codes = Arc::new(codes);
        distinct.push(Arc::clone(&codes));
        codes
    };
    let simulated = simulated.into_iter().map(share).collect();
    (exact, simulated)
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
        let allowed = ty.dtype.min()..=ty.dtype.max();
        if let Some(&code) = codes.iter().find(|code| !allowed.contains(*code)) {
            return Err(SimError::InputCode { tensor: name.clone(), code, dtype: ty.dtype });
        }
    }
    Ok(())
}

fn evaluate(program: &Program, node: NodeId, tensors: &[Option<Codes>]) -> Vec<i32> {
    let graph = &program.graph;
    let read = |id: &Option<TensorId>| match id {
        None => &[][..],
        Some(id) => match &graph.tensor(*id).constant {
            Some(codes) => codes,
            None => codes(tensors, *id),
        },
    };
    let inputs: Vec<&[i32]> = graph.node(node).inputs.iter().map(read).collect();
    graph.evaluate(node, &inputs)
}

/// Whether a node with these inputs reads the same in both runs. Equal codes are shared.
fn reads_same(inputs: &[Option<TensorId>], a: &[Option<Codes>], b: &[Option<Codes>]) -> bool {
    let same = |id: &TensorId| match (&a[id.index()], &b[id.index()]) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    inputs.iter().flatten().all(same)
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

fn codes(tensors: &[Option<Codes>], id: TensorId) -> &[i32] {
    shared(tensors, id)
}

fn shared(tensors: &[Option<Codes>], id: TensorId) -> &Codes {
    tensors[id.index()].as_ref().expect("tensors are made before they are read")
}
