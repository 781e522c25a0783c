//! Graphs, nodes and tensors.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{
    CodeRange, CodeType, DType, DotProducts, FileNode, FloatReason, Op, Products, Quantization,
    QuantizationError, State, Window, ops::Operands,
};

/// Index of a tensor in its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct TensorId(pub(crate) usize);

/// Index of a node in its graph: its place in the order of execution. The default is the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, serde::Serialize)]
pub struct NodeId(pub(crate) usize);

impl TensorId {
    /// The index.
    pub fn index(self) -> usize {
        self.0
    }
}

impl NodeId {
    /// The index.
    pub fn index(self) -> usize {
        self.0
    }
}

/// Shape, dtype and quantization of a tensor. The quantization says which of the dtype's codes it may hold.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct TensorType {
    /// Sizes; `[n, h, w, c]` for images.
    pub shape: Vec<usize>,
    /// Type of the codes.
    pub dtype: DType,
    /// Scales and zero points. Biases may have none: their scale is that of the products.
    pub quantization: Option<Quantization>,
}

impl TensorType {
    /// A type with one scale and zero point.
    ///
    /// # Errors
    /// [`QuantizationError`] unless `scale` is finite and above 0.
    pub fn quantized(
        shape: &[usize],
        dtype: DType,
        scale: f32,
        zero_point: i32,
    ) -> Result<Self, QuantizationError> {
        let quantization = Some(Quantization::per_tensor(scale, zero_point)?);
        Ok(Self { shape: shape.to_vec(), dtype, quantization })
    }

    /// The codes that it may hold: all of the dtype, or fewer.
    pub fn code_range(&self) -> CodeRange {
        self.quantization.as_ref().map_or(CodeRange::of(self.dtype), |q| q.codes_of(self.dtype))
    }

    /// The type of its codes, for messages.
    pub fn code_type(&self) -> CodeType {
        CodeType { dtype: self.dtype, range: self.code_range() }
    }

    /// The same with a quantization that says nothing twice.
    pub(crate) fn canonical(self) -> Self {
        let quantization = self.quantization.map(|quantization| quantization.canonical(self.dtype));
        Self { quantization, ..self }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A tensor of a graph.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Tensor {
    /// Unique name.
    pub name: String,
    /// Its type.
    pub ty: TensorType,
    /// Its values, if it is a constant.
    pub constant: Option<Constant>,
}

/// The values of a constant.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub enum Constant {
    /// Codes, one per element.
    Codes(#[serde(serialize_with = "crate::canonical::values")] Arc<[i32]>),
    /// Biases of 64 bits, one per element.
    Wide(#[serde(serialize_with = "crate::canonical::values")] Arc<[i64]>),
}

impl Constant {
    /// The codes; `None` for biases of 64 bits.
    pub fn codes(&self) -> Option<&Arc<[i32]>> {
        match self {
            Self::Codes(codes) => Some(codes),
            Self::Wide(_) => None,
        }
    }

    /// The values at 64 bits.
    pub fn wide(&self) -> Arc<[i64]> {
        match self {
            Self::Codes(codes) => codes.iter().map(|&code| code.into()).collect(),
            Self::Wide(values) => Arc::clone(values),
        }
    }
}

impl Tensor {
    /// The codes of a constant; `None` if it is computed, or holds biases of 64 bits.
    pub fn codes(&self) -> Option<&Arc<[i32]>> {
        self.constant.as_ref().and_then(Constant::codes)
    }
}

/// One operation of a graph.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// What it reads; an absent optional input is `None`.
    pub inputs: Vec<Option<TensorId>>,
    /// What it makes. The node is named after it.
    pub output: TensorId,
}

/// A quantized network: checked, in order of execution.
///
/// It serializes to everything that decides what it computes, names of tensors included; its own name, notes and
/// metadata are left out.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Graph {
    /// Often that of a file. It decides nothing.
    #[serde(skip)]
    pub(crate) name: String,
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) inputs: Vec<TensorId>,
    pub(crate) outputs: Vec<TensorId>,
    /// Left out of hashes where there are none, as before there were states.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) states: Vec<State>,
    /// They tell of the file, and decide nothing.
    #[serde(skip)]
    pub(crate) notes: Vec<Note>,
    /// What became of the nodes of the file; it decides nothing.
    #[serde(skip)]
    pub(crate) file_nodes: Vec<FileNode>,
    /// What files say beside the network; it decides nothing.
    #[serde(skip)]
    pub(crate) metadata: BTreeMap<String, String>,
    /// One per node.
    pub(crate) short_names: Vec<String>,
}

/// Something that the reader of a file took otherwise than it stands there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Note {
    /// Name of the tensor that it is about.
    pub tensor: String,
    /// What was done.
    pub text: String,
    /// What kind of change it is.
    pub kind: NoteKind,
}

/// The kind of a [`Note`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NoteKind {
    /// Anything that a reader took otherwise.
    Changed,
    /// Codes of the file stand as their real values in this constant.
    RealOfCodes,
    /// A convolution or a product of matrices of codes that the reader left on real values.
    LeftInFloat(FloatReason),
}

impl Graph {
    /// Name of the network.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All tensors, constants included.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// All nodes in order of execution.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All nodes with their indices.
    pub fn nodes_with_ids(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.nodes.iter().enumerate().map(|(i, node)| (NodeId(i), node))
    }

    /// The tensors that a user provides.
    pub fn inputs(&self) -> &[TensorId] {
        &self.inputs
    }

    /// The tensors that the network is run for.
    pub fn outputs(&self) -> &[TensorId] {
        &self.outputs
    }

    /// What the reader of the file took otherwise than it stands there, in its order.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// What became of each node of the file, in its order; empty where no file was read, or its reader does not record it.
    pub fn file_nodes(&self) -> &[FileNode] {
        &self.file_nodes
    }

    /// Texts by key that a file carries beside the network (ONNX `metadata_props`): where it is from, what it was made for.
    /// They decide nothing.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// The same network with other texts beside it.
    pub fn with_metadata(self, metadata: BTreeMap<String, String>) -> Self {
        Self { metadata, ..self }
    }

    /// The tensor of that index.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.0]
    }

    /// The node of that index.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    /// The name of a node: that of its output tensor.
    pub fn node_name(&self, id: NodeId) -> &str {
        &self.tensor(self.node(id).output).name
    }

    /// The tensor of that name.
    pub fn find_tensor(&self, name: &str) -> Option<TensorId> {
        self.tensors.iter().position(|t| t.name == name).map(TensorId)
    }

    /// The dot products that a node is made of, if it is an operation that an accumulator can run.
    pub fn dot_products(&self, id: NodeId) -> Option<DotProducts> {
        let node = self.node(id);
        let mut dots = node.op.dot_products(&self.operands(node))?;
        if let Some(range) = self.narrower_range(node) {
            // An output stage clamps; it cannot leave out codes in between.
            if range.step() != 1 {
                return None;
            }
            dots.finish.clamp_to(range);
        }
        Some(dots)
    }

    /// The products of two operands that a node adds up, whoever runs it; `None` if it multiplies nothing.
    pub fn products(&self, id: NodeId) -> Option<Products> {
        let node = self.node(id);
        node.op.products(&self.operands(node))
    }

    /// The window that a node slides over its first input, if it does.
    pub fn window(&self, id: NodeId) -> Option<Window> {
        let node = self.node(id);
        node.op.window(&self.operands(node))
    }

    /// Runs one node exactly, as its runtime does.
    ///
    /// `inputs` are the codes of the node's inputs, constants included; an absent input, or one of 64-bit biases, is
    /// an empty slice.
    pub fn evaluate(&self, id: NodeId, inputs: &[&[i32]]) -> Vec<i32> {
        let node = self.node(id);
        let mut codes = node.op.evaluate(&self.operands(node), inputs);
        if let Some(range) = self.narrower_range(node) {
            codes.iter_mut().for_each(|code| *code = range.clamp((*code).into()));
        }
        codes
    }

    /// Returns the code range of a node's output if it is narrower than its dtype. Operations clamp to their dtype only.
    fn narrower_range(&self, node: &Node) -> Option<CodeRange> {
        self.tensor(node.output).ty.quantization.as_ref().and_then(Quantization::range)
    }

    pub(crate) fn operands<'a>(&'a self, node: &'a Node) -> Operands<'a> {
        let output = self.tensor(node.output);
        Operands {
            op: node.op.name(),
            inputs: node.inputs.iter().map(|id| id.map(|id| self.tensor(id))).collect(),
            output_name: &output.name,
            output_dtype: output.ty.dtype,
            output_quantization: output.ty.quantization.as_ref(),
        }
    }
}
