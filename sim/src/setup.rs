//! What all samples of a batch share.

use guardbit_graph::{FloatOperand, NodeId, TensorId};
use guardbit_hwmodels::{Program, Step};

use crate::aligned;
use crate::codes::Codes;
use crate::fast::{Prepared, Sites};
use crate::host::{Constants, HostNode};
use crate::options::{Engine, Options};
use crate::states::States;

/// Greatest number of weights of a network that keeps all forms of its weights from sample to sample. Some take
/// four bytes per weight, and those of floating-point codes about twenty.
const KEPT_WEIGHTS: usize = 1 << 22;

/// What all samples of a batch share.
#[derive(Debug)]
pub(crate) struct Setup<'p> {
    pub programs: Vec<Ready<'p>>,
    pub options: Options,
    /// Host implementation of each node.
    pub host: Vec<HostNode>,
    /// Last node that reads each tensor. Graph inputs and outputs are needed to the end.
    pub last_use: Vec<Option<NodeId>>,
    /// Codes by tensor of the constants that are outputs, or activations of an accelerated layer.
    pub constants: Vec<Option<Codes>>,
    /// Values that the next sample reads of the samples before.
    pub states: States,
}

/// Program that is ready to run.
#[derive(Debug)]
pub(crate) struct Ready<'p> {
    pub program: &'p Program,
    /// Prepared layer of every node; empty for nodes that the host runs or the fast engine does not support.
    pub prepared: Vec<Prepared<'p>>,
    /// Prepared layer of floating-point codes of every node that is one.
    pub floats: Vec<Option<aligned::Prepared<'p>>>,
}

impl<'p> Setup<'p> {
    pub fn new(programs: &[&'p Program], options: Options) -> Self {
        let mut ready: Vec<Ready<'p>> = Vec::with_capacity(programs.len());
        for program in programs {
            ready.push(Ready::new(program, ready.first(), &options));
        }
        let first = programs.first();
        Self {
            programs: ready,
            options,
            host: first.map_or(Vec::new(), |program| host(program)),
            last_use: first.map_or(Vec::new(), |program| last_use(program)),
            constants: first.map_or(Vec::new(), |program| constants(program)),
            states: first.map_or(States::default(), |program| States::new(program, programs.len())),
        }
    }
}

impl<'p> Ready<'p> {
    /// Prepares `program`; data that it has in common with a similar program `like` is shared.
    fn new(program: &'p Program, like: Option<&Self>, options: &Options) -> Self {
        let weights: usize =
            program.mac_layers().map(|layer| layer.dots.window.channels() * layer.order.len()).sum();
        let floats: usize =
            program.float_layers().map(|layer| layer.dots.window.channels() * layer.order.len()).sum();
        let kept = weights + floats <= KEPT_WEIGHTS;
        let prepared = program.steps.iter().enumerate().map(|(node, step)| {
            let like = like.map(|one| &one.prepared[node]);
            prepare(program, step, like, kept, options)
        });
        let floats = program.steps.iter().enumerate().map(|(node, step)| {
            let Step::Float(layer) = step else { return None };
            let like = like.and_then(|one| one.floats[node].as_ref());
            Some(aligned::Prepared::new(layer, &program.graph, like, kept, options))
        });
        let floats = floats.collect();
        Self { program, prepared: prepared.collect(), floats }
    }
}

/// Prepares a layer for the fast engine, if that engine is selected.
fn prepare<'p>(
    program: &'p Program,
    step: &'p Step,
    like: Option<&Prepared<'p>>,
    kept: bool,
    options: &Options,
) -> Prepared<'p> {
    let Step::Mac(layer) = step else { return Prepared::default() };
    let node = program.graph.node(layer.node);
    let Some(input) = node.inputs[0].filter(|_| options.engine == Engine::Fast) else {
        return Prepared::default();
    };
    let sites = Sites::shared(layer, like.and_then(|like| like.sites.as_ref()));
    if layer.dots.streams_weights() {
        // Every sample has weights of its own: see `images`.
        return Prepared::without_weights(sites);
    }
    let [input, output] = [input, node.output].map(|id| program.graph.tensor(id).ty.dtype);
    Prepared::new(layer, input.min()..=input.max(), output, like, kept, sites, options)
}

/// Returns the host implementation of each node.
fn host(program: &Program) -> Vec<HostNode> {
    let graph = &program.graph;
    let of_step = |(node, step): (_, &Step)| match step {
        Step::Host(_) => HostNode::new(graph, node),
        Step::Mac(_) | Step::Float(_) => HostNode::Any(Constants::default()),
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
        constants[id.index()] = tensor.codes().map(|codes| Codes::within(tensor.ty.dtype, &codes.to_words()));
    }
    constants
}

/// Returns the tensors whose floating-point codes a layer on the accelerator multiplies.
pub(crate) fn codes_of(program: &Program, node: NodeId) -> impl Iterator<Item = TensorId> {
    let operands = match &program.steps[node.index()] {
        Step::Float(layer) => vec![&layer.dots.activations, &layer.dots.weights],
        Step::Host(_) | Step::Mac(_) => Vec::new(),
    };
    let of_blocks =
        |operand: &FloatOperand| operand.blocks.as_ref().and_then(|blocks| blocks.codes.computed());
    operands.into_iter().flat_map(move |operand| [operand.codes.computed(), of_blocks(operand)]).flatten()
}

/// Returns the last node that reads each tensor. Graph outputs and next values of states are needed to the
/// end.
fn last_use(program: &Program) -> Vec<Option<NodeId>> {
    let graph = &program.graph;
    let mut last = vec![None; graph.tensors().len()];
    for (id, node) in graph.nodes_with_ids() {
        node.inputs.iter().flatten().for_each(|input| last[input.index()] = Some(id));
        codes_of(program, id).for_each(|codes| last[codes.index()] = Some(id));
    }
    let carried = graph.states().iter().map(|state| &state.next);
    graph.outputs().iter().chain(carried).for_each(|kept| last[kept.index()] = None);
    last
}
