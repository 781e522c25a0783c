//! A few samples on their way through the network, layer by layer, with everything that is counted.

use std::sync::Arc;

use guardbit_graph::{NodeId, TensorId};
use guardbit_hwmodels::{MacLayer, Program, Step};
use rayon::prelude::*;

use crate::accumulate::Accumulate;
use crate::error::SimError;
use crate::exact;
use crate::fast::Settled;
use crate::layer::{self, LayerCodes, LayerRun, Reading};
use crate::options::{Keep, Mode, Options};
use crate::points::{Point, PointTensors, Points};
use crate::simulation::Codes;
use crate::stats::{self, Differences, LayerStats};

/// What one program did.
#[derive(Debug)]
pub(crate) struct Counts {
    /// Per node; `None` for what the host runs.
    layers: Vec<Option<LayerStats>>,
    pub settled: Settled,
}

/// A point that an overflow stopped.
#[derive(Debug)]
pub(crate) struct Stopped {
    /// Its index.
    pub point: usize,
    pub error: SimError,
}

/// Some samples on their way.
pub(crate) struct Group<'g, 'p> {
    program: &'p Program,
    points: &'g Points<'p>,
    /// Of the points that still run.
    counts: &'g mut [Counts],
    batch: Vec<PointTensors>,
    /// Index of the first sample.
    first: usize,
}

impl Counts {
    /// Nothing counted yet.
    pub fn new(program: &Program, options: &Options) -> Self {
        let stats = |step: &Step| match step {
            Step::Host => None,
            Step::Mac(layer) => Some(LayerStats::new(layer, options)),
        };
        Self { layers: program.steps.iter().map(stats).collect(), settled: Settled::default() }
    }

    /// Nothing counted yet, in the same shape, for samples from `first` on.
    pub fn empty_part(&self, first: usize) -> Self {
        let empty = |stats: &Option<LayerStats>| stats.as_ref().map(|stats| stats.empty_part(first));
        Self { layers: self.layers.iter().map(empty).collect(), settled: Settled::default() }
    }

    /// Adds what another part counted.
    pub fn merge(&mut self, other: Self) {
        for (mine, others) in self.layers.iter_mut().zip(other.layers) {
            if let (Some(mine), Some(others)) = (mine, others) {
                mine.merge(others);
            }
        }
        self.settled.merge(other.settled);
    }

    /// The statistics per node.
    pub fn finish(mut self) -> Vec<Option<LayerStats>> {
        self.layers.iter_mut().flatten().for_each(LayerStats::finish);
        self.layers
    }

    /// The layer of `node`, about to run.
    fn run<'c, 'p>(&'c mut self, point: &'c Point<'p>, node: NodeId) -> Option<LayerRun<'c, 'p>> {
        Some(LayerRun {
            layer: point.program.mac_layer(node)?,
            prepared: &point.prepared[node.index()],
            stats: self.layers[node.index()].as_mut()?,
            settled: &mut self.settled,
            trap: None,
        })
    }
}

impl<'g, 'p> Group<'g, 'p> {
    /// Samples about to go through the first points, as many as there are `counts`. The first sample has index
    /// `first`.
    pub fn new(
        points: &'g Points<'p>,
        counts: &'g mut [Counts],
        samples: &[Vec<Vec<i32>>],
        first: usize,
    ) -> Self {
        let program = points.points[0].program;
        let graph = &program.graph;
        let start = |sample: &Vec<Vec<i32>>| {
            let mut exact = points.constants.clone();
            for (&id, codes) in graph.inputs().iter().zip(sample) {
                exact[id.index()] = Some(Arc::new(codes.clone()));
            }
            PointTensors { simulated: vec![exact.clone(); counts.len()], exact }
        };
        let batch = samples.iter().map(start).collect();
        Self { program, points, counts, batch, first }
    }

    /// Runs every node. A trap stops its point and those after it; gives the first of them.
    pub fn run(&mut self) -> Option<Stopped> {
        let program = self.program;
        let mut stopped = None;
        for (node, _) in program.graph.nodes_with_ids() {
            match &program.steps[node.index()] {
                Step::Host => self.run_on_host(node),
                Step::Mac(layer) => stopped = self.run_layer(layer).or(stopped),
            }
            if self.counts.is_empty() {
                break;
            }
            if self.points.options.keep == Keep::Outputs {
                self.forget(node);
            }
        }
        stopped
    }

    /// The tensors that were kept.
    pub fn into_tensors(self) -> Vec<PointTensors> {
        self.batch
    }

    fn run_on_host(&mut self, node: NodeId) {
        let program = self.program;
        let (inputs, output) = (&program.graph.node(node).inputs, program.graph.node(node).output);
        let isolated = self.points.options.mode == Mode::Isolated;
        self.batch.par_iter_mut().for_each(|tensors| {
            let exact = Arc::new(evaluate(program, node, &tensors.exact));
            tensors.exact[output.index()] = Some(Arc::clone(&exact));
            for point in 0..tensors.simulated.len() {
                let (before, rest) = tensors.simulated.split_at_mut(point);
                let own = &mut rest[0];
                let mut known = std::iter::once(&tensors.exact).chain(&*before);
                let made = match known.find(|other| reads_same(inputs, own, other)) {
                    _ if isolated => Arc::clone(&exact),
                    Some(other) => Arc::clone(shared(other, output)),
                    None => {
                        let codes = evaluate(program, node, own);
                        if codes == *exact { Arc::clone(&exact) } else { Arc::new(codes) }
                    }
                };
                own[output.index()] = Some(made);
            }
        });
    }

    fn run_layer(&mut self, layer: &MacLayer) -> Option<Stopped> {
        let (first, options) = (self.first, self.points.options);
        let graph = &self.program.graph;
        let (input, output) = {
            let node = graph.node(layer.node);
            (node.inputs[0].expect("an accelerated layer has activations"), node.output)
        };
        let zero_point = graph.tensor(output).ty.quantization.as_ref().map_or(0, |q| q.zero_point(0));
        let points = self.points.points.iter().zip(&mut *self.counts);
        let mut runs: Vec<LayerRun<'_, '_>> =
            points.filter_map(|(point, counts)| counts.run(point, layer.node)).collect();
        let readings: Vec<Reading<'_>> = self
            .batch
            .iter()
            .zip(first..)
            .flat_map(|(tensors, sample)| readings(tensors, input, sample, options.mode))
            .collect();
        let made = layer::run(&mut runs, &readings, first, &options);

        let trapped = runs.iter().enumerate().find_map(|(index, run)| Some((index, run.trap?)));
        let stopped = trapped.map(|(point, trap)| Stopped { point, error: trap.error(layer) });
        let active = stopped.as_ref().map_or(runs.len(), |stopped| stopped.point);
        let prepared = runs.first().map(|run| run.prepared);
        runs.truncate(active);
        let mut by_sample: Vec<Vec<(Reading<'_>, LayerCodes)>> =
            self.batch.iter().map(|_| Vec::new()).collect();
        for (reading, codes) in readings.into_iter().zip(made) {
            by_sample[reading.sample - first].push((reading, codes));
        }
        let settle = |(tensors, made): (&PointTensors, Vec<(Reading<'_>, LayerCodes)>)| {
            let exactly = || exact::layer_codes(layer, prepared, codes(&tensors.exact, input));
            Settlement::new(layer, zero_point, outputs(made, active, exactly))
        };
        let settled: Vec<Settlement> = self.batch.par_iter().zip(by_sample).map(settle).collect();
        for sample in &settled {
            for (run, differences) in runs.iter_mut().zip(&sample.differences) {
                run.stats.add_outputs(sample.signal, differences.as_ref());
            }
        }
        for (tensors, sample) in self.batch.iter_mut().zip(settled) {
            tensors.exact[output.index()] = Some(sample.exact);
            tensors.simulated.truncate(active);
            for (tensors, codes) in tensors.simulated.iter_mut().zip(sample.simulated) {
                tensors[output.index()] = Some(codes);
            }
        }
        if stopped.is_some() {
            let counts = std::mem::take(&mut self.counts);
            self.counts = &mut counts[..active];
        }
        stopped
    }

    fn forget(&mut self, node: NodeId) {
        for input in self.program.graph.node(node).inputs.iter().flatten() {
            if self.points.last_use[input.index()] == Some(node) {
                for tensors in &mut self.batch {
                    for tensors in std::iter::once(&mut tensors.exact).chain(&mut tensors.simulated) {
                        self.points.spare.give(tensors[input.index()].take());
                    }
                }
            }
        }
    }
}

/// The outputs of one sample at one layer.
struct Settlement {
    exact: Codes,
    /// By point.
    simulated: Vec<Codes>,
    /// Sum of the squares of the exact values.
    signal: u64,
    /// Of each point from the exact codes; `None` where there are none.
    differences: Vec<Option<Differences>>,
}

impl Settlement {
    fn new(layer: &MacLayer, zero_point: i32, (exact, simulated): (Codes, Vec<Codes>)) -> Self {
        let channels = layer.dots.window.channels();
        let compare =
            |codes: &Codes| (!Arc::ptr_eq(codes, &exact)).then(|| Differences::new(channels, &exact, codes));
        let differences = simulated.iter().map(compare).collect();
        Self { signal: stats::signal(&exact, zero_point), differences, exact, simulated }
    }
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
    let mut simulated: Vec<Option<Codes>> = vec![None; active];
    for (reading, codes) in made {
        let right = Arc::new(codes.exact);
        for (point, codes) in reading.by.into_iter().zip(codes.simulated) {
            if let Some(slot) = simulated.get_mut(point) {
                *slot = Some(codes.map_or_else(|| Arc::clone(&right), Arc::new));
            }
        }
        if reading.exact {
            exact = Some(right);
        }
    }
    let exact = exact.unwrap_or_else(|| Arc::new(exactly()));
    let mut distinct = vec![Arc::clone(&exact)];
    let share = |codes: Option<Codes>| {
        let codes = codes.expect("every point reads something");
        if let Some(same) = distinct.iter().find(|other| **other == codes) {
            return Arc::clone(same);
        }
        distinct.push(Arc::clone(&codes));
        codes
    };
    let simulated = simulated.into_iter().map(share).collect();
    (exact, simulated)
}

fn evaluate(program: &Program, node: NodeId, tensors: &[Option<Codes>]) -> Vec<i32> {
    let graph = &program.graph;
    let read = |id: &Option<TensorId>| match id {
        None => &[][..],
        Some(id) => match &graph.tensor(*id).constant {
            Some(constant) => constant.codes().map_or(&[][..], |codes| codes),
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

fn codes(tensors: &[Option<Codes>], id: TensorId) -> &[i32] {
    shared(tensors, id)
}

fn shared(tensors: &[Option<Codes>], id: TensorId) -> &Codes {
    tensors[id.index()].as_ref().expect("tensors are made before they are read")
}
