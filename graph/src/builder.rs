//! Building a graph, checked at every step.

use std::collections::HashSet;

use crate::limits::Budget;
use crate::model::{Constant, Graph, Node, Note, Tensor, TensorId, TensorType};
use crate::names::{self, Named};
use crate::ops::Operands;
use crate::{DType, GraphError, Op, Quantization, bias_scale, tensor_name};

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

impl GraphBuilder {
    /// An empty graph; what cannot be shown of its name becomes `_`.
    pub fn new(name: impl Into<String>) -> Self {
        let graph = Graph {
            name: tensor_name::plain_name(&name.into()).into(),
            tensors: Vec::new(),
            nodes: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            notes: Vec::new(),
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
        let name = name.into();
        check_not_wide(&name, &ty)?;
        let id = self.add(Tensor { name, ty, constant: None })?;
        self.graph.inputs.push(id);
        Ok(id)
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
        self.check_count(&name, &ty, codes.len())?;
        let allowed = ty.dtype.min()..=ty.dtype.max();
        if let Some(index) = codes.iter().position(|code| !allowed.contains(code)) {
            let code = codes[index].into();
            return Err(GraphError::CodeRange { tensor: name, code, index, dtype: ty.dtype });
        }
        check_not_wide(&name, &ty)?;
        self.add(Tensor { name, ty, constant: Some(Constant::Codes(codes.into())) })
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
        self.check_count(&name, &ty, values.len())?;
        if ty.dtype != DType::Int64 {
            let problem = format!("64-bit biases are int64, not {}", ty.dtype);
            return Err(GraphError::TensorType { tensor: name, problem });
        }
        self.add(Tensor { name, ty, constant: Some(Constant::Wide(values.into())) })
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
        let op = op.into();
        let operands = Operands {
            op: op.name(),
            inputs: inputs.iter().map(|id| id.map(|id| self.graph.tensor(id))).collect(),
            output_name: &output.name,
            output_dtype: output.dtype,
            output_quantization: output.quantization.as_ref(),
        };
        let shape = op.output_shape(&operands)?;
        self.budget.with(&output.name, &shape)?;
        let budget = self.budget.with_node(&output.name, &op, &operands)?;
        let note = bias_scale::note(&op, &operands);
        let ty = TensorType { shape, dtype: output.dtype, quantization: output.quantization };
        check_not_wide(&output.name, &ty)?;
        self.budget = budget;
        let id = self.add(Tensor { name: output.name, ty, constant: None })?;
        self.graph.notes.extend(note);
        self.graph.nodes.push(Node { op, inputs: inputs.to_vec(), output: id });
        Ok(id)
    }

    /// Notes that something about `tensor` was taken otherwise than it stands in the file.
    pub fn note(&mut self, tensor: impl Into<String>, text: impl Into<String>) {
        self.graph.notes.push(Note { tensor: tensor.into(), text: text.into() });
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
            first: matches!(node.op, Op::Conv2d(_) | Op::DepthwiseConv2d(_) | Op::FullyConnected(_)),
        };
        self.graph.nodes.iter().map(named).collect()
    }

    fn add(&mut self, tensor: Tensor) -> Result<TensorId, GraphError> {
        tensor_name::check(&tensor.name)?;
        let budget = self.budget.with(&tensor.name, &tensor.ty.shape)?;
        check_quantization(&tensor)?;
        if !self.names.insert(tensor.name.clone()) {
            return Err(GraphError::DuplicateTensor { tensor: tensor.name });
        }
        self.budget = budget;
        self.graph.tensors.push(tensor);
        Ok(TensorId(self.graph.tensors.len() - 1))
    }

    fn check_count(&self, name: &str, ty: &TensorType, found: usize) -> Result<(), GraphError> {
        self.check_room(name, ty)?;
        if found == ty.len() {
            return Ok(());
        }
        let (expected, shape) = (ty.len(), ty.shape.clone());
        Err(GraphError::CodeCount { tensor: name.into(), expected, shape, found })
    }
}

/// Fails for a dtype that only constant biases have.
fn check_not_wide(name: &str, ty: &TensorType) -> Result<(), GraphError> {
    if ty.dtype != DType::Int64 {
        return Ok(());
    }
    let problem = "int64 is a type of constant biases alone".into();
    Err(GraphError::TensorType { tensor: name.into(), problem })
}

fn check_quantization(tensor: &Tensor) -> Result<(), GraphError> {
    let fail = |problem: String| Err(GraphError::TensorType { tensor: tensor.name.clone(), problem });
    let Some(quantization) = &tensor.ty.quantization else { return Ok(()) };
    if let Some(axis) = quantization.axis() {
        let size = tensor.ty.shape.get(axis).copied();
        let scales = quantization.scales().len();
        if size != Some(scales) {
            return fail(format!("{scales} scales along axis {axis} of shape {:?}", tensor.ty.shape));
        }
    }
    let (min, max) = (tensor.ty.dtype.min(), tensor.ty.dtype.max());
    match quantization.zero_points().iter().find(|z| !(min..=max).contains(*z)) {
        Some(z) => fail(format!("zero point {z} is outside {}", tensor.ty.dtype)),
        None => Ok(()),
    }
}
