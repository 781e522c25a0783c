//! Removes operations that change nothing.

use super::Pass;
use crate::ops::{AvgPool2d, MaxPool2d};
use crate::{Activation, Graph, GraphPatch, Links, NodeId, Op, PatchError};

/// A pass that removes operations whose output equals their input, code for code.
///
/// A node whose output is an output of the network stays, so that the output keeps its name.
#[derive(Debug)]
pub struct Identities;

impl Pass for Identities {
    fn name(&self) -> &'static str {
        "identities"
    }

    fn description(&self) -> &'static str {
        "removes operations that change no code: reshape, transpose, pad, concat, quantize, relu, pools of \
         one cell"
    }

    fn patch<'g>(&self, graph: &'g Graph) -> Result<Option<GraphPatch<'g>>, PatchError> {
        let links = Links::new(graph);
        let mut patch = GraphPatch::new(graph);
        let mut changes = 0;
        for (id, node) in graph.nodes_with_ids() {
            let Some(&Some(input)) = node.inputs.first() else { continue };
            if !links.is_output(node.output) && changes_nothing(graph, id) {
                patch.replace(node.output, input)?;
                patch.remove(id)?;
                changes += 1;
            }
        }
        Ok(super::unless_empty(changes, patch))
    }
}

/// Returns whether the output of a node equals its first input.
fn changes_nothing(graph: &Graph, id: NodeId) -> bool {
    let node = graph.node(id);
    let [Some(input)] = node.inputs[..] else { return false };
    let ty = &graph.tensor(input).ty;
    if *ty != graph.tensor(node.output).ty {
        return false;
    }
    match &node.op {
        // With equal shapes, a reshape keeps all elements in place.
        Op::Reshape(_) => true,
        Op::Transpose(transpose) => transpose.keeps_order(&ty.shape),
        Op::Pad(pad) => pad.paddings.iter().all(|sides| *sides == [0, 0]),
        Op::Concat(_) => true,
        Op::Quantize(_) | Op::Relu(_) | Op::Relu6(_) => {
            // These operations work on one code at a time.
            let all: Vec<i32> = ty.code_range().codes().collect();
            graph.evaluate(id, &[&all]) == all
        }
        Op::AvgPool2d(AvgPool2d { kernel, stride, activation, .. })
        | Op::MaxPool2d(MaxPool2d { kernel, stride, activation, .. }) => {
            [*kernel, *stride] == [[1; 2]; 2] && *activation == Activation::None
        }
        _ => false,
    }
}
