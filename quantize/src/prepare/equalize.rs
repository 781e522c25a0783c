//! Cross-layer equalization of successive convolutions.

use guardbit_graph::ops::{FloatConv2d, FloatUnary, RealFunction};
use guardbit_graph::{
    DType, Graph, GraphPatch, Links, NodeId, Op, PatchError, TensorId, TensorType, word_of,
};

use super::reals;
use crate::weights::equalize::{Layer, equalize};

/// Returns the network with the weights of every chain of convolutions balanced: see [`equalize`]. Between
/// the layers of a chain there are only activations that commute with positive factors, and each layer is the
/// only reader of the one before it.
///
/// # Errors
/// [`PatchError`] if a balanced weight is not a valid constant.
pub(crate) fn equalized(graph: &Graph) -> Result<Graph, PatchError> {
    let links = Links::new(graph);
    let nodes: Vec<NodeId> = graph.nodes_with_ids().map(|(id, _)| id).collect();
    let next: Vec<Option<NodeId>> = nodes.iter().map(|&node| follower(graph, &links, node)).collect();
    let follows = |node: NodeId| next.contains(&Some(node));
    let mut patch = GraphPatch::new(graph);
    for &first in nodes.iter().filter(|&&node| next[node.index()].is_some() && !follows(node)) {
        let chain: Vec<NodeId> = std::iter::successors(Some(first), |node| next[node.index()]).collect();
        let mut layers: Vec<Layer> = chain.iter().filter_map(|&node| layer(graph, node)).collect();
        if layers.len() == chain.len() {
            equalize(&mut layers);
            for (&node, layer) in chain.iter().zip(&layers) {
                put(&mut patch, graph, node, layer)?;
            }
        }
    }
    patch.apply()
}

/// Returns the convolution that is the only reader of a convolution's output.
fn follower(graph: &Graph, links: &Links, node: NodeId) -> Option<NodeId> {
    own_constants(graph, links, node)?;
    let mut tensor = graph.node(node).output;
    loop {
        let reader = links.only_reader(tensor)?;
        match &graph.node(reader).op {
            Op::FloatUnary(FloatUnary { function: RealFunction::Relu | RealFunction::LeakyRelu, .. }) => {
                tensor = graph.node(reader).output;
            }
            Op::FloatConv2d(_) if graph.node(reader).inputs.first() == Some(&Some(tensor)) => {
                return own_constants(graph, links, reader).map(|()| reader);
            }
            _ => return None,
        }
    }
}

/// Returns `Some` if a convolution's weights and bias are constants that nothing else reads.
fn own_constants(graph: &Graph, links: &Links, node: NodeId) -> Option<()> {
    let is_convolution = matches!(graph.node(node).op, Op::FloatConv2d(FloatConv2d { .. }));
    let own = |id: &TensorId| graph.tensor(*id).constant.is_some() && links.only_reader(*id).is_some();
    let constants: Vec<TensorId> = graph.node(node).inputs.iter().skip(1).flatten().copied().collect();
    (is_convolution && !constants.is_empty() && constants.iter().all(own)).then_some(())
}

fn layer(graph: &Graph, node: NodeId) -> Option<Layer> {
    let inputs = &graph.node(node).inputs;
    let weights = graph.tensor((*inputs.get(1)?)?);
    let [channels, _, _, depth] = weights.ty.shape[..] else { return None };
    let read = *graph.tensor(inputs[0]?).ty.shape.last()?;
    let bias = match inputs.get(2).copied().flatten() {
        Some(id) => Some(reals(graph.tensor(id))?),
        None => None,
    };
    Some(Layer { weights: reals(weights)?, bias, channels, depth, groups: read / depth.max(1) })
}

fn put(patch: &mut GraphPatch<'_>, graph: &Graph, node: NodeId, layer: &Layer) -> Result<(), PatchError> {
    let values = [Some(&layer.weights), layer.bias.as_ref()];
    for (id, values) in graph.node(node).inputs.iter().skip(1).zip(values) {
        let (Some(id), Some(values)) = (*id, values) else { continue };
        let tensor = graph.tensor(id);
        let ty = TensorType { shape: tensor.ty.shape.clone(), dtype: DType::Float32, quantization: None };
        let by = patch.constant(&tensor.name, ty, values.iter().map(|&value| word_of(value)).collect())?;
        patch.replace(id, by)?;
    }
    Ok(())
}
