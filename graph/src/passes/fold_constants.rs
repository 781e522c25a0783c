//! Folds operations on constants.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Pass;
use crate::model::Node;
use crate::{Graph, GraphPatch, Integers, Links, PatchError, TensorId};

/// A pass that turns tensors computed only from constants into constants. A node whose output is an output of the
/// network stays, and so do nodes between floating-point codes and a product that reads them, because accelerators
/// multiply the codes.
#[derive(Debug)]
pub struct FoldConstants;

impl Pass for FoldConstants {
    fn name(&self) -> &'static str {
        "fold_constants"
    }

    fn description(&self) -> &'static str {
        "replaces operations on constants by their results"
    }

    fn patch<'g>(&self, graph: &'g Graph) -> Result<Option<GraphPatch<'g>>, PatchError> {
        let links = Links::new(graph);
        let kept = graph.nodes_of_float_weights();
        let mut patch = GraphPatch::new(graph);
        let mut folded: HashMap<TensorId, Vec<i32>> = HashMap::new();
        for (id, node) in graph.nodes_with_ids() {
            if links.is_output(node.output) || kept.contains(&id) || !is_constant(graph, node, &folded) {
                continue;
            }
            let codes = |input: &Option<TensorId>| -> Cow<'_, [i32]> {
                let Some(input) = input else { return Cow::default() };
                let constant = graph.tensor(*input).codes().map(Integers::to_words);
                constant.or_else(|| folded.get(input).map(Into::into)).unwrap_or_default()
            };
            let inputs: Vec<Cow<'_, [i32]>> = node.inputs.iter().map(codes).collect();
            let made = graph.evaluate(id, &inputs.iter().map(|codes| &codes[..]).collect::<Vec<_>>());
            folded.insert(node.output, made);
        }
        let changes = folded.len();
        for node in graph.nodes() {
            let Some(codes) = folded.remove(&node.output) else { continue };
            let tensor = graph.tensor(node.output);
            let constant = patch.constant(&tensor.name, tensor.ty.clone(), codes)?;
            patch.replace(node.output, constant)?;
        }
        Ok(super::unless_empty(changes, patch))
    }
}

/// Returns whether all inputs of a node are constants or folded.
fn is_constant(graph: &Graph, node: &Node, folded: &HashMap<TensorId, Vec<i32>>) -> bool {
    let mut inputs = node.inputs.iter().flatten();
    inputs.all(|input| graph.tensor(*input).constant.is_some() || folded.contains_key(input))
}
