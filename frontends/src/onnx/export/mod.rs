//! Export of networks as ONNX files in the QDQ form, with the arithmetic of ONNX Runtime's fused kernels.
//!
//! Every tensor of codes becomes a QuantizeLinear with its name, followed by a DequantizeLinear (`codes`). Every
//! operation becomes the ONNX operator between them (`ops`). Images are `[n, c, h, w]` around convolutions and pools,
//! so that reading the file gives an equal network. The file contains type and shape of every intermediate name, and
//! leaves the number of samples open if the source file did (`batch`). Outputs have the names of the graph's outputs.
//!
//! A division before a conversion to float8 codes is a QuantizeLinear too, and a multiplication after one a
//! DequantizeLinear (`floats`).
//!
//! ONNX Runtime fuses an operator only with codes of 8 bits, and only if a quantizer follows directly. Therefore
//! codes of fewer bits, or with a restricted range, come from codes of 8 bits through a second quantizer, and are
//! widened before an operator reads them.

mod batch;
mod block_scale;
mod codes;
mod dynamic;
mod floats;
mod layout;
mod ops;
mod pools;
mod table;
mod tensors;
mod weighted;

use std::collections::{HashMap, HashSet};

use guardbit_graph::{DType, Graph, Links, NodeId, Op, TensorId};
use prost::Message;

use super::own::DOMAIN;
use super::parse::metadata;
use super::parse::proto;
use codes::Made;
use tensors::real_element;

/// The reason why ONNX Runtime would not run a network with equal results.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// An operation has no counterpart.
    #[error("{op} `{node}`: {problem}")]
    Node {
        /// The operation.
        op: &'static str,
        /// Name of the node.
        node: String,
        /// The reason, and what would be needed.
        problem: String,
    },
    /// A tensor has no counterpart.
    #[error("tensor `{tensor}`: {problem}")]
    Tensor {
        /// The tensor.
        tensor: String,
        /// The problem.
        problem: String,
    },
}

impl ExportError {
    /// Returns the stable code of this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Node { .. } => "guardbit::onnx::export::node",
            Self::Tensor { .. } => "guardbit::onnx::export::tensor",
        }
    }

    /// Returns what the user can do.
    pub fn help(&self) -> &'static str {
        "docs/reference/onnx.md lists what can be exported: operations with ONNX Runtime's arithmetic, and float \
         regions"
    }
}

/// The producer name in exported files.
pub(super) const PRODUCER: &str = "guardbit";

/// Returns a network as the bytes of an ONNX file of opset 21, or 23 if it has codes of float4.
///
/// # Errors
/// [`ExportError`] if an operation rounds differently from ONNX Runtime, or has no counterpart in QDQ.
pub fn write_onnx(graph: &Graph) -> Result<Vec<u8>, ExportError> {
    write(graph, false)
}

/// Returns a float network as the bytes of an ONNX file of opset 21 with dynamic quantization.
///
/// Every layer that reads the real values of constant codes becomes an integer product. Its activations get scale and
/// zero point at run time (DynamicQuantizeLinear, then MatMulInteger or ConvInteger, as written by ONNX Runtime's
/// `quantize_dynamic`).
///
/// # Errors
/// Errors of [`write_onnx`], and an error if ONNX Runtime has no such product for the weights.
pub fn write_dynamic_onnx(graph: &Graph) -> Result<Vec<u8>, ExportError> {
    write(graph, true)
}

/// Checks whether [`write_onnx`] would succeed, without time or memory for the constants.
///
/// # Errors
/// See [`write_onnx`].
pub fn check_onnx(graph: &Graph) -> Result<(), ExportError> {
    written(graph, false, Constants::Described)?.outputs().map(drop)
}

fn write(graph: &Graph, dynamic: bool) -> Result<Vec<u8>, ExportError> {
    written(graph, dynamic, Constants::Written)?.finish()
}

/// The treatment of constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Constants {
    Written,
    /// Constants have a name, a type and a shape, but no values.
    Described,
}

/// Returns a network's nodes and constants.
fn written(graph: &Graph, dynamic: bool, constants: Constants) -> Result<Writer<'_>, ExportError> {
    if let Some(state) = graph.states().first() {
        let problem = "is a state of a stream, which ONNX does not support".into();
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

/// The order of the axes of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Order {
    /// The order of the graph, channels last.
    Own,
    /// Channels directly after the batch axis.
    ChannelsFirst,
}

impl Order {
    fn other(self) -> Self {
        if self == Self::Own { Self::ChannelsFirst } else { Self::Own }
    }

    /// Returns the permutation from the other order to this one.
    fn permutation(self, rank: usize) -> Vec<usize> {
        match self {
            Self::Own => std::iter::once(0).chain(2..rank).chain([1]).collect(),
            Self::ChannelsFirst => [0, rank - 1].into_iter().chain(1..rank - 1).collect(),
        }
    }

    /// Returns the position of an axis of the graph.
    fn axis(self, axis: usize, rank: usize) -> usize {
        if self == Self::Own || rank < 3 {
            return axis;
        }
        self.permutation(rank).iter().position(|&from| from == axis).unwrap_or(axis)
    }
}

/// The element type and shape of a name in the file.
#[derive(Debug, Clone, Default)]
struct Known {
    element: i32,
    shape: Vec<usize>,
    /// Whether its first axis grows with the number of samples.
    batched: bool,
}

struct Writer<'g> {
    graph: &'g Graph,
    links: Links,
    nodes: Vec<proto::Node>,
    initializers: Vec<proto::Tensor>,
    constants: Constants,
    /// The types of all names in the file.
    known: HashMap<String, Known>,
    /// The name of the axis of samples if their number is left open.
    batch: Option<&'g str>,
    /// Names of codes, and of real values, by tensor and order.
    codes: HashMap<(TensorId, Order), String>,
    reals: HashMap<(TensorId, Order), String>,
    /// Names of the real values of narrow codes, after a quantizer of 8 bits.
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

    /// Returns an unused name.
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
                element: real_element(tensor.ty.dtype),
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

    /// Adds a node with one output. The output has the type and shape of its first input, unless
    /// [`shaped`](Self::shaped) sets others.
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

    /// Sets the element type and the shape of a name.
    fn shaped(&mut self, name: &str, element: i32, shape: Vec<usize>) {
        let known = self.known.entry(name.into()).or_default();
        // A scalar has no axis.
        known.batched &= !shape.is_empty();
        (known.element, known.shape) = (element, shape);
    }

    /// Returns the shape of a tensor with its axes in the given order.
    fn shape_in(&self, id: TensorId, order: Order) -> Vec<usize> {
        let shape = &self.graph.tensor(id).ty.shape;
        match order {
            Order::ChannelsFirst if shape.len() > 2 => {
                order.permutation(shape.len()).into_iter().map(|axis| shape[axis]).collect()
            }
            _ => shape.clone(),
        }
    }

    /// Returns the name for the real values that a node computes.
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
        // float4 came with opset 23.
        let is_float4 = |tensor: &guardbit_graph::Tensor| tensor.ty.dtype == DType::Float4E2M1;
        let (ir_version, version) =
            if self.graph.tensors().iter().any(is_float4) { (11, 23) } else { (10, 21) };
        let functions = block_scale::functions(&self, version);
        let own = (!functions.is_empty()).then(|| proto::Opset { domain: DOMAIN.into(), version: 1 });
        let standard = proto::Opset { domain: String::new(), version };
        let opsets = [standard].into_iter().chain(own).collect();
        let graph = proto::Graph {
            values: made.filter(|name| !outputs.contains(name)).map(|name| self.described(name)).collect(),
            inputs: inputs.iter().map(|name| self.described(name)).collect(),
            outputs: outputs.iter().map(|name| self.described(name)).collect(),
            nodes: self.nodes,
            name: self.graph.name().into(),
            initializers: self.initializers,
        };
        let model = proto::Model {
            ir_version,
            producer: PRODUCER.into(),
            opsets,
            graph: Some(graph),
            functions,
            metadata: metadata::entries(self.graph.metadata()),
        };
        Ok(model.encode_to_vec())
    }

    /// Returns the names of the outputs, which are those of the graph.
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
                // Two outputs have equal values, or those of an input.
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
        self.known = self
            .known
            .drain()
            .map(|(mut name, known)| {
                renames(&mut name);
                (name, known)
            })
            .collect();
        Ok(outputs)
    }

    /// Returns a name with its type and shape.
    fn described(&self, name: &str) -> proto::ValueInfo {
        let Known { element, shape, batched } = self.known.get(name).cloned().unwrap_or_default();
        let dimension = |(axis, size): (usize, usize)| match (axis, size) {
            (0, 1) if batched => proto::Dimension { value: None, parameter: self.batch.map(str::to_owned) },
            // A size with several elements per sample has no name.
            (0, _) if batched => proto::Dimension { value: None, parameter: None },
            _ => proto::Dimension { value: Some(size as i64), parameter: None },
        };
        let shape = Some(proto::Shape { dims: shape.into_iter().enumerate().map(dimension).collect() });
        let ty = proto::Type { tensor: Some(proto::TensorType { element, shape }) };
        proto::ValueInfo { name: name.into(), ty: Some(ty) }
    }
}

/// Codes of the types of attributes.
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
