//! The order of tensors in files.

use crate::State;
use crate::model::{Graph, Node, TensorId};

impl Graph {
    /// Returns the network with its tensors in the order of files: inputs, states, constants, outputs of nodes.
    ///
    /// Frontends and passes add tensors in different orders. Networks that differ only in this order become equal.
    pub fn in_order_of_files(&self) -> Self {
        let constants = self
            .tensors
            .iter()
            .enumerate()
            .filter(|(_, tensor)| tensor.constant.is_some())
            .map(|(id, _)| TensorId(id));
        let made = self.nodes.iter().map(|node| node.output);
        let states = self.states.iter().map(|state| state.tensor);
        let order: Vec<TensorId> =
            self.inputs.iter().copied().chain(states).chain(constants).chain(made).collect();
        let mut place = vec![TensorId(0); self.tensors.len()];
        order.iter().enumerate().for_each(|(to, from)| place[from.0] = TensorId(to));
        let moved = |id: &TensorId| place[id.0];
        let node = |node: &Node| Node {
            op: node.op.clone(),
            inputs: node.inputs.iter().map(|id| id.as_ref().map(moved)).collect(),
            output: moved(&node.output),
        };
        let state = |state: &State| State {
            tensor: moved(&state.tensor),
            next: moved(&state.next),
            initial: state.initial.clone(),
        };
        Self {
            tensors: order.iter().map(|id| self.tensors[id.0].clone()).collect(),
            nodes: self.nodes.iter().map(node).collect(),
            inputs: self.inputs.iter().map(moved).collect(),
            outputs: self.outputs.iter().map(moved).collect(),
            states: self.states.iter().map(state).collect(),
            ..self.clone()
        }
    }
}
