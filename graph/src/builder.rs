//! Building a graph, checked at every step.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::limits::Budget;
use crate::model::{Graph, Node, Note, NoteKind, Tensor, TensorId, TensorType};
use crate::names::{self, Named};
use crate::ops::{Mac, Operands};
use crate::{
    DType, FileNode, FloatReason, GraphError, Op, Quantization, QuantizationError, State, bias_scale, checks,
    state, tensor_name,
};

/// Builds a [`Graph`] node by node. A node can only read what is already there, so the order of building is
/// the order of execution.
#[derive(Debug)]
pub struct GraphBuilder {
    graph: Graph,
    names: HashSet<String>,
    budget: Budget,
}

/// What the author of a node says about its output; the shape follows from the operation.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputSpec {
    /// Unique name of the tensor, and of the node.
    pub name: String,
    /// Type of its codes.
    pub dtype: DType,
    /// Its scales and zero points.
    pub quantization: Option<Quantization>,
}

impl OutputSpec {
    /// An output with one scale and zero point.
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

    /// The same with a quantization that says nothing twice.
    pub(crate) fn canonical(self) -> Self {
        let quantization = self.quantization.map(|quantization| quantization.canonical(self.dtype));
        Self { quantization, ..self }
    }

    /// An output like a tensor that there is, under its name.
    pub fn of(tensor: &Tensor) -> Self {
        let TensorType { dtype, quantization, .. } = &tensor.ty;
        Self { name: tensor.name.clone(), dtype: *dtype, quantization: quantization.clone() }
    }
}

impl GraphBuilder {
    /// An empty graph; what cannot be shown of its name becomes `_`.
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

    /// Whether there is room for a tensor of that type: to be asked before its codes are made or read.
    ///
    /// # Errors
    /// [`GraphError`] if it has an empty axis or too many axes, or the graph would be too large with it.
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

    /// Adds a state: a tensor that is `initial` in the first step of a stream, and keeps its codes until
    /// [`carry`](Self::carry) says what they become.
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
        let Tensor { name, ty, constant } = checks::constant(name, ty, initial)?;
        checks::no_pruned_channels(&name, &ty)?;
        let initial = constant.and_then(|constant| constant.codes().cloned()).unwrap_or_default();
        let id = self.add(Tensor { name, ty, constant: None })?;
        self.graph.states.push(State { tensor: id, next: id, initial });
        Ok(id)
    }

    /// Lets the codes of `next` at the end of a step be those of the state `tensor` in the next step. What was said of it
    /// before no longer holds.
    ///
    /// # Errors
    /// [`GraphError::State`] if `tensor` is not a state, or `next` has another shape or dtype or may hold codes that it
    /// may not.
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
    /// [`GraphError`] if the operation cannot work on these inputs.
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

    /// Notes that something about `tensor` was taken otherwise than it stands in the file.
    pub fn note(&mut self, tensor: impl Into<String>, text: impl Into<String>) {
        self.graph.notes.push(Note { tensor: tensor.into(), text: text.into(), kind: NoteKind::Changed });
    }

    /// Notes that constant `tensor` holds the real values of codes of the file.
    pub fn note_real_of_codes(&mut self, tensor: impl Into<String>) {
        let text = "codes of the file stand here as their real values".to_owned();
        self.graph.notes.push(Note { tensor: tensor.into(), text, kind: NoteKind::RealOfCodes });
    }

    /// Notes that the node that makes `tensor` multiplies the real values of codes, and why.
    pub fn note_left_in_float(&mut self, tensor: impl Into<String>, reason: FloatReason) {
        let text = format!("{reason}: the layer stays in float");
        self.graph.notes.push(Note { tensor: tensor.into(), text, kind: NoteKind::LeftInFloat(reason) });
    }

    /// Records what became of the next node of the file.
    pub fn file_node(&mut self, node: FileNode) {
        self.graph.file_nodes.push(node);
    }

    /// The number of nodes so far.
    pub fn node_count(&self) -> usize {
        self.graph.nodes.len()
    }

    /// The names of the nodes after the first `from`: those of their output tensors.
    pub fn names_from(&self, from: usize) -> Vec<String> {
        let added = self.graph.nodes.iter().skip(from);
        added.map(|node| self.graph.tensor(node.output).name.clone()).collect()
    }

    /// Gives tensors other names, also where notes and records of the file have them. Names may change places.
    ///
    /// # Errors
    /// [`GraphError`] if two tensors have one name then, or one is not a name.
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

    /// The tensors added so far, with their ids.
    pub fn tensors(&self) -> impl Iterator<Item = (TensorId, &Tensor)> {
        self.graph.tensors.iter().enumerate().map(|(index, tensor)| (TensorId(index), tensor))
    }

    /// The type of a tensor added before.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        self.graph.tensor(id)
    }

    /// The finished graph.
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

    /// The nodes to be named; those that multiply and accumulate are what people speak of.
    fn named(&self) -> Vec<Named<'_>> {
        let named = |node: &Node| Named {
            name: &self.graph.tensor(node.output).name,
            op: node.op.name(),
            first: node.op.kind().mac == Some(Mac::Weighted),
        };
        self.graph.nodes.iter().map(named).collect()
    }

    /// Adds a tensor that belongs to no node.
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
