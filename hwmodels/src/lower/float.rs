//! Layers of floating-point codes.

use std::collections::HashSet;

use guardbit_graph::{FloatDots, FloatOperand, Graph, Links, NodeId};

use super::checks::{check_size, no_permutation};
use super::error::LowerError;
use super::partition::Host;
use crate::timing::{LayerTiming, MAX_CYCLES, Widths};
use crate::{Accelerator, FloatAccumulation, FloatMacLayer, Step};

/// Bits of an output: a float32.
const OUTPUT_BITS: u32 = 32;

/// Lowers the dot products of a node.
///
/// # Errors
/// [`LowerError`] if the layer is too large, or if `reduction_order` has no permutation for it.
pub(super) fn layer(
    graph: &Graph,
    node: NodeId,
    dots: FloatDots,
    accumulation: FloatAccumulation,
    accelerator: &Accelerator,
) -> Result<FloatMacLayer, LowerError> {
    let (name, short_name) = (graph.node_name(node).to_owned(), graph.short_name(node).to_owned());
    check_size(&name, &dots.window)?;
    let order = &accelerator.datapath.order;
    let Some((_, order)) = order.of_layer(&[&short_name, &name], dots.window.kernel) else {
        return Err(no_permutation(name, &dots.window, &order.walk));
    };
    let bits = |operand: &FloatOperand| operand.format.bits();
    let scales = dots.weights.scales.len() + dots.bias.as_ref().map_or(0, |bias| bias.len());
    let widths = Widths {
        activation: bits(&dots.activations),
        weight: bits(&dots.weights),
        output: OUTPUT_BITS,
        constants: u64::from(OUTPUT_BITS) * scales as u64,
    };
    let timing = LayerTiming::of(accelerator, &dots.window, widths, false);
    if timing.cycles > MAX_CYCLES {
        return Err(LowerError::TooManyCycles { layer: name });
    }
    let op = graph.node(node).op.name();
    Ok(FloatMacLayer { node, name, short_name, op, dots, accumulation, order, timing })
}

/// Returns the nodes that convert codes for layers on the accelerator and for nothing else.
pub(super) fn conversions(graph: &Graph, is_layer: impl Fn(NodeId) -> bool) -> HashSet<NodeId> {
    let links = Links::new(graph);
    let mut found = HashSet::new();
    // A node comes before its readers.
    let nodes: Vec<NodeId> = graph.nodes_with_ids().map(|(node, _)| node).collect();
    for &node in nodes.iter().rev() {
        if !is_layer(node) {
            continue;
        }
        let mut open: Vec<_> = graph.node(node).inputs.iter().take(2).flatten().copied().collect();
        while let Some(tensor) = open.pop() {
            let Some(maker) = graph.producer(tensor) else { continue };
            let is_real = !graph.tensor(tensor).ty.dtype.is_short_float();
            let inner = |reader: &NodeId| is_layer(*reader) || found.contains(reader);
            if is_real && !links.is_output(tensor) && links.readers(tensor).iter().all(inner) {
                found.insert(maker);
                open.extend(graph.node(maker).inputs.iter().flatten());
            }
        }
    }
    found
}

/// Marks the nodes that convert codes for layers on the accelerator and for nothing else.
pub(super) fn take_in_conversions(graph: &Graph, steps: &mut [Step]) {
    let found = conversions(graph, |node| matches!(steps[node.index()], Step::Float(_)));
    found.into_iter().for_each(|node| steps[node.index()] = Step::Host(Host::OfLayer));
}
