//! Networks as ONNX files: QDQ, with the arithmetic that ONNX Runtime's fused kernels have.
//!
//! Every tensor of codes becomes a QuantizeLinear under its name and a DequantizeLinear behind it (`codes`), every
//! operation the operator of ONNX between them (`ops`). Images are `[n, c, h, w]` around convolutions and pools, so that
//! reading the file gives the network again.
//!
//! ONNX Runtime fuses operators with codes of 8 bits alone, and only where a quantizer is right behind them. So codes of
//! fewer bits, or of a range of their own, are made of codes of 8 bits by a second quantizer, and are widened before an
//! operator reads them.

mod codes;
mod layout;
mod ops;
mod pools;
mod table;
mod tensors;
mod weighted;

use std::collections::{HashMap, HashSet};

use guardbit_graph::{Graph, Links, NodeId, TensorId};
use prost::Message;

use super::parse::metadata;
use super::parse::proto::{self, element};
use codes::Made;

/// A network that ONNX Runtime would not run with equal results.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// An operation that has no counterpart.
    #[error("{op} `{node}`: {problem}")]
    Node {
        /// The operation.
        op: &'static str,
        /// Name of the node.
        node: String,
        /// Why it cannot be written, and what would be needed.
        problem: String,
    },
    /// A tensor that has no counterpart.
    #[error("tensor `{tensor}`: {problem}")]
    Tensor {
        /// The tensor.
        tensor: String,
        /// What is wrong.
        problem: String,
    },
}

impl ExportError {
    /// A name for this kind of error that does not change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Node { .. } => "guardbit::onnx::export::node",
            Self::Tensor { .. } => "guardbit::onnx::export::tensor",
        }
    }

    /// What may help.
    pub fn help(&self) -> &'static str {
        "docs/onnx.md says what can be written: operations with ONNX Runtime's arithmetic, and float regions"
    }
}

/// Who made a file, as it says itself.
pub(super) const PRODUCER: &str = "guardbit";

/// A network as the bytes of an ONNX file of opset 21.
///
/// # Errors
/// [`ExportError`] if an operation rounds otherwise than ONNX Runtime does, or has no counterpart in QDQ.
pub fn write_onnx(graph: &Graph) -> Result<Vec<u8>, ExportError> {
    let mut writer = Writer::new(graph);
    writer.inputs()?;
    for (id, _) in graph.nodes_with_ids() {
        ops::write(&mut writer, id)?;
    }
    writer.finish()
}

/// In which order the axes of an image lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Order {
    /// As in the graph.
    Own,
    /// With the channels after the images.
    ChannelsFirst,
}

impl Order {
    fn other(self) -> Self {
        if self == Self::Own { Self::ChannelsFirst } else { Self::Own }
    }

    /// The order of axes that makes this one of the other.
    fn permutation(self, rank: usize) -> Vec<usize> {
        match self {
            Self::Own => std::iter::once(0).chain(2..rank).chain([1]).collect(),
            Self::ChannelsFirst => [0, rank - 1].into_iter().chain(1..rank - 1).collect(),
        }
    }

    /// Where an axis of the graph is.
    fn axis(self, axis: usize, rank: usize) -> usize {
        if self == Self::Own || rank < 3 {
            return axis;
        }
        self.permutation(rank).iter().position(|&from| from == axis).unwrap_or(axis)
    }
}

struct Writer<'g> {
    graph: &'g Graph,
    links: Links,
    nodes: Vec<proto::Node>,
    initializers: Vec<proto::Tensor>,
    inputs: Vec<proto::ValueInfo>,
    /// Names of codes, and of real values, by their order.
    codes: HashMap<(TensorId, Order), String>,
    reals: HashMap<(TensorId, Order), String>,
    /// Names of real values behind quantizers of 8 bits, of codes of fewer.
    widened: HashMap<(TensorId, Order), String>,
    names: HashSet<String>,
}

impl<'g> Writer<'g> {
    fn new(graph: &'g Graph) -> Self {
        Self {
            graph,
            links: Links::new(graph),
            nodes: Vec::new(),
            initializers: Vec::new(),
            inputs: Vec::new(),
            codes: HashMap::new(),
            reals: HashMap::new(),
            widened: HashMap::new(),
            names: graph.tensors().iter().map(|tensor| tensor.name.clone()).collect(),
        }
    }

    /// A name that nothing has.
    fn fresh(&mut self, base: &str, what: &str) -> String {
        let mut name = format!("{base}:{what}");
        while !self.names.insert(name.clone()) {
            name.push('\'');
        }
        name
    }

    fn inputs(&mut self) -> Result<(), ExportError> {
        for &id in self.graph.inputs() {
            let tensor = self.graph.tensor(id);
            let name = tensor.name.clone();
            let dims = tensor
                .ty
                .shape
                .iter()
                .map(|&size| proto::Dimension { value: Some(size as i64), parameter: None });
            let shape = Some(proto::Shape { dims: dims.collect() });
            let ty = proto::Type { tensor: Some(proto::TensorType { element: element::FLOAT, shape }) };
            self.inputs.push(proto::ValueInfo { name: name.clone(), ty: Some(ty) });
            if tensor.ty.dtype.is_float() {
                self.reals.insert((id, Order::Own), name);
            } else {
                let codes = self.fresh(&name, "codes");
                self.quantize(id, Made::Real(&name), &codes, Order::Own)?;
            }
        }
        Ok(())
    }

    /// Adds a node with one output.
    fn node(&mut self, op: &str, inputs: Vec<String>, output: &str, attributes: Vec<proto::Attribute>) {
        let node = proto::Node {
            inputs,
            outputs: vec![output.into()],
            name: output.into(),
            op: op.into(),
            attributes,
            ..Default::default()
        };
        self.nodes.push(node);
    }

    /// The name for the real values that a node makes.
    fn result_name(&mut self, id: NodeId) -> String {
        let tensor = self.graph.tensor(self.graph.node(id).output);
        match tensor.ty.dtype.is_float() {
            true => tensor.name.clone(),
            false => self.fresh(&tensor.name, "made"),
        }
    }

    fn finish(mut self) -> Result<Vec<u8>, ExportError> {
        let mut outputs = Vec::new();
        for &id in self.graph.outputs() {
            let name = self.real(id, Order::Own)?;
            let ty = proto::Type { tensor: Some(proto::TensorType { element: element::FLOAT, shape: None }) };
            outputs.push(proto::ValueInfo { name, ty: Some(ty) });
        }
        let graph = proto::Graph {
            nodes: self.nodes,
            name: self.graph.name().into(),
            initializers: self.initializers,
            inputs: self.inputs,
            outputs,
            values: Vec::new(),
        };
        let model = proto::Model {
            ir_version: 10,
            producer: PRODUCER.into(),
            opsets: vec![proto::Opset { domain: String::new(), version: 21 }],
            graph: Some(graph),
            functions: Vec::new(),
            metadata: metadata::entries(self.graph.metadata()),
        };
        Ok(model.encode_to_vec())
    }
}

/// Numbers of the kinds of attributes.
mod kind {
    pub const FLOAT: i32 = 1;
    pub const INT: i32 = 2;
    pub const STRING: i32 = 3;
    pub const INTS: i32 = 7;
}

fn int(name: &str, value: i64) -> proto::Attribute {
    proto::Attribute { name: name.into(), i: value, kind: kind::INT, ..Default::default() }
}

fn float(name: &str, value: f32) -> proto::Attribute {
    proto::Attribute { name: name.into(), f: value, kind: kind::FLOAT, ..Default::default() }
}

fn text(name: &str, value: &str) -> proto::Attribute {
    proto::Attribute { name: name.into(), s: value.into(), kind: kind::STRING, ..Default::default() }
}

fn ints(name: &str, values: Vec<i64>) -> proto::Attribute {
    proto::Attribute { name: name.into(), ints: values, kind: kind::INTS, ..Default::default() }
}
