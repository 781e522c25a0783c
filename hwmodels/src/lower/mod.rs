//! Lowers a graph to a program: decides where each node runs, and makes every layer's datapath explicit.

mod audit;
mod checks;
mod coverage;
mod error;
mod float;
mod operands;
mod overrides;
mod partition;
mod requantize;
mod residency;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use guardbit_graph::{CodeRange, DotProducts, Graph, NodeId};

pub use audit::{AuditStep, Decision, Outcome, audit_frontend, audit_lowering};
pub use coverage::{Coverage, MacNode};
pub use error::LowerError;
pub use partition::{Host, Placement};

use crate::timing::{LayerTiming, MAX_CYCLES, Widths};
use crate::weights::{WeakWeights, Weights};
use crate::{Accelerator, MacLayer, OutputFit, Program, Step, ZeroPoint};
use checks::{check_size, no_permutation};
use overrides::Overrides;
use partition::Dots;

/// Lowers a graph onto an accelerator.
///
/// # Errors
/// [`LowerError`] under the conditions of [`Lowering::lower`].
pub fn lower(graph: Arc<Graph>, accelerator: &Accelerator) -> Result<Program, LowerError> {
    Lowering::new(graph).lower(accelerator)
}

/// Lowers one graph onto several accelerators, one after another. Programs in memory at the same time share their
/// weights.
#[derive(Debug)]
pub struct Lowering {
    graph: Arc<Graph>,
    operands: Mutex<HashMap<(NodeId, ZeroPoint), Operands>>,
}

/// Weight operands of a layer, and the order of addition in which they stand.
#[derive(Debug)]
struct Operands {
    order: Vec<usize>,
    weights: WeakWeights,
}

impl Lowering {
    /// Prepares to lower `graph`.
    pub fn new(graph: Arc<Graph>) -> Self {
        Self { graph, operands: Mutex::default() }
    }

    /// Returns the graph.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Lowers the graph onto an accelerator.
    ///
    /// The program's accelerator has one entry per layer with overrides, in the order of the layers.
    ///
    /// # Errors
    /// [`LowerError`] if an override names no accelerated layer, a multiplier is out of range, or the cycles of a
    /// layer or of an operation on the host overflow their counter.
    pub fn lower(&self, accelerator: &Accelerator) -> Result<Program, LowerError> {
        let graph = Arc::clone(&self.graph);
        let overrides = Overrides::new(&graph, accelerator)?;
        let mut steps = Vec::with_capacity(graph.nodes().len());
        let float = graph.float_products();
        for (node, _) in graph.nodes_with_ids() {
            let accelerator = overrides.of_node(node);
            steps.push(match partition::place(&graph, &float, node, accelerator) {
                Ok(Dots::Codes(dots)) => {
                    let spec = LayerSpec::of(&graph, node);
                    let weights = |dots: &_, order: &_| self.weights(node, dots, accelerator, order);
                    Step::Mac(Box::new(lower_layer(spec, dots, accelerator, weights)?))
                }
                Ok(Dots::Float(dots, accumulation)) => {
                    Step::Float(Box::new(float::layer(&graph, node, *dots, accumulation, accelerator)?))
                }
                Err(reason) => Step::Host(reason),
            });
        }
        float::take_in_conversions(&graph, &mut steps);
        let mut program =
            Program { graph, accelerator: overrides.into_accelerator(), steps, residents: Vec::new() };
        check_host(&program)?;
        residency::keep(&mut program);
        Ok(program)
    }

    /// Returns the weight operands of a layer: those of another program, if it adds in the same order.
    fn weights(
        &self,
        node: NodeId,
        dots: &DotProducts,
        accelerator: &Accelerator,
        order: &[usize],
    ) -> Weights {
        let zero_point = accelerator.datapath.operands.zero_point;
        let mut operands = self.operands.lock().unwrap_or_else(PoisonError::into_inner);
        let known = operands.get(&(node, zero_point)).filter(|known| known.order == order);
        if let Some(weights) = known.and_then(|known| known.weights.upgrade()) {
            return weights;
        }
        let weights = operands::weights(dots, zero_point, order);
        let known = Operands { order: order.to_vec(), weights: weights.downgrade() };
        operands.insert((node, zero_point), known);
        weights
    }
}

/// Returns an error for an operation whose cycles on the host overflow their counter.
fn check_host(program: &Program) -> Result<(), LowerError> {
    let takes = |node| program.host_time(node).map_or(0, |time| time.cycles);
    let mut nodes = program.graph.nodes_with_ids().map(|(node, _)| node);
    let Some(node) = nodes.find(|&node| takes(node) > MAX_CYCLES) else { return Ok(()) };
    Err(LowerError::TooManyHostCycles { layer: program.graph.node_name(node).to_owned() })
}

/// Returns where every node runs and why, in order of execution.
///
/// # Errors
/// [`LowerError`] if an override names no accelerated layer.
pub fn partition(graph: &Graph, accelerator: &Accelerator) -> Result<Vec<Placement>, LowerError> {
    let overrides = Overrides::new(graph, accelerator)?;
    let float = graph.float_products();
    let place = |(node, _)| match partition::place(graph, &float, node, overrides.of_node(node)) {
        Ok(_) => Placement::Accelerator,
        Err(reason) => Placement::Host(reason),
    };
    let mut places: Vec<Placement> = graph.nodes_with_ids().map(place).collect();
    float::conversions(graph, |node| {
        places[node.index()] == Placement::Accelerator && graph.dot_products(node).is_none()
    })
    .into_iter()
    .for_each(|node| places[node.index()] = Placement::Host(Host::OfLayer));
    Ok(places)
}

/// Description of a layer in addition to its dot products.
#[derive(Debug, Clone)]
pub struct LayerSpec {
    /// Node; the default for a layer without a network.
    pub node: NodeId,
    /// Name of the layer.
    pub name: String,
    /// Unique short name.
    pub short_name: String,
    /// Name of the operation.
    pub op: &'static str,
    /// Range of the output's codes.
    pub output: CodeRange,
    /// Bits of activations, weights and outputs. Constants follow from the datapath: what stands here for them is not read.
    pub widths: Widths,
}

impl LayerSpec {
    fn of(graph: &Graph, node: NodeId) -> Self {
        Self {
            node,
            name: graph.node_name(node).to_owned(),
            short_name: graph.short_name(node).to_owned(),
            op: graph.node(node).op.name(),
            output: graph.tensor(graph.node(node).output).ty.code_range(),
            widths: Widths::of_codes(graph, node),
        }
    }
}

/// Lowers dot products onto an accelerator, which runs them even if it does not offload the operation. No
/// network is needed.
///
/// # Errors
/// [`LowerError`] under the conditions of [`lower`].
pub fn lower_dot_products(
    spec: LayerSpec,
    dots: DotProducts,
    accelerator: &Accelerator,
) -> Result<MacLayer, LowerError> {
    let zero_point = accelerator.datapath.operands.zero_point;
    lower_layer(spec, dots, accelerator, |dots, order| operands::weights(dots, zero_point, order))
}

/// Lowers dot products whose weight operands in an order of addition `weights` returns.
fn lower_layer(
    spec: LayerSpec,
    dots: DotProducts,
    accelerator: &Accelerator,
    weights: impl FnOnce(&DotProducts, &[usize]) -> Weights,
) -> Result<MacLayer, LowerError> {
    let LayerSpec { node, name, short_name, op, output, widths } = spec;
    let dots = match accelerator.datapath.requantize.output {
        OutputFit::SaturateSymmetric => requantize::restricted(dots, output),
        OutputFit::Saturate | OutputFit::Wrap => dots,
    };
    let mut datapath = accelerator.datapath.clone();
    if let Some(bias) = &dots.bias {
        datapath.bias = datapath.bias.of_layer(bias.bits);
    }
    check_size(&name, &dots.window)?;
    let Some((order_of_layer, order)) = datapath.order.of_layer(&[&short_name, &name], dots.window.kernel)
    else {
        return Err(no_permutation(name, &dots.window, &datapath.order.walk));
    };
    datapath.order = order_of_layer;
    let requantizers = requantize::requantizers(&name, &dots, &datapath)?;
    let bias = operands::bias(&dots, datapath.operands.zero_point);
    let constants = requantize::constant_bits(&dots, bias.is_some(), &requantizers.exact);
    let widths = Widths { constants, ..widths };
    let timing = LayerTiming::of(accelerator, &dots.window, widths, dots.streams_weights());
    if timing.cycles > MAX_CYCLES {
        return Err(LowerError::TooManyCycles { layer: name });
    }
    Ok(MacLayer {
        node,
        op,
        weights: weights(&dots, &order),
        bias,
        input_sum_factor: operands::input_sum_factor(&dots, datapath.operands.zero_point),
        weight_sum_factor: operands::weight_sum_factor(&dots, datapath.operands.zero_point),
        requantizers: requantizers.scaled,
        exact_requantizers: requantizers.exact,
        output_range: output,
        packing: accelerator.packing.into(),
        widths,
        timing,
        short_name,
        name,
        dots,
        datapath,
        order,
    })
}
