//! A network over batches of samples.

use std::sync::Arc;

use guardbit_graph::{NodeId, TensorId};
use guardbit_hwmodels::{MacLayer, Program, Step};
use rayon::prelude::*;

use crate::error::SimError;
use crate::fast::{Prepared, Settled};
use crate::options::{Engine, Keep, Mode, Options};
use crate::stats::LayerStats;
use crate::{exact, layer};

/// Codes of one tensor, shared where both runs have the same.
type Codes = Arc<Vec<i32>>;

/// A running simulation: feed it samples, then take the statistics.
#[derive(Debug)]
pub struct Simulation<'p> {
    program: &'p Program,
    options: Options,
    samples: usize,
    /// Per node; `None` for what the host runs.
    layers: Vec<Option<LayerStats>>,
    /// Per node; empty for what the host runs and what the fast engine does not cover.
    prepared: Vec<Prepared<'p>>,
    settled: Settled,
}

/// Codes of one sample's tensors, by tensor index; `None` for what was not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SampleTensors {
    /// Of the exact network.
    pub exact: Vec<Option<Codes>>,
    /// Of the narrow hardware. In isolated mode each tensor is what its own layer made from exact inputs.
    pub simulated: Vec<Option<Codes>>,
}

impl<'p> Simulation<'p> {
    /// A simulation of `program` with nothing run yet.
    pub fn new(program: &'p Program, options: Options) -> Self {
        let stats = |step: &Step| match step {
            Step::Host => None,
            Step::Mac(layer) => Some(LayerStats::new(layer, &options)),
        };
        let layers = program.steps.iter().map(stats).collect();
        let prepared = program.steps.iter().map(|step| prepare(program, step, &options)).collect();
        Self { program, options, samples: 0, layers, prepared, settled: Settled::default() }
    }

    /// Runs a batch. `samples` holds, per sample, the codes of every graph input in order.
    ///
    /// Which samples share a batch makes no difference to any result.
    ///
    /// # Errors
    /// [`SimError`] if a sample does not fit the graph, or an overflow is trapped.
    pub fn run_batch(&mut self, samples: &[Vec<Vec<i32>>]) -> Result<Vec<SampleTensors>, SimError> {
        for sample in samples {
            self.check_inputs(sample)?;
        }
        let mut batch: Vec<SampleTensors> = samples.iter().map(|s| self.start(s)).collect();
        let last_use = self.last_use();
        for (node, _) in self.program.graph.nodes_with_ids() {
            match &self.program.steps[node.index()] {
                Step::Host => self.run_on_host(node, &mut batch),
                Step::Mac(layer) => self.run_layer(layer, &mut batch)?,
            }
            if self.options.keep == Keep::Outputs {
                self.forget(node, &last_use, &mut batch);
            }
        }
        self.samples += samples.len();
        Ok(batch)
    }

    /// Samples run so far.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// How many dot products the fast engine settled in which way, so far.
    ///
    /// The same for any thread count and body; `stats` makes a difference.
    pub fn settled(&self) -> Settled {
        self.settled
    }

    /// The statistics per node; `None` for what the host runs.
    pub fn finish(mut self) -> Vec<Option<LayerStats>> {
        self.layers.iter_mut().flatten().for_each(LayerStats::finish);
        self.layers
    }

    fn check_inputs(&self, sample: &[Vec<i32>]) -> Result<(), SimError> {
        let graph = &self.program.graph;
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

    fn start(&self, sample: &[Vec<i32>]) -> SampleTensors {
        let graph = &self.program.graph;
        let mut exact = vec![None; graph.tensors().len()];
        for (&id, codes) in graph.inputs().iter().zip(sample) {
            exact[id.index()] = Some(Arc::new(codes.clone()));
        }
        SampleTensors { simulated: exact.clone(), exact }
    }

    fn run_on_host(&self, node: NodeId, batch: &mut [SampleTensors]) {
        let output = self.program.graph.node(node).output.index();
        batch.par_iter_mut().for_each(|tensors| {
            let codes = Arc::new(self.evaluate(node, &tensors.exact));
            let simulated = if self.reads_exact(node, tensors) {
                Arc::clone(&codes)
            } else {
                Arc::new(self.evaluate(node, &tensors.simulated))
            };
            tensors.exact[output] = Some(codes);
            tensors.simulated[output] = Some(simulated);
        });
    }

    fn evaluate(&self, node: NodeId, tensors: &[Option<Codes>]) -> Vec<i32> {
        let graph = &self.program.graph;
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

    /// Whether both runs of `node` read the same: always in isolated mode.
    fn reads_exact(&self, node: NodeId, tensors: &SampleTensors) -> bool {
        let same = |id: &TensorId| tensors.exact[id.index()] == tensors.simulated[id.index()];
        self.options.mode == Mode::Isolated || self.program.graph.node(node).inputs.iter().flatten().all(same)
    }

    fn run_layer(&mut self, layer: &MacLayer, batch: &mut [SampleTensors]) -> Result<(), SimError> {
        let graph = &self.program.graph;
        let node = graph.node(layer.node);
        let input = node.inputs[0].expect("an accelerated layer has activations");
        let stats = self.layers[layer.node.index()].as_mut().expect("an accelerated layer has statistics");
        let inputs: Vec<&[i32]> = batch
            .iter()
            .map(|tensors| match self.options.mode {
                Mode::Propagated => codes(&tensors.simulated, input),
                Mode::Isolated => codes(&tensors.exact, input),
            })
            .collect();
        let prepared = &self.prepared[layer.node.index()];
        let results =
            layer::run(layer, prepared, &inputs, self.samples, stats, &mut self.settled, &self.options)?;

        let zero_point = graph.tensor(node.output).ty.quantization.as_ref().map_or(0, |q| q.zero_point(0));
        let exact_codes = |tensors: &SampleTensors| {
            let same_input = self.options.mode == Mode::Isolated
                || tensors.exact[input.index()] == tensors.simulated[input.index()];
            (!same_input).then(|| exact::layer_codes(layer, prepared, codes(&tensors.exact, input)))
        };
        let exact: Vec<Option<Vec<i32>>> = batch.par_iter().map(exact_codes).collect();
        for ((tensors, result), exact) in batch.iter_mut().zip(results).zip(exact) {
            let exact = exact.unwrap_or(result.exact);
            stats.compare(layer, zero_point, &exact, &result.simulated);
            tensors.exact[node.output.index()] = Some(Arc::new(exact));
            tensors.simulated[node.output.index()] = Some(Arc::new(result.simulated));
        }
        Ok(())
    }

    /// The node that reads each tensor last; graph inputs and outputs are needed to the end.
    fn last_use(&self) -> Vec<Option<NodeId>> {
        let graph = &self.program.graph;
        let mut last = vec![None; graph.tensors().len()];
        for (id, node) in graph.nodes_with_ids() {
            node.inputs.iter().flatten().for_each(|input| last[input.index()] = Some(id));
        }
        graph.outputs().iter().for_each(|output| last[output.index()] = None);
        last
    }

    fn forget(&self, node: NodeId, last_use: &[Option<NodeId>], batch: &mut [SampleTensors]) {
        for input in self.program.graph.node(node).inputs.iter().flatten() {
            if last_use[input.index()] == Some(node) {
                for tensors in &mut *batch {
                    tensors.exact[input.index()] = None;
                    tensors.simulated[input.index()] = None;
                }
            }
        }
    }
}

/// A layer made ready for the fast engine, if that is wanted.
fn prepare<'p>(program: &'p Program, step: &'p Step, options: &Options) -> Prepared<'p> {
    let Step::Mac(layer) = step else { return Prepared::default() };
    let input = program.graph.node(layer.node).inputs[0].filter(|_| options.engine == Engine::Fast);
    let Some(input) = input else { return Prepared::default() };
    let dtype = program.graph.tensor(input).ty.dtype;
    Prepared::new(layer, dtype.min()..=dtype.max(), options)
}

fn codes(tensors: &[Option<Codes>], id: TensorId) -> &[i32] {
    tensors[id.index()].as_ref().expect("tensors are made before they are read")
}
