//! Layers of floating-point codes.

use std::collections::HashSet;

use guardbit_graph::{FloatDots, FloatOperand, Graph, KernelPosition, Links, NodeId};

use super::checks::{check_size, no_permutation};
use super::error::LowerError;
use super::partition::Host;
use crate::timing::{LayerTiming, MAX_CYCLES, Widths};
use crate::{Accelerator, FloatAccumulation, FloatMacLayer, Step, formats};

/// Bits of an output: a float32.
const OUTPUT_BITS: u32 = 32;

/// Bits of the scale of a block.
const SCALE_BITS: u32 = 8;

/// Lowers the dot products of a node.
///
/// # Errors
/// [`LowerError`] if the layer is too large, if the unit does not multiply its operands, or if `reduction_order` has no permutation for it.
pub(super) fn layer(
    graph: &Graph,
    node: NodeId,
    dots: FloatDots,
    accumulation: FloatAccumulation,
    accelerator: &Accelerator,
) -> Result<FloatMacLayer, LowerError> {
    let (name, short_name) = (graph.node_name(node).to_owned(), graph.short_name(node).to_owned());
    check_size(&name, &dots.window)?;
    check_operands(&name, &dots, &accumulation, accelerator)?;
    let order = &accelerator.datapath.order;
    let Some((_, order)) = order.of_layer(&[&short_name, &name], dots.window.kernel) else {
        return Err(no_permutation(name, &dots.window, &order.walk));
    };
    let bits = |operand: &FloatOperand| operand.format.bits();
    let scales = dots.weights.scales.len() + dots.bias.as_ref().map_or(0, |bias| bias.len());
    let weights = dots.window.terms() * dots.window.channels();
    let blocks = dots.weights.blocks.as_ref().map_or(0, |blocks| weights.div_ceil(blocks.size()));
    let widths = Widths {
        activation: bits(&dots.activations),
        weight: bits(&dots.weights),
        output: OUTPUT_BITS,
        constants: u64::from(OUTPUT_BITS) * scales as u64 + u64::from(SCALE_BITS) * blocks as u64,
    };
    let timing = LayerTiming::of(accelerator, &dots.window, widths, false);
    if timing.cycles > MAX_CYCLES {
        return Err(LowerError::TooManyCycles { layer: name });
    }
    let op = graph.node(node).op.name();
    let groups = accumulation.group().map(|most| groups(&dots, &order, most));
    if groups.as_ref().is_some_and(|groups| !share_scales(graph, &dots, &order, groups)) {
        return Err(LowerError::Groups { layer: name, group: accumulation.group_terms });
    }
    Ok(FloatMacLayer { node, name, short_name, op, dots, accumulation, order, groups, timing })
}

/// Returns the numbers of successive products that form groups: at most `most` channels of one pixel of the kernel, which
/// start at a multiple of `most`.
fn groups(dots: &FloatDots, order: &[usize], most: usize) -> Vec<usize> {
    let place = |&cell: &usize| {
        let KernelPosition { h, w, c } = dots.window.kernel_position(cell);
        (h, w, c / most)
    };
    order.chunk_by(|a, b| place(a) == place(b)).map(<[usize]>::len).collect()
}

/// Returns whether the products of every group share the scales of their blocks.
fn share_scales(graph: &Graph, dots: &FloatDots, order: &[usize], groups: &[usize]) -> bool {
    let window = &dots.window;
    let cells: Vec<_> = order.iter().map(|&cell| window.kernel_position(cell)).collect();
    let alike = |blocks: &[i32], at: &dyn Fn(KernelPosition) -> Option<usize>| {
        let mut cells = cells.iter();
        groups.iter().all(|&count| {
            let mut own = cells.by_ref().take(count).filter_map(|&cell| at(cell)).map(|at| blocks[at]);
            own.next().is_none_or(|first| own.fold(true, |alike, block| alike & (block == first)))
        })
    };
    let outputs = || (0..window.dots()).map(|index| window.output_position(index));
    let of_group = window.channels() / window.groups.max(1);
    let blocks = |operand: &FloatOperand| operand.blocks.as_ref().map(|blocks| blocks.places(graph));
    blocks(&dots.activations).is_none_or(|blocks| {
        // The channels of a group read the same activations, and all pixels the same weights.
        let mut first = outputs().filter(|out| out.c % of_group.max(1) == 0);
        first.all(|out| alike(&blocks, &|cell| dots.activation(out, cell)))
    }) && blocks(&dots.weights).is_none_or(|blocks| {
        let mut first = outputs().filter(|out| (out.h, out.w) == (0, 0));
        first.all(|out| alike(&blocks, &|cell| Some(dots.weight(out, cell))))
    })
}

/// Returns an error if the unit does not multiply operands, or their block scales.
fn check_operands(
    layer: &str,
    dots: &FloatDots,
    accumulation: &FloatAccumulation,
    accelerator: &Accelerator,
) -> Result<(), LowerError> {
    let wrong = |operand, format, key, accepted: String| {
        let (layer, unit) = (layer.to_owned(), accelerator.name.clone());
        Err(LowerError::Operands {
            layer,
            operand,
            format,
            unit: unit.into(),
            key,
            accepted: accepted.into(),
        })
    };
    let operands = [
        (&dots.activations, "activations", "activations with block scales"),
        (&dots.weights, "weights", "weights with block scales"),
    ];
    for (operand, name, with_scales) in operands {
        if !accumulation.operands.contains(operand.format) {
            return wrong(name, formats::name(operand.format), "operands", accumulation.operands.to_string());
        }
        if let Some(blocks) =
            operand.blocks.as_ref().filter(|own| !accumulation.scale_format.includes(own.format))
        {
            let accepted = accumulation.scale_format.to_string();
            return wrong(with_scales, blocks.format.name(), "scale_format", accepted);
        }
    }
    Ok(())
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
