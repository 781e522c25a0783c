//! The builder of graphs, which checks every step.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::limits::Budget;
use crate::model::{Graph, Node, Note, NoteKind, Tensor, TensorId, TensorType};
use crate::names::{self, Named};
use crate::ops::{Mac, Operands};
use crate::{
    DType, FileNode, FloatReason, GraphError, Integers, Op, Quantization, QuantizationError, State,
    bias_scale, checks, state, tensor_name,
};

/// Builds a [`Graph`] node by node. A node can only read existing tensors, so nodes are executed in the order in
/// which they are added.
#[derive(Debug)]
pub struct GraphBuilder {
    graph: Graph,
    names: HashSet<String>,
    budget: Budget,
}

/// The output of a new node. Its shape follows from the operation.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputSpec {
    /// Unique name of the tensor, which is also the name of the node.
    pub name: String,
    /// Type of its codes.
    pub dtype: DType,
    /// Its scales and zero points.
    pub quantization: Option<Quantization>,
}

impl OutputSpec {
    /// Creates an output with one scale and zero point.
    ///
    /// # Errors
    /// [`QuantizationError`] unless `scale` is finite and above 0.
    pub fn quantized(
        name: impl Into<String>,
        dtype: DType,
        scale: f32,
        zero_point: i32,
    ) -> Result<Self, QuantizationError> {
        let quantization = Some(Quantization::per_tensor(scale, zero_point)?);
        Ok(Self { name: name.into(), dtype, quantization })
    }

    /// Returns this output with a quantization in canonical form.
    pub(crate) fn canonical(self) -> Self {
        let quantization = self.quantization.map(|quantization| quantization.canonical(self.dtype));
        Self { quantization, ..self }
    }

    /// Creates an output with the name and type of an existing tensor.
    pub fn of(tensor: &Tensor) -> Self {
        let TensorType { dtype, quantization, .. } = &tensor.ty;
        Self { name: tensor.name.clone(), dtype: *dtype, quantization: quantization.clone() }
    }
}

impl GraphBuilder {
    /// Creates an empty graph. Characters of its name that cannot be displayed become `_`.
    pub fn new(name: impl Into<String>) -> Self {
        let graph = Graph {
            name: tensor_name::plain_name(&name.into()).into(),
            tensors: Vec::new(),
            nodes: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            states: Vec::new(),
            notes: Vec::new(),
            file_nodes: Vec::new(),
            metadata: BTreeMap::new(),
            short_names: Vec::new(),
        };
        Self { graph, names: HashSet::new(), budget: Budget::new() }
    }

    /// Checks that a tensor of type `ty` fits the limits. Call it before you create or read its codes.
    ///
    /// # Errors
    /// [`GraphError`] if the tensor has an empty axis or too many axes, or would make the graph too large.
    pub fn check_room(&self, name: &str, ty: &TensorType) -> Result<(), GraphError> {
        self.budget.with(name, &ty.shape).map(|_| ())
    }

    /// Adds a graph input.
    ///
    /// # Errors
    /// [`GraphError`] if the name is taken or the type is inconsistent.
    pub fn input(&mut self, name: impl Into<String>, ty: TensorType) -> Result<TensorId, GraphError> {
        let (name, ty) = (name.into(), ty.canonical());
        checks::not_wide(&name, &ty)?;
        checks::no_pruned_channels(&name, &ty)?;
        let id = self.add(Tensor { name, ty, constant: None })?;
        self.graph.inputs.push(id);
        Ok(id)
    }

    /// Adds a state: a tensor that holds `initial` in the first step of a stream.
    ///
    /// It keeps its codes until [`carry`](Self::carry) defines the codes of the next step.
    ///
    /// # Errors
    /// [`GraphError`] if the name is taken, the type is inconsistent or the codes do not fit it.
    pub fn state(
        &mut self,
        name: impl Into<String>,
        ty: TensorType,
        initial: Vec<i32>,
    ) -> Result<TensorId, GraphError> {
        let name = name.into();
        self.check_room(&name, &ty)?;
        let Tensor { name, ty, constant } = checks::constant(name, ty, initial.into())?;
        checks::no_pruned_channels(&name, &ty)?;
        let initial = constant.and_then(|constant| constant.codes().cloned()).unwrap_or_default();
        let id = self.add(Tensor { name, ty, constant: None })?;
        self.graph.states.push(State { tensor: id, next: id, initial });
        Ok(id)
    }

    /// Sets the tensor whose codes at the end of a step become those of the state `tensor` in the next step. This
    /// replaces an earlier setting.
    ///
    /// # Errors
    /// [`GraphError::State`] if `tensor` is not a state, or if `next` differs in shape or dtype or allows codes that
    /// the state does not.
    pub fn carry(&mut self, tensor: TensorId, next: TensorId) -> Result<(), GraphError> {
        let [to, from] = [tensor, next].map(|id| self.graph.tensor(id));
        let Some(place) = self.graph.states.iter().position(|state| state.tensor == tensor) else {
            let problem = format!("`{}` is not a state", to.name);
            return Err(GraphError::State { tensor: to.name.clone(), next: from.name.clone(), problem });
        };
        state::check_next(to, from)?;
        self.graph.states[place].next = next;
        Ok(())
    }

    /// Adds a constant.
    ///
    /// # Errors
    /// [`GraphError`] if the name is taken, the type is inconsistent or the codes do not fit it.
    pub fn constant(
        &mut self,
        name: impl Into<String>,
        ty: TensorType,
        codes: Vec<i32>,
    ) -> Result<TensorId, GraphError> {
        self.packed_constant(name, ty, codes.into())
    }

    /// Adds a constant whose codes are already on the fewest bytes.
    ///
    /// # Errors
    /// [`GraphError`] under the conditions of [`constant`](Self::constant).
    pub fn packed_constant(
        &mut self,
        name: impl Into<String>,
        ty: TensorType,
        codes: Integers,
    ) -> Result<TensorId, GraphError> {
        let name = name.into();
        self.check_room(&name, &ty)?;
        self.add(checks::constant(name, ty, codes)?)
    }

    /// Adds a constant of 64-bit biases.
    ///
    /// # Errors
    /// [`GraphError`] if the name is taken, the type is inconsistent or not int64.
    pub fn wide_constant(
        &mut self,
        name: impl Into<String>,
        ty: TensorType,
        values: Vec<i64>,
    ) -> Result<TensorId, GraphError> {
        let name = name.into();
        self.check_room(&name, &ty)?;
        self.add(checks::wide_constant(name, ty, values)?)
    }

    /// Adds a node and its output tensor.
    ///
    /// # Errors
    /// [`GraphError`] if the operation does not accept these inputs.
    pub fn node(
        &mut self,
        op: impl Into<Op>,
        inputs: &[Option<TensorId>],
        output: OutputSpec,
    ) -> Result<TensorId, GraphError> {
        let (op, output) = (op.into(), output.canonical());
        let inputs_read = inputs.iter().map(|id| id.map(|id| self.graph.tensor(id))).collect();
        let operands = Operands::new(&op, inputs_read, &output);
        let tensor = checks::output(&op, &operands, &output)?;
        self.budget.with(&output.name, &tensor.ty.shape)?;
        let budget = self.budget.with_node(&output.name, &op, &operands)?;
        let note = bias_scale::note(&op, &operands);
        self.budget = budget;
        let id = self.add(tensor)?;
        self.graph.notes.extend(note);
        self.graph.nodes.push(Node { op, inputs: inputs.to_vec(), output: id });
        Ok(id)
    }

    /// Records that the reader changed something about `tensor` relative to the file.
    pub fn note(&mut self, tensor: impl Into<String>, text: impl Into<String>) {
        self.graph.notes.push(Note { tensor: tensor.into(), text: text.into(), kind: NoteKind::Changed });
    }

    /// Records that the constant `tensor` holds the real values of codes of the file.
    pub fn note_real_of_codes(&mut self, tensor: impl Into<String>) {
        let text = "codes of the file are stored here as their real values".to_owned();
        self.graph.notes.push(Note { tensor: tensor.into(), text, kind: NoteKind::RealOfCodes });
    }

    /// Records that the node that computes `tensor` multiplies the real values of codes, and why.
    pub fn note_left_in_float(&mut self, tensor: impl Into<String>, reason: FloatReason) {
        let text = format!("{reason}: the layer stays in float");
        self.graph.notes.push(Note { tensor: tensor.into(), text, kind: NoteKind::LeftInFloat(reason) });
    }

    /// Records the outcome of the next node of the file.
    pub fn file_node(&mut self, node: FileNode) {
        self.graph.file_nodes.push(node);
    }

    /// Returns the number of nodes added so far.
    pub fn node_count(&self) -> usize {
        self.graph.nodes.len()
    }

    /// Returns the names of the nodes after the first `from` ones, which are the names of their output tensors.
    pub fn names_from(&self, from: usize) -> Vec<String> {
        let added = self.graph.nodes.iter().skip(from);
        added.map(|node| self.graph.tensor(node.output).name.clone()).collect()
    }

    /// Renames tensors, also in notes and in records of the file. Names may be exchanged.
    ///
    /// # Errors
    /// [`GraphError`] if two tensors would have equal names, or if a name is invalid.
    pub fn rename(&mut self, names: &HashMap<TensorId, String>) -> Result<(), GraphError> {
        let mut changes: HashMap<String, &String> = HashMap::new();
        for (id, new) in names {
            let old = std::mem::replace(&mut self.graph.tensors[id.0].name, new.clone());
            checks::tensor(&self.graph.tensors[id.0])?;
            changes.insert(old, new);
        }
        changes.keys().for_each(|old| {
            self.names.remove(old);
        });
        if let Some(new) = changes.values().find(|&&new| !self.names.insert(new.clone())) {
            return Err(GraphError::DuplicateTensor { tensor: (*new).clone() });
        }
        let notes = self.graph.notes.iter_mut().map(|note| &mut note.tensor);
        let made = self.graph.file_nodes.iter_mut().flat_map(FileNode::names_mut);
        for name in notes.chain(made) {
            if let Some(&new) = changes.get(name) {
                name.clone_from(new);
            }
        }
        Ok(())
    }

    /// Returns the tensors added so far, with their ids.
    pub fn tensors(&self) -> impl Iterator<Item = (TensorId, &Tensor)> {
        self.graph.tensors.iter().enumerate().map(|(index, tensor)| (TensorId(index), tensor))
    }

    /// Returns a tensor added before.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        self.graph.tensor(id)
    }

    /// Returns the finished graph.
    ///
    /// # Errors
    /// [`GraphError::Empty`] if there are no inputs or no outputs.
    pub fn finish(mut self, outputs: Vec<TensorId>) -> Result<Graph, GraphError> {
        self.graph.outputs = outputs;
        if self.graph.inputs.is_empty() {
            return Err(GraphError::Empty { what: "input" });
        }
        if self.graph.outputs.is_empty() {
            return Err(GraphError::Empty { what: "output" });
        }
        self.graph.short_names = names::short_names(&self.named());
        Ok(self.graph)
    }

    /// Returns the nodes to name. Nodes that multiply and accumulate choose their names first.
    fn named(&self) -> Vec<Named<'_>> {
        let named = |node: &Node| Named {
            name: &self.graph.tensor(node.output).name,
            op: node.op.name(),
            first: node.op.kind().mac == Some(Mac::Weighted),
        };
        self.graph.nodes.iter().map(named).collect()
    }

    /// Adds a tensor that no node computes.
    pub(crate) fn add(&mut self, tensor: Tensor) -> Result<TensorId, GraphError> {
        checks::tensor(&tensor)?;
        let budget = self.budget.with(&tensor.name, &tensor.ty.shape)?;
        if !self.names.insert(tensor.name.clone()) {
            return Err(GraphError::DuplicateTensor { tensor: tensor.name });
        }
        self.budget = budget;
        self.graph.tensors.push(tensor);
        Ok(TensorId(self.graph.tensors.len() - 1))
    }
}
