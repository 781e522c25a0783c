//! Separate inputs for layers whose input other operations read too.

use std::collections::HashSet;

use guardbit_graph::ops::Reshape;
use guardbit_graph::{Graph, GraphPatch, NodeId, OutputSpec, PatchError, TensorId};

/// Returns the network with a `reshape` without effect between a tensor and a node that reads it, for each of
/// `reads`. The node is then the only reader of its input.
///
/// # Errors
/// [`PatchError`] if a node does not read its tensor as an activation.
pub(crate) fn own_inputs(graph: &Graph, reads: &[(NodeId, TensorId)]) -> Result<Graph, PatchError> {
    let mut names: HashSet<String> = graph.tensors().iter().map(|tensor| tensor.name.clone()).collect();
    let mut patch = GraphPatch::new(graph);
    for &(id, tensor) in reads {
        let (node, read) = (graph.node(id), graph.tensor(tensor));
        let mut name = format!("{}_own", graph.tensor(node.output).name);
        while !names.insert(name.clone()) {
            name.push('_');
        }
        let shape = read.ty.shape.iter().map(|&size| size as i64).collect();
        let own =
            patch.node(Reshape { shape }, &[Some(tensor)], OutputSpec { name, ..OutputSpec::of(read) })?;
        let inputs: Vec<Option<TensorId>> =
            node.inputs.iter().map(|&input| if input == Some(tensor) { Some(own) } else { input }).collect();
        let made = patch.node(node.op.clone(), &inputs, OutputSpec::of(graph.tensor(node.output)))?;
        patch.replace(node.output, made)?;
        patch.remove(id)?;
    }
    patch.apply()
}
