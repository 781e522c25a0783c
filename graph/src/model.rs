//! Graphs, nodes and tensors.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{
    CodeRange, CodeType, DType, DotProducts, FileNode, FloatReason, Integers, Op, Products, Quantization,
    QuantizationError, State, Window, ops::Operands,
};

/// Index of a tensor in its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct TensorId(pub(crate) usize);

/// Index of a node in its graph, which is its position in the order of execution. The default is the first node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, serde::Serialize)]
pub struct NodeId(pub(crate) usize);

impl TensorId {
    /// Returns the index.
    pub fn index(self) -> usize {
        self.0
    }
}

impl NodeId {
    /// Returns the index.
    pub fn index(self) -> usize {
        self.0
    }
}

/// Shape, dtype and quantization of a tensor. The quantization may restrict the codes of the dtype.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct TensorType {
    /// Sizes; `[n, h, w, c]` for images.
    pub shape: Vec<usize>,
    /// Type of the codes.
    pub dtype: DType,
    /// Scales and zero points. `None` for a bias whose scale is that of the products.
    pub quantization: Option<Quantization>,
}

impl TensorType {
    /// Creates a type with one scale and zero point.
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

    /// Returns the codes that the tensor may hold: all codes of the dtype, or fewer.
    pub fn code_range(&self) -> CodeRange {
        self.quantization.as_ref().map_or(CodeRange::of(self.dtype), |q| q.codes_of(self.dtype))
    }

    /// Returns the type of its codes, for messages.
    pub fn code_type(&self) -> CodeType {
        CodeType { dtype: self.dtype, range: self.code_range() }
    }

    /// Returns this type with a quantization in canonical form.
    pub(crate) fn canonical(self) -> Self {
        let quantization = self.quantization.map(|quantization| quantization.canonical(self.dtype));
        Self { quantization, ..self }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns whether there are no elements.
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
    /// Its values if it is a constant.
    pub constant: Option<Constant>,
}

/// The values of a constant.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub enum Constant {
    /// Codes, one per element; words of float32 on four bytes each.
    Codes(Integers),
    /// Biases of 64 bits, one per element.
    Wide(#[serde(serialize_with = "crate::canonical::values")] Arc<[i64]>),
}

impl Constant {
    /// Returns the codes, or `None` for 64-bit biases.
    pub fn codes(&self) -> Option<&Integers> {
        match self {
            Self::Codes(codes) => Some(codes),
            Self::Wide(_) => None,
        }
    }

    /// Returns the values as 64-bit integers.
    pub fn wide(&self) -> Arc<[i64]> {
        match self {
            Self::Codes(codes) => codes.iter().map(i64::from).collect(),
            Self::Wide(values) => Arc::clone(values),
        }
    }
}

impl Tensor {
    /// Returns the codes of a constant, or `None` if the tensor is computed or holds 64-bit biases.
    pub fn codes(&self) -> Option<&Integers> {
        self.constant.as_ref().and_then(Constant::codes)
    }
}

/// One operation of a graph.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Node {
    /// Its operation.
    pub op: Op,
    /// Its inputs. An absent optional input is `None`.
    pub inputs: Vec<Option<TensorId>>,
    /// Its output, which gives the node its name.
    pub output: TensorId,
}

/// A quantized network, checked and in order of execution.
///
/// It serializes to all data that decides what it computes, including names of tensors. Its own name, notes and
/// metadata are left out.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Graph {
    /// Often the name of the file. It does not affect results.
    #[serde(skip)]
    pub(crate) name: String,
    pub(crate) tensors: Vec<Tensor>,
    /// In order of execution, which is also the order of their outputs.
    pub(crate) nodes: Vec<Node>,
    pub(crate) inputs: Vec<TensorId>,
    pub(crate) outputs: Vec<TensorId>,
    /// Skipped if there are none, so that hashes from before states existed stay valid.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) states: Vec<State>,
    /// Notes about the file, which do not affect results.
    #[serde(skip)]
    pub(crate) notes: Vec<Note>,
    /// Outcomes of the nodes of the file, which do not affect results.
    #[serde(skip)]
    pub(crate) file_nodes: Vec<FileNode>,
    /// Further data of the file, which does not affect results.
    #[serde(skip)]
    pub(crate) metadata: BTreeMap<String, String>,
    /// Short names, one per node.
    pub(crate) short_names: Vec<String>,
}

/// A note that the reader of a file changed something.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Note {
    /// Name of the affected tensor.
    pub tensor: String,
    /// The change, as a phrase.
    pub text: String,
    /// The kind of change.
    pub kind: NoteKind,
}

/// The kind of a [`Note`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoteKind {
    /// Any other change.
    Changed,
    /// The constant holds real values, and the file holds codes.
    RealOfCodes,
    /// The reader left a convolution or matrix product of codes on real values.
    LeftInFloat(FloatReason),
}

impl Graph {
    /// Returns the name of the network.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns all tensors, constants included.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// Returns all nodes in order of execution.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns all nodes with their indices.
    pub fn nodes_with_ids(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.nodes.iter().enumerate().map(|(i, node)| (NodeId(i), node))
    }

    /// Returns the tensors that a user provides.
    pub fn inputs(&self) -> &[TensorId] {
        &self.inputs
    }

    /// Returns the tensors that the network computes for the user.
    pub fn outputs(&self) -> &[TensorId] {
        &self.outputs
    }

    /// Returns the changes that the reader of the file made, in its order.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Returns the outcome of each node of the file, in its order. Empty if no file was read, or if its reader does
    /// not record outcomes.
    pub fn file_nodes(&self) -> &[FileNode] {
        &self.file_nodes
    }

    /// Returns the texts of a file in addition to its network (ONNX `metadata_props`), by key. They do not affect
    /// results.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Returns the network with `metadata` as its further texts.
    pub fn with_metadata(self, metadata: BTreeMap<String, String>) -> Self {
        Self { metadata, ..self }
    }

    /// Returns the tensor with this index.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.0]
    }

    /// Returns the node with this index.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    /// Returns the node that computes a tensor, or `None` for inputs, states and constants.
    pub fn producer(&self, id: TensorId) -> Option<NodeId> {
        self.nodes.binary_search_by_key(&id, |node| node.output).ok().map(NodeId)
    }

    /// Returns the name of a node, which is the name of its output tensor.
    pub fn node_name(&self, id: NodeId) -> &str {
        &self.tensor(self.node(id).output).name
    }

    /// Returns the tensor with this name.
    pub fn find_tensor(&self, name: &str) -> Option<TensorId> {
        self.tensors.iter().position(|t| t.name == name).map(TensorId)
    }

    /// Returns the dot products of a node, or `None` if an accumulator cannot run its operation.
    pub fn dot_products(&self, id: NodeId) -> Option<DotProducts> {
        let node = self.node(id);
        let mut dots = node.op.dot_products(&self.operands(node))?;
        if let Some(range) = self.narrower_range(node) {
            // An output stage can clamp codes but cannot skip codes in between.
            if range.step() != 1 {
                return None;
            }
            dots.finish.clamp_to(range);
        }
        Some(dots)
    }

    /// Returns the products of two operands that a node adds up, whoever runs it. Returns `None` if it multiplies
    /// nothing.
    pub fn products(&self, id: NodeId) -> Option<Products> {
        let node = self.node(id);
        node.op.products(&self.operands(node))
    }

    /// Returns the window that a node slides over its first input, if it has one.
    pub fn window(&self, id: NodeId) -> Option<Window> {
        let node = self.node(id);
        node.op.window(&self.operands(node))
    }

    /// Returns the codes that a tensor may hold: those of its type, limited by an activation with two limits of the
    /// node that computes it.
    ///
    /// An activation with one limit is ignored, because an accelerator may wrap codes at the other end.
    pub fn possible_codes(&self, id: TensorId) -> CodeRange {
        let ty = &self.tensor(id).ty;
        let codes = ty.code_range();
        let producer = self.producer(id).map(|producer| self.node(producer));
        let activation =
            producer.map(|node| node.op.activation()).filter(|activation| activation.clips() == (true, true));
        let limited = activation.zip(ty.quantization.as_ref()).and_then(|(activation, quantization)| {
            let (low, high) = activation.clamp(ty.dtype, quantization);
            // Codes of a range with steps are limits of their own.
            CodeRange::new(low.max(codes.min()), high.min(codes.max())).filter(|_| codes.step() == 1)
        });
        limited.unwrap_or(codes)
    }

    /// Runs one node exactly, as its runtime does, and returns its output codes.
    ///
    /// `inputs` are the codes of the node's inputs, constants included. An absent input and one of 64-bit biases are
    /// empty slices.
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
