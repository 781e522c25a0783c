//! Lowers a graph to a program: decides where each node runs, and makes every layer's datapath explicit.

mod audit;
mod coverage;
mod operands;
mod overrides;
mod partition;
mod requantize;
mod residency;

use std::sync::{Arc, LazyLock};

use guardbit_graph::{CodeRange, DotProducts, Graph, MAX_ELEMENTS, Mac, NodeId, Op, Window};
use guardbit_num::MultiplierError;

pub use audit::{AuditStep, Decision, Outcome, audit_frontend, audit_lowering};
pub use coverage::{Coverage, MacNode};
pub use partition::{Host, Placement};

use crate::timing::{LayerTiming, MAX_CYCLES, Widths};
use crate::{Accelerator, HwError, MacLayer, OutputFit, Program, Step, Walk};
use overrides::Overrides;

/// Names of the operations that are multiply-accumulate layers, which is the default of `offload`.
pub static MAC_OPERATIONS: LazyLock<Vec<&str>> = LazyLock::new(|| names(|mac| mac == Mac::Weighted));

/// Names of all operations that an accelerator can run: MAC layers, and sums with weights of 1.
pub static OPERATIONS: LazyLock<Vec<&str>> = LazyLock::new(|| names(|_| true));

fn names(wanted: impl Fn(Mac) -> bool) -> Vec<&'static str> {
    Op::KINDS.iter().filter(|kind| kind.mac.is_some_and(&wanted)).map(|kind| kind.name).collect()
}

/// Error: the accelerator cannot run a graph.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// An override names a layer that does not exist.
    #[error("`layers` names `{name}`, which is not a layer of the network{}", suggestion(near))]
    UnknownLayer {
        /// Name or index in `layers`.
        name: String,
        /// Index and short name of layers with a similar name.
        near: Vec<(usize, String)>,
    },
    /// An override has a number that is the name of one layer and the index of another.
    #[error(
        "`layers` names `{name}`, which is ambiguous: the name of `{by_name}` and the index of `{by_index}`"
    )]
    AmbiguousLayer {
        /// Number in `layers`.
        name: String,
        /// Short name of the layer with this name.
        by_name: String,
        /// Short name of the layer with this index.
        by_index: String,
    },
    /// An override names a node that the accelerator does not run.
    #[error("`layers` names `{name}`, but this {op} runs on the host: {reason}")]
    HostLayer {
        /// Name or index in `layers`.
        name: String,
        /// Name of the operation.
        op: &'static str,
        /// Reason why it runs on the host.
        reason: Host,
    },
    /// The overrides of a layer by its name and by its index are inconsistent.
    #[error("{source}")]
    Together {
        /// Underlying error.
        source: HwError,
    },
    /// A requantization multiplier is out of range.
    #[error("layer `{layer}`, whose datapath drops {shift} bits: {source}")]
    Multiplier {
        /// Name of the layer.
        layer: String,
        /// Number of bits that the datapath drops and the multiplier must restore.
        shift: u32,
        /// Underlying error.
        source: MultiplierError,
    },
    /// A layer has too many products.
    #[error(
        "layer `{layer}` has {channels} output channels of {cells} products each; expected at most \
         {MAX_ELEMENTS} products in total"
    )]
    TooManyProducts {
        /// Name of the layer.
        layer: String,
        /// Number of output channels.
        channels: usize,
        /// Cells of the window, as rows x columns x channels.
        cells: String,
    },
    /// There is no permutation for the products of a layer.
    #[error(
        "layer `{layer}` adds {terms} products, but `reduction_order` has no permutation of this length \
         for it, only for: {given}"
    )]
    NoPermutation {
        /// Name of the layer.
        layer: String,
        /// Number of its products.
        terms: usize,
        /// Available permutations with their lengths.
        given: String,
    },
    /// The cycles of an operation on the host overflow their counter.
    #[error("layer `{layer}` takes more than 2^53 cycles of the accelerator's clock on the host")]
    TooManyHostCycles {
        /// Name of the operation.
        layer: String,
    },
    /// The cycles of a layer overflow their counter.
    #[error("layer `{layer}` takes more than 2^53 cycles on this accelerator")]
    TooManyCycles {
        /// Name of the layer.
        layer: String,
    },
}

impl LowerError {
    /// Returns a stable identifier of this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownLayer { .. } => "guardbit::lower::unknown_layer",
            Self::AmbiguousLayer { .. } => "guardbit::lower::ambiguous_layer",
            Self::HostLayer { .. } => "guardbit::lower::host_layer",
            Self::Together { source } => source.code(),
            Self::Multiplier { .. } => "guardbit::lower::multiplier",
            Self::TooManyProducts { .. } => "guardbit::lower::too_many_products",
            Self::NoPermutation { .. } => "guardbit::lower::no_permutation",
            Self::TooManyHostCycles { .. } | Self::TooManyCycles { .. } => "guardbit::lower::too_many_cycles",
        }
    }

    /// Returns a hint on how to resolve the error.
    pub fn help(&self) -> &'static str {
        match self {
            Self::UnknownLayer { .. } => {
                "use the short name of a layer, its full name (the name of its output tensor), or its \
                 index over all operations; `guardbit inspect` prints them"
            }
            Self::AmbiguousLayer { .. } => "write the short name of the layer",
            Self::HostLayer { .. } => "add the operation to `offload`, or remove the override",
            Self::Together { .. } => {
                "overrides of a layer by name and by index are combined: change one of them"
            }
            Self::Multiplier { .. } => {
                "the scales of the model differ too much, or the datapath drops more bits (`shift`) than \
                 the multiplier can compensate"
            }
            Self::TooManyProducts { .. } => {
                "the window is larger than the input, so parts of it read only padding: use a smaller \
                 window, or leave out the operation from `offload`"
            }
            Self::NoPermutation { .. } => {
                "add one under the layer's name or its number of products, or choose another walk for the \
                 layer: `layers: {NAME: {reduction_order.walk: forward}}`"
            }
            Self::TooManyHostCycles { .. } => {
                "`host.ops_per_cycle` and `host.bytes_per_cycle` are per cycle of `host.clock_mhz`: use \
                 larger values"
            }
            Self::TooManyCycles { .. } => {
                "`memory.sram_bytes_per_cycle`, `memory.accumulator_bytes_per_cycle` and \
                 `memory.dram_bytes_per_cycle` are bytes per cycle: use larger values"
            }
        }
    }
}

/// Returns `: did you mean ...`, or an empty text if no name is similar.
fn suggestion(near: &[(usize, String)]) -> String {
    let names: Vec<_> = near.iter().map(|(index, name)| format!("`{name}` ({index})")).collect();
    if names.is_empty() { String::new() } else { format!("; did you mean {}?", names.join(", ")) }
}

/// Lowers a graph onto an accelerator.
///
/// The program's accelerator has one entry per layer with overrides, in the order of the layers.
///
/// # Errors
/// [`LowerError`] if an override names no accelerated layer, a multiplier is out of range, or the cycles of a
/// layer or of an operation on the host overflow their counter.
pub fn lower(graph: Arc<Graph>, accelerator: &Accelerator) -> Result<Program, LowerError> {
    let overrides = Overrides::new(&graph, accelerator)?;
    let mut steps = Vec::with_capacity(graph.nodes().len());
    let float = graph.float_products();
    for (node, _) in graph.nodes_with_ids() {
        let accelerator = overrides.of_node(node);
        steps.push(match partition::place(&graph, &float, node, accelerator) {
            Ok(dots) => {
                Step::Mac(Box::new(lower_dot_products(LayerSpec::of(&graph, node), dots, accelerator)?))
            }
            Err(reason) => Step::Host(reason),
        });
    }
    let mut program =
        Program { graph, accelerator: overrides.into_accelerator(), steps, residents: Vec::new() };
    check_host(&program)?;
    residency::keep(&mut program);
    Ok(program)
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
    Ok(graph.nodes_with_ids().map(place).collect())
}

/// Returns an error for a layer with more weights than the largest tensor; those of a pool are not a tensor.
fn check_size(layer: &str, window: &Window) -> Result<(), LowerError> {
    let channels = window.channels();
    let sizes = window.kernel.iter().chain([&channels]);
    let all = sizes.copied().try_fold(1usize, |all, size| all.checked_mul(size.max(1)));
    if all.is_some_and(|all| all <= MAX_ELEMENTS) {
        return Ok(());
    }
    let cells = window.kernel.map(|size| size.to_string()).join("x");
    Err(LowerError::TooManyProducts { layer: layer.into(), channels, cells })
}

fn no_permutation(layer: String, window: &Window, walk: &Walk) -> LowerError {
    let given = match walk {
        Walk::File(given) => {
            given.iter().map(|(name, order)| format!("`{name}` (length {})", order.len())).collect()
        }
        _ => Vec::new(),
    };
    LowerError::NoPermutation { layer, terms: window.terms(), given: given.join(", ") }
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
        weights: operands::weights(&dots, datapath.operands.zero_point, &order),
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
