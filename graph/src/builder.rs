//! Building a graph, checked at every step.

use std::collections::HashSet;
use std::sync::Arc;

use crate::model::{Graph, Node, Tensor, TensorId, TensorType};
use crate::ops::Operands;
use crate::{DType, GraphError, Op, Quantization};

/// More elements than this are a mistake or an attack, not a network to be simulated.
const MAX_ELEMENTS: usize = 1 << 28;

/// Builds a [`Graph`] node by node. A node can only read what is already there, so the order of building is
/// the order of execution.
#[derive(Debug)]
pub struct GraphBuilder {
    graph: Graph,
    names: HashSet<String>,
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
    /// An empty graph.
    pub fn new(name: impl Into<String>) -> Self {
        let graph = Graph {
            name: name.into(),
            tensors: Vec::new(),
            nodes: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        Self { graph, names: HashSet::new() }
    }

    /// Adds a graph input.
    ///
    /// # Errors
    /// [`GraphError`] if the name is taken or the type is inconsistent.
    pub fn input(&mut self, name: impl Into<String>, ty: TensorType) -> Result<TensorId, GraphError> {
        let id = self.add(Tensor { name: name.into(), ty, constant: None })?;
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
        check_size(&name, &ty)?;
        if codes.len() != ty.len() {
            return Err(GraphError::CodeCount {
                tensor: name,
                expected: ty.len(),
                shape: ty.shape,
                found: codes.len(),
            });
        }
        let allowed = ty.dtype.min()..=ty.dtype.max();
        if let Some(index) = codes.iter().position(|code| !allowed.contains(code)) {
            let code = codes[index].into();
            return Err(GraphError::CodeRange { tensor: name, code, index, dtype: ty.dtype });
        }
        self.add(Tensor { name, ty, constant: Some(codes.into()) })
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
        let ty = TensorType { shape, dtype: output.dtype, quantization: output.quantization };
        let id = self.add(Tensor { name: output.name, ty, constant: None })?;
        self.graph.nodes.push(Node { op, inputs: inputs.to_vec(), output: id });
        Ok(id)
    }

    /// The type of a tensor added before.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        self.graph.tensor(id)
    }

    /// The codes of a constant added before.
    pub fn constant_codes(&self, id: TensorId) -> Option<Arc<[i32]>> {
        self.graph.tensor(id).constant.clone()
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
        Ok(self.graph)
    }

    fn add(&mut self, tensor: Tensor) -> Result<TensorId, GraphError> {
        check_size(&tensor.name, &tensor.ty)?;
        check_quantization(&tensor)?;
        if !self.names.insert(tensor.name.clone()) {
            return Err(GraphError::DuplicateTensor { tensor: tensor.name });
        }
        self.graph.tensors.push(tensor);
        Ok(TensorId(self.graph.tensors.len() - 1))
    }
}

fn check_size(name: &str, ty: &TensorType) -> Result<(), GraphError> {
    // Empty axes count as one element, so that no product of other sizes can overflow.
    let elements = ty.shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d.max(1)));
    match elements {
        Some(n) if n <= MAX_ELEMENTS => Ok(()),
        _ => Err(GraphError::TooLarge { tensor: name.into(), shape: ty.shape.clone(), limit: MAX_ELEMENTS }),
    }
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
