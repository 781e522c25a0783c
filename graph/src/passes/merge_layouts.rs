//! Reshapes and transposes one after another.

use super::Pass;
use crate::model::Node;
use crate::ops::{Reshape, Transpose};
use crate::{Graph, GraphPatch, Links, NodeId, Op, OutputSpec, PatchError};

/// Makes one reshape of two, one transpose of two, and none of a reshape before a fully connected layer, which takes
/// elements in their order whatever the shape. A transpose that only moves axes of size 1 is a reshape.
#[derive(Debug)]
pub struct MergeLayouts;

impl Pass for MergeLayouts {
    fn name(&self) -> &'static str {
        "merge_layouts"
    }

    fn description(&self) -> &'static str {
        "makes one of adjacent reshapes or transposes, and none of a reshape before a fully connected layer"
    }

    fn patch<'g>(&self, graph: &'g Graph) -> Result<Option<GraphPatch<'g>>, PatchError> {
        let links = Links::new(graph);
        let mut patch = GraphPatch::new(graph);
        let mut changes = 0;
        for (id, node) in graph.nodes_with_ids() {
            let producer = node.inputs.first().copied().flatten().and_then(|input| links.producer(input));
            let Some(before) = producer else { continue };
            let Some(op) = merged(graph, before, id) else { continue };
            let mut inputs = node.inputs.clone();
            inputs[0] = graph.node(before).inputs[0];
            let direct = patch.node(op, &inputs, OutputSpec::of(graph.tensor(node.output)))?;
            patch.replace(node.output, direct)?;
            changes += 1;
        }
        Ok(super::unless_empty(changes, patch))
    }
}

/// The one operation that does what both do, if there is one.
fn merged(graph: &Graph, before: NodeId, after: NodeId) -> Option<Op> {
    let (first, second) = (graph.node(before), graph.node(after));
    let shape = &graph.tensor(second.output).ty.shape;
    match (&first.op, &second.op) {
        (_, Op::FullyConnected(dense)) if keeps_order(graph, first) && !dense.keep_num_dims => {
            Some(second.op.clone())
        }
        _ if keeps_order(graph, first) && keeps_order(graph, second) => {
            Some(Reshape { shape: shape.iter().map(|&size| size as i64).collect() }.into())
        }
        (Op::Transpose(first), Op::Transpose(second)) => {
            let permutation = second.permutation.iter().map(|&axis| first.permutation[axis]).collect();
            Some(Transpose { permutation }.into())
        }
        _ => None,
    }
}

/// Whether a node gives its elements another shape and leaves them in their order.
fn keeps_order(graph: &Graph, node: &Node) -> bool {
    match (&node.op, node.inputs.first()) {
        (Op::Reshape(_), _) => true,
        (Op::Transpose(transpose), Some(&Some(input))) => transpose.keeps_order(&graph.tensor(input).ty.shape),
        _ => false,
    }
}
