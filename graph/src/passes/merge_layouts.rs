//! Merges consecutive reshapes and transposes.

use crate::model::Node;
use crate::ops::{FullyConnected, Reshape, Transpose};
use crate::pattern::{Match, Pattern, Rewrite};
use crate::{Graph, GraphPatch, Op, PatchError};

/// A pass that merges two reshapes or two transposes into one, and removes a reshape before a fully connected layer.
///
/// A fully connected layer reads elements in their order, whatever the shape. A transpose that only moves axes of
/// size 1 counts as a reshape.
#[derive(Debug)]
pub struct MergeLayouts;

impl Rewrite for MergeLayouts {
    fn name(&self) -> &'static str {
        "merge_layouts"
    }

    fn description(&self) -> &'static str {
        "merges adjacent reshapes or transposes, and removes a reshape before a fully connected layer"
    }

    fn pattern(&self) -> Pattern {
        let layout = || Pattern::op_named(["reshape", "transpose"]);
        let first = || layout().reads([Pattern::any().named("x")]).shared().named("first");
        let others = || Pattern::any().or_absent();
        let dense = Pattern::op_where(|dense: &FullyConnected| !dense.keep_num_dims);
        layout().reads([first()]).or(dense.reads([first(), others(), others()]))
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        let graph = found.graph();
        let (Some(first), Some(x)) = (found.node("first"), found.id("x")) else { return Ok(false) };
        let second = graph.node(found.root());
        let Some(op) = merged(graph, graph.node(first), second) else { return Ok(false) };
        let others = second.inputs.iter().skip(1).copied();
        let inputs: Vec<_> = [Some(x)].into_iter().chain(others).collect();
        found.replace_by(patch, op, &inputs)
    }
}

/// Returns the one operation that replaces both, if there is one.
fn merged(graph: &Graph, first: &Node, second: &Node) -> Option<Op> {
    let reshape = || -> Op {
        let shape = &graph.tensor(second.output).ty.shape;
        Reshape { shape: shape.iter().map(|&size| size as i64).collect() }.into()
    };
    match (&first.op, &second.op) {
        (_, Op::FullyConnected(_)) => keeps_order(graph, first).then(|| second.op.clone()),
        _ if keeps_order(graph, first) && keeps_order(graph, second) => Some(reshape()),
        (Op::Transpose(one), Op::Transpose(two)) => {
            let permutation = two.permutation.iter().map(|&axis| one.permutation[axis]).collect();
            let both = Transpose { permutation };
            let from = &graph.tensor(first.inputs.first().copied()??).ty.shape;
            Some(if both.keeps_order(from) { reshape() } else { both.into() })
        }
        _ => None,
    }
}

/// Returns whether a node changes the shape but not the order of its elements.
fn keeps_order(graph: &Graph, node: &Node) -> bool {
    match (&node.op, node.inputs.first()) {
        (Op::Reshape(_), _) => true,
        (Op::Transpose(transpose), Some(&Some(input))) => {
            transpose.keeps_order(&graph.tensor(input).ty.shape)
        }
        _ => false,
    }
}
