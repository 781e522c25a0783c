//! Cuts out a part of a network, from some of its tensors to others.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Node;
use crate::{Graph, State, TensorId};

/// Error for a part that a network does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CutError {
    /// No tensor has this name.
    #[error("the network has no tensor `{name}`{}", nearest(near))]
    Unknown {
        /// The requested name.
        name: String,
        /// Similar names, the nearest first.
        near: Vec<String>,
    },
    /// The tensor is a constant, which need not be provided or computed.
    #[error("tensor `{name}` is a constant; choose a tensor that the network computes")]
    Constant {
        /// The name of the tensor.
        name: String,
    },
    /// The output is itself an input.
    #[error("there is nothing to compute between the inputs of the network and the output `{name}`")]
    Nothing {
        /// The name of the tensor.
        name: String,
    },
    /// No output depends on the input.
    #[error("no output of the network needs tensor `{name}`")]
    Unused {
        /// The name of the tensor.
        name: String,
    },
}

fn nearest(near: &[String]) -> String {
    let names: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { String::new() } else { format!("; did you mean {}?", names.join(", ")) }
}

impl Graph {
    /// Returns the part of the network that computes the tensors `to` from the tensors `from`.
    ///
    /// Without `to`, the part computes the outputs of the network. Inputs that are needed in addition to `from` are
    /// added. A tensor is found by its own name or by that of the node that computes it.
    ///
    /// Nodes keep their names, and tensors keep their types. A required state comes with the nodes that compute its
    /// next codes. A state among `from` becomes an input of the part.
    ///
    /// # Errors
    /// [`CutError`] if a tensor does not exist, or if there is nothing to compute between them.
    pub fn cut(&self, from: &[String], to: &[String]) -> Result<Self, CutError> {
        let mut from = self.named_tensors(from)?;
        from.retain(|id| !self.inputs.contains(id));
        let named = self.named_tensors(to)?;
        let to = if named.is_empty() { self.outputs.clone() } else { named.clone() };
        let given: BTreeSet<TensorId> = from.iter().chain(&self.inputs).copied().collect();
        let name = |id: &TensorId| self.tensor(*id).name.clone();
        // A whole network may have an input as an output.
        if let Some(output) =
            to.iter().find(|id| from.contains(id) || named.contains(id) && given.contains(id))
        {
            return Err(CutError::Nothing { name: name(output) });
        }
        // Collects the required tensors, from the outputs back to the given ones.
        let of_node = |node: &Node| (node.output, node.inputs.iter().flatten().copied().collect());
        // A state is computed by the previous step.
        let of_state = |state: &State| (state.tensor, vec![state.next]);
        let sources: BTreeMap<TensorId, Vec<TensorId>> =
            self.nodes.iter().map(of_node).chain(self.states.iter().map(of_state)).collect();
        let mut needed: BTreeSet<TensorId> = BTreeSet::new();
        let mut open = to.clone();
        while let Some(id) = open.pop() {
            if needed.insert(id) && !given.contains(&id) {
                open.extend(sources.get(&id).into_iter().flatten());
            }
        }
        let is_made = |id: &TensorId| needed.contains(id) && !given.contains(id);
        if let Some(unused) = from.iter().find(|id| !needed.contains(id)) {
            return Err(CutError::Unused { name: name(unused) });
        }
        let places: BTreeMap<TensorId, TensorId> =
            needed.iter().enumerate().map(|(place, &id)| (id, TensorId(place))).collect();
        let moved = |ids: &[TensorId]| ids.iter().filter_map(|id| places.get(id).copied()).collect();
        let kept = |node: &&Node| is_made(&node.output);
        let node = |node: &Node| Node {
            op: node.op.clone(),
            inputs: node.inputs.iter().map(|input| input.map(|id| places[&id])).collect(),
            output: places[&node.output],
        };
        let is_state = |state: &&State| is_made(&state.tensor);
        let state = |state: &State| State {
            tensor: places[&state.tensor],
            next: places[&state.next],
            initial: state.initial.clone(),
        };
        let names = self.nodes.iter().zip(&self.short_names).filter(|(node, _)| kept(node));
        let tensors: Vec<_> = needed.iter().map(|id| self.tensor(*id).clone()).collect();
        let kept_names: BTreeSet<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        let notes =
            self.notes.iter().filter(|note| kept_names.contains(note.tensor.as_str())).cloned().collect();
        Ok(Self {
            name: self.name.clone(),
            notes,
            tensors,
            nodes: self.nodes.iter().filter(kept).map(node).collect(),
            inputs: moved(&[&self.inputs[..], &from].concat()),
            outputs: moved(&to),
            states: self.states.iter().filter(is_state).map(state).collect(),
            metadata: self.metadata.clone(),
            file_nodes: self.file_nodes.clone(),
            short_names: names.map(|(_, name)| name.clone()).collect(),
        })
    }

    /// Returns the tensors with these names, each once. Constants are an error.
    fn named_tensors(&self, names: &[String]) -> Result<Vec<TensorId>, CutError> {
        let mut found = Vec::new();
        for name in names {
            let of_node = || self.find_node(name).ok().map(|node| self.node(node).output);
            let id = self.find_tensor(name).or_else(of_node).ok_or_else(|| {
                let near = self.near_nodes(name, |_| true).into_iter();
                CutError::Unknown {
                    name: name.clone(),
                    near: near.map(|id| self.node_name(id).into()).collect(),
                }
            })?;
            if self.tensor(id).constant.is_some() {
                return Err(CutError::Constant { name: name.clone() });
            }
            if !found.contains(&id) {
                found.push(id);
            }
        }
        Ok(found)
    }
}

impl CutError {
    /// Returns the stable code of this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "guardbit::cut::unknown_tensor",
            Self::Constant { .. } => "guardbit::cut::constant",
            Self::Nothing { .. } => "guardbit::cut::nothing",
            Self::Unused { .. } => "guardbit::cut::unused",
        }
    }

    /// Returns what the user can do.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => {
                "use the tensor's name in the file, or its name as printed by `guardbit inspect`"
            }
            Self::Constant { .. } => {
                "use the output of an operation, with its name as printed by \
                 `guardbit inspect`"
            }
            Self::Nothing { .. } => "choose a later tensor with `--to`, or an earlier one with `--from`",
            Self::Unused { .. } => "remove it from `--from`, or add an output that depends on it to `--to`",
        }
    }
}
