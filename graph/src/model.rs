//! Graphs, nodes and tensors.

use std::sync::Arc;

use crate::{DType, DotProducts, Op, Quantization, ops::Operands};

/// Index of a tensor in its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct TensorId(pub(crate) usize);

/// Index of a node in its graph: its place in the order of execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
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

/// Shape, dtype and quantization of a tensor.
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
#[derive(Debug, Clone, serde::Serialize)]
pub struct Tensor {
    /// Unique name.
    pub name: String,
    /// Its type.
    pub ty: TensorType,
    /// Its codes, if it is a constant.
    #[serde(serialize_with = "crate::canonical::codes")]
    pub constant: Option<Arc<[i32]>>,
}

/// One operation of a graph.
#[derive(Debug, Clone, serde::Serialize)]
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
/// It serializes to everything that decides what it computes, names of tensors included; its own name is left out.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Graph {
    /// Often that of a file. It decides nothing.
    #[serde(skip)]
    pub(crate) name: String,
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) inputs: Vec<TensorId>,
    pub(crate) outputs: Vec<TensorId>,
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

    /// The node whose output tensor has that name, or whose index is that number.
    pub fn find_node(&self, name_or_index: &str) -> Option<NodeId> {
        let by_name = self.nodes.iter().position(|n| self.tensor(n.output).name == name_or_index);
        let by_index = || name_or_index.parse().ok().filter(|&i: &usize| i < self.nodes.len());
        by_name.or_else(by_index).map(NodeId)
    }

    /// The dot products that a node is made of, if it is an operation that an accumulator can run.
    pub fn dot_products(&self, id: NodeId) -> Option<DotProducts> {
        let node = self.node(id);
        node.op.dot_products(&self.operands(node))
    }

    /// Runs one node exactly, as its runtime does.
    ///
    /// `inputs` are the codes of the node's inputs, constants included; an absent input is an empty slice.
    pub fn evaluate(&self, id: NodeId, inputs: &[&[i32]]) -> Vec<i32> {
        let node = self.node(id);
        node.op.evaluate(&self.operands(node), inputs)
    }

    fn operands<'a>(&'a self, node: &'a Node) -> Operands<'a> {
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
