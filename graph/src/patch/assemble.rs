//! Assembles the new graph from a patch.

use std::collections::{HashMap, HashSet};

use super::{GraphPatch, PatchError};
use crate::model::{Note, Tensor};
use crate::{Graph, GraphBuilder, Links, Op, OutputSpec, State, TensorId};

/// The tensors of graph and patch, by index, that the new graph contains, and their replacements.
pub(super) struct Plan<'p, 'g> {
    patch: &'p GraphPatch<'g>,
    links: Links,
    /// The states of the graph, by their tensors.
    states: HashMap<usize, &'g State>,
    /// For each tensor of the graph, the tensor that its readers read instead.
    instead: Vec<usize>,
    needed: Vec<bool>,
}

/// Returns the new graph.
pub(super) fn assemble(patch: &GraphPatch<'_>) -> Result<Graph, PatchError> {
    let plan = Plan::new(patch);
    plan.check_removed()?;
    plan.check_outputs()?;
    Assembly::new(&plan).finish()
}

impl<'p, 'g> Plan<'p, 'g> {
    pub fn new(patch: &'p GraphPatch<'g>) -> Self {
        let count = patch.graph.tensors.len();
        let mut plan = Self {
            patch,
            links: Links::new(patch.graph),
            states: patch.graph.states.iter().map(|state| (state.tensor.0, state)).collect(),
            instead: (0..count).map(|index| patch.in_place_of(TensorId(index)).0).collect(),
            needed: vec![false; count + patch.added.len()],
        };
        plan.mark_needed();
        plan
    }

    /// Returns whether the new graph contains the tensor. Inputs are always needed.
    pub fn is_needed(&self, index: usize) -> bool {
        self.needed[index]
    }

    fn mark_needed(&mut self) {
        let graph = self.patch.graph;
        graph.inputs.iter().for_each(|input| self.needed[input.0] = true);
        let mut open: Vec<usize> = graph.outputs.iter().map(|output| self.instead[output.0]).collect();
        let mut seen = vec![false; self.needed.len()];
        while let Some(index) = open.pop() {
            if !std::mem::replace(&mut seen[index], true) {
                self.needed[index] = true;
                open.extend(self.reads(index).flatten());
                // A state that is read also needs the tensor of its next codes.
                open.extend(self.states.get(&index).map(|state| self.instead[state.next.0]));
            }
        }
    }

    /// Returns the operation that computes a tensor, with its original operands. `None` for inputs, states and
    /// constants.
    fn made_by(&self, index: usize) -> Option<(&Op, &[Option<TensorId>])> {
        match index.checked_sub(self.instead.len()) {
            None => {
                let node = self.patch.graph.node(self.links.producer(TensorId(index))?);
                Some((&node.op, &node.inputs))
            }
            Some(added) => {
                self.patch.added[added].made_by.as_ref().map(|(op, inputs)| (op, inputs.as_slice()))
            }
        }
    }

    /// Returns the tensors that a tensor's node reads in the new graph. An added node reads its given inputs.
    fn reads(&self, index: usize) -> impl Iterator<Item = Option<usize>> + '_ {
        let old = index < self.instead.len();
        let inputs = self.made_by(index).map_or(&[][..], |(_, inputs)| inputs);
        inputs.iter().map(move |id| id.map(|id| if old { self.instead[id.0] } else { id.0 }))
    }

    fn check_removed(&self) -> Result<(), PatchError> {
        for &node in &self.patch.removed {
            let output = self.patch.graph.node(node).output.0;
            if !self.needed[output] {
                continue;
            }
            let reader = (0..self.needed.len())
                .find(|&index| self.needed[index] && self.reads(index).any(|read| read == Some(output)));
            let reader = match reader {
                Some(reader) => format!("`{}` reads it", self.tensor(reader).name),
                None => "it is an output of the network".into(),
            };
            return Err(PatchError::StillRead { node: self.tensor(output).name.clone(), reader });
        }
        Ok(())
    }

    fn check_outputs(&self) -> Result<(), PatchError> {
        for output in &self.patch.graph.outputs {
            let (old, new) = (self.tensor(output.0), self.tensor(self.instead[output.0]));
            if old.name != new.name {
                return Err(PatchError::OutputName { output: old.name.clone(), by: new.name.clone() });
            }
        }
        Ok(())
    }

    fn tensor(&self, index: usize) -> &Tensor {
        let tensors = &self.patch.graph.tensors;
        tensors.get(index).unwrap_or_else(|| &self.patch.added[index - tensors.len()].tensor)
    }

    fn cycle(&self, index: usize) -> PatchError {
        PatchError::Cycle { tensor: self.tensor(index).name.clone() }
    }
}

/// The new graph under construction.
struct Assembly<'a> {
    plan: &'a Plan<'a, 'a>,
    inputs: HashSet<usize>,
    builder: GraphBuilder,
    /// The id of each tensor in the new graph, once it is placed.
    placed: Vec<Option<TensorId>>,
}

impl<'a> Assembly<'a> {
    fn new(plan: &'a Plan<'a, 'a>) -> Self {
        let graph = plan.patch.graph;
        let inputs = graph.inputs.iter().map(|input| input.0).collect();
        let builder = GraphBuilder::new(graph.name.clone());
        Self { plan, inputs, builder, placed: vec![None; plan.needed.len()] }
    }

    fn finish(mut self) -> Result<Graph, PatchError> {
        let plan = self.plan;
        for index in 0..plan.instead.len() {
            if plan.needed[index] {
                self.place_with_operands(index)?;
            }
            // An added tensor takes the place of the tensor that it replaces.
            let instead = plan.instead[index];
            if instead >= plan.instead.len() && plan.needed[instead] {
                self.place_with_operands(instead)?;
            }
        }
        for state in &plan.patch.graph.states {
            let ids = [state.tensor.0, plan.instead[state.next.0]].map(|index| self.placed[index]);
            if let [Some(tensor), Some(next)] = ids {
                self.builder.carry(tensor, next)?;
            }
        }
        let outputs = plan.patch.graph.outputs.iter();
        let outputs = outputs.map(|output| self.placed[plan.instead[output.0]]).collect::<Option<Vec<_>>>();
        let mut made = self.builder.finish(outputs.unwrap_or_default())?;
        made.notes = notes(&plan.patch.graph.notes, &made);
        made.file_nodes = plan.patch.graph.file_nodes.clone();
        made.metadata = plan.patch.graph.metadata.clone();
        Ok(made)
    }

    /// Places a tensor after everything that it depends on.
    fn place_with_operands(&mut self, index: usize) -> Result<(), PatchError> {
        let plan = self.plan;
        let mut open = HashSet::from([index]);
        let mut path = vec![(index, plan.reads(index))];
        while let Some((index, reads)) = path.last_mut() {
            let index = *index;
            match reads.flatten().find(|&read| self.placed[read].is_none()) {
                Some(missing) if !open.insert(missing) => return Err(plan.cycle(missing)),
                Some(missing) => path.push((missing, plan.reads(missing))),
                None => {
                    path.pop();
                    self.place(index)?;
                }
            }
        }
        Ok(())
    }

    fn place(&mut self, index: usize) -> Result<(), PatchError> {
        if self.placed[index].is_some() {
            return Ok(());
        }
        let plan = self.plan;
        let tensor = plan.tensor(index);
        let id = match plan.made_by(index) {
            Some((op, _)) => {
                let inputs: Vec<_> = plan.reads(index).map(|read| self.placed[read?]).collect();
                self.builder.node(op.clone(), &inputs, OutputSpec::of(tensor))?
            }
            None if plan.states.contains_key(&index) => {
                let initial = plan.states[&index].initial.to_vec();
                self.builder.state(tensor.name.clone(), tensor.ty.clone(), initial)?
            }
            None if self.inputs.contains(&index) => {
                self.builder.input(tensor.name.clone(), tensor.ty.clone())?
            }
            None => self.builder.add(tensor.clone())?,
        };
        self.placed[index] = Some(id);
        Ok(())
    }
}

/// Returns the notes about tensors that still exist, followed by those about new nodes.
fn notes(old: &[Note], made: &Graph) -> Vec<Note> {
    let names: HashSet<&str> = made.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    let said: HashSet<&Note> = old.iter().collect();
    let kept = old.iter().filter(|note| names.contains(note.tensor.as_str()));
    kept.chain(made.notes.iter().filter(|note| !said.contains(note))).cloned().collect()
}
