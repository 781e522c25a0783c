//! Networks as ONNX files: QDQ, with the arithmetic that ONNX Runtime's fused kernels have.
//!
//! Every tensor of codes becomes a QuantizeLinear under its name and a DequantizeLinear behind it (`codes`), every
//! operation the operator of ONNX between them (`ops`). Images are `[n, c, h, w]` around convolutions and pools, so that
//! reading the file gives the network again. Every name between has its type and shape in the file, and the number of samples is
//! left open where the file of the network left it open (`batch`). Outputs have the names of the graph's outputs.
//!
//! ONNX Runtime fuses operators with codes of 8 bits alone, and only where a quantizer is right behind them. So codes of
//! fewer bits, or of a range of their own, are made of codes of 8 bits by a second quantizer, and are widened before an
//! operator reads them.

mod batch;
mod codes;
mod dynamic;
mod layout;
mod ops;
mod pools;
mod table;
mod tensors;
mod weighted;

use std::collections::{HashMap, HashSet};

use guardbit_graph::{Graph, Links, NodeId, Op, TensorId};
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
    write(graph, false)
}

/// A float network as the bytes of an ONNX file of opset 21, in which every layer that reads the real values of constant codes is an
/// integer product: its activations get scale and zero point from every input as it comes (DynamicQuantizeLinear, then
/// MatMulInteger or ConvInteger, as ONNX Runtime's `quantize_dynamic` writes them).
///
/// # Errors
/// As [`write_onnx`], and where ONNX Runtime has no such product of the weights.
pub fn write_dynamic_onnx(graph: &Graph) -> Result<Vec<u8>, ExportError> {
    write(graph, true)
}

/// Whether [`write_onnx`] would write a network, which takes no time or memory for its constants.
///
/// # Errors
/// As [`write_onnx`].
pub fn check_onnx(graph: &Graph) -> Result<(), ExportError> {
    written(graph, false, Constants::Described)?.outputs().map(drop)
}

fn write(graph: &Graph, dynamic: bool) -> Result<Vec<u8>, ExportError> {
    written(graph, dynamic, Constants::Written)?.finish()
}

/// What becomes of constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Constants {
    Written,
    /// They have a name, a type and a shape, but no values.
    Described,
}

/// A network's nodes and constants.
fn written(graph: &Graph, dynamic: bool, constants: Constants) -> Result<Writer<'_>, ExportError> {
    if let Some(state) = graph.states().first() {
        let problem = "is a state, which is carried from one step of a stream to the next: ONNX has none".into();
        return Err(ExportError::Tensor { tensor: graph.tensor(state.tensor).name.clone(), problem });
    }
    let mut writer = Writer::new(graph, constants);
    writer.inputs()?;
    for (id, node) in graph.nodes_with_ids() {
        let is_layer = dynamic && matches!(node.op, Op::FloatConv2d(_) | Op::FloatMatMul(_));
        match is_layer.then(|| dynamic::codes_of_weights(&writer, id)).flatten() {
            Some(weights) => dynamic::layer(&mut writer, id, weights)?,
            None => ops::write(&mut writer, id)?,
        }
    }
    Ok(writer)
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

/// What the file says of a name.
#[derive(Debug, Clone, Default)]
struct Known {
    element: i32,
    shape: Vec<usize>,
    /// Whether its first axis has a part for every sample.
    batched: bool,
}

struct Writer<'g> {
    graph: &'g Graph,
    links: Links,
    nodes: Vec<proto::Node>,
    initializers: Vec<proto::Tensor>,
    constants: Constants,
    /// Every name of the file.
    known: HashMap<String, Known>,
    /// The name of the axis of samples, where their number is left open.
    batch: Option<&'g str>,
    /// Names of codes, and of real values, by their order.
    codes: HashMap<(TensorId, Order), String>,
    reals: HashMap<(TensorId, Order), String>,
    /// Names of real values behind quantizers of 8 bits, of codes of fewer.
    widened: HashMap<(TensorId, Order), String>,
    /// Names of codes, scale and zero point that are computed from real values.
    dynamic: HashMap<(TensorId, Order), [String; 3]>,
    names: HashSet<String>,
}

impl<'g> Writer<'g> {
    fn new(graph: &'g Graph, constants: Constants) -> Self {
        Self {
            graph,
            links: Links::new(graph),
            nodes: Vec::new(),
            initializers: Vec::new(),
            constants,
            known: HashMap::new(),
            batch: batch::free(graph),
            codes: HashMap::new(),
            reals: HashMap::new(),
            widened: HashMap::new(),
            dynamic: HashMap::new(),
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
            let known = Known {
                element: element::FLOAT,
                shape: tensor.ty.shape.clone(),
                batched: self.batch.is_some(),
            };
            self.known.insert(name.clone(), known);
            if tensor.ty.dtype.is_float() {
                self.reals.insert((id, Order::Own), name);
            } else {
                let codes = self.fresh(&name, "codes");
                self.quantize(id, Made::Real(&name), &codes, Order::Own)?;
            }
        }
        Ok(())
    }

    /// Adds a node with one output, of the type and shape of its first input unless [`shaped`](Self::shaped) says otherwise.
    fn node(&mut self, op: &str, inputs: Vec<String>, output: &str, attributes: Vec<proto::Attribute>) {
        let read = || inputs.iter().filter_map(|name| self.known.get(name));
        let known = read().next().cloned().unwrap_or_default();
        let known = Known { batched: read().any(|known| known.batched), ..known };
        self.known.insert(output.into(), known);
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

    /// Says the element type and the shape of a name.
    fn shaped(&mut self, name: &str, element: i32, shape: Vec<usize>) {
        let known = self.known.entry(name.into()).or_default();
        // A number has no axis.
        known.batched &= !shape.is_empty();
        (known.element, known.shape) = (element, shape);
    }

    /// The shape of a tensor with its axes in some order.
    fn shape_in(&self, id: TensorId, order: Order) -> Vec<usize> {
        let shape = &self.graph.tensor(id).ty.shape;
        match order {
            Order::ChannelsFirst if shape.len() > 2 => {
                order.permutation(shape.len()).into_iter().map(|axis| shape[axis]).collect()
            }
            _ => shape.clone(),
        }
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
        let outputs = self.outputs()?;
        let inputs = self.graph.inputs().iter().map(|&id| self.graph.tensor(id).name.clone());
        let inputs: Vec<String> = inputs.collect();
        let made = self.nodes.iter().flat_map(|node| &node.outputs);
        let graph = proto::Graph {
            values: made.filter(|name| !outputs.contains(name)).map(|name| self.described(name)).collect(),
            inputs: inputs.iter().map(|name| self.described(name)).collect(),
            outputs: outputs.iter().map(|name| self.described(name)).collect(),
            nodes: self.nodes,
            name: self.graph.name().into(),
            initializers: self.initializers,
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

    /// The names of the outputs: those that the graph gives them.
    fn outputs(&mut self) -> Result<Vec<String>, ExportError> {
        let (mut renamed, mut outputs) = (HashMap::new(), Vec::new());
        let inputs: HashSet<&str> =
            self.graph.inputs().iter().map(|&id| self.graph.tensor(id).name.as_str()).collect();
        for &id in self.graph.outputs() {
            let (name, wanted) = (self.real(id, Order::Own)?, self.graph.tensor(id).name.clone());
            let made = self.nodes.iter().any(|node| node.outputs[0] == name);
            if name == wanted || inputs.contains(wanted.as_str()) {
                outputs.push(name);
                continue;
            }
            if self.known.contains_key(&wanted) {
                let codes = self.fresh(&wanted, "codes");
                renamed.insert(wanted.clone(), codes);
            }
            if !made || renamed.contains_key(&name) {
                // Two outputs have the same values, or those of an input.
                let copy = self.fresh(&wanted, "copy");
                self.node("Identity", vec![name], &copy, Vec::new());
                renamed.insert(copy, wanted.clone());
            } else {
                renamed.insert(name, wanted.clone());
            }
            outputs.push(wanted);
        }
        let renames = |name: &mut String| {
            if let Some(new) = renamed.get(name) {
                name.clone_from(new);
            }
        };
        for node in &mut self.nodes {
            node.inputs.iter_mut().chain(&mut node.outputs).chain([&mut node.name]).for_each(renames);
        }
        self.known = self.known.drain().map(|(mut name, known)| {
            renames(&mut name);
            (name, known)
        }).collect();
        Ok(outputs)
    }

    /// A name with its type and shape.
    fn described(&self, name: &str) -> proto::ValueInfo {
        let Known { element, shape, batched } = self.known.get(name).cloned().unwrap_or_default();
        let dimension = |(axis, size): (usize, usize)| match (axis, size) {
            (0, 1) if batched => proto::Dimension { value: None, parameter: self.batch.map(str::to_owned) },
            // Several elements for each sample: such a size has no name.
            (0, _) if batched => proto::Dimension { value: None, parameter: None },
            _ => proto::Dimension { value: Some(size as i64), parameter: None },
        };
        let shape = Some(proto::Shape { dims: shape.into_iter().enumerate().map(dimension).collect() });
        let ty = proto::Type { tensor: Some(proto::TensorType { element, shape }) };
        proto::ValueInfo { name: name.into(), ty: Some(ty) }
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
