//! Who makes and who reads each tensor.

use crate::{Graph, NodeId, TensorId};

/// Who makes and who reads each tensor of a graph, for whoever looks for patterns in it.
#[derive(Debug, Clone)]
pub struct Links {
    producers: Vec<Option<NodeId>>,
    readers: Vec<Vec<NodeId>>,
    outputs: Vec<bool>,
}

impl Links {
    /// Those of `graph`.
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

    /// The node that makes a tensor; `None` for inputs, states and constants.
    pub fn producer(&self, tensor: TensorId) -> Option<NodeId> {
        self.producers[tensor.0]
    }

    /// The nodes that read a tensor, in order of execution; one that reads it twice stands there twice.
    pub fn readers(&self, tensor: TensorId) -> &[NodeId] {
        &self.readers[tensor.0]
    }

    /// Whether a tensor is an output of the network, or what a state becomes: it is needed as it is.
    pub fn is_output(&self, tensor: TensorId) -> bool {
        self.outputs[tensor.0]
    }

    /// The node that reads a tensor, once, if nothing else does and it is no output of the network.
    pub fn only_reader(&self, tensor: TensorId) -> Option<NodeId> {
        match self.readers(tensor) {
            [only] if !self.is_output(tensor) => Some(*only),
            _ => None,
        }
    }
}
