//! Producers and readers of tensors.

use crate::{Graph, NodeId, TensorId};

/// The producer and the readers of each tensor of a graph, for pattern matching.
#[derive(Debug, Clone)]
pub struct Links {
    producers: Vec<Option<NodeId>>,
    readers: Vec<Vec<NodeId>>,
    outputs: Vec<bool>,
}

impl Links {
    /// Returns the links of `graph`.
    pub fn new(graph: &Graph) -> Self {
        let mut links = Self {
            producers: vec![None; graph.tensors.len()],
            readers: vec![Vec::new(); graph.tensors.len()],
            outputs: vec![false; graph.tensors.len()],
        };
        for (id, node) in graph.nodes_with_ids() {
            links.producers[node.output.0] = Some(id);
            node.inputs.iter().flatten().for_each(|input| links.readers[input.0].push(id));
        }
        let kept = graph.outputs.iter().chain(graph.states.iter().map(|state| &state.next));
        kept.for_each(|kept| links.outputs[kept.0] = true);
        links
    }

    /// Returns the node that computes a tensor, or `None` for inputs, states and constants.
    pub fn producer(&self, tensor: TensorId) -> Option<NodeId> {
        self.producers[tensor.0]
    }

    /// Returns the nodes that read a tensor, in order of execution. A node that reads it twice is listed twice.
    pub fn readers(&self, tensor: TensorId) -> &[NodeId] {
        &self.readers[tensor.0]
    }

    /// Returns whether a tensor is an output of the network or the next value of a state, and must therefore be kept.
    pub fn is_output(&self, tensor: TensorId) -> bool {
        self.outputs[tensor.0]
    }

    /// Returns the only node that reads a tensor. Returns `None` if it has several readers or is an output of the
    /// network.
    pub fn only_reader(&self, tensor: TensorId) -> Option<NodeId> {
        match self.readers(tensor) {
            [only] if !self.is_output(tensor) => Some(*only),
            _ => None,
        }
    }
}
