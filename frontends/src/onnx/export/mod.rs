//! Networks as ONNX files: QDQ, with the arithmetic that ONNX Runtime's fused kernels have.
//!
//! Every tensor of codes becomes a QuantizeLinear under its name and a DequantizeLinear behind it, every operation the
//! operator of ONNX between them. Images are `[n, c, h, w]` around convolutions and pools, so that reading the file gives
//! the network again.

mod ops;

use std::collections::{HashMap, HashSet};

use guardbit_graph::{Constant, DType, Graph, NodeId, Quantization, Tensor, TensorId, real_of};
use prost::Message;

use super::constant::permuted_places;
use super::proto::{self, element};

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
}

struct Writer<'g> {
    graph: &'g Graph,
    nodes: Vec<proto::Node>,
    initializers: Vec<proto::Tensor>,
    inputs: Vec<proto::ValueInfo>,
    /// Names of codes, and of real values, by their order.
    codes: HashMap<(TensorId, Order), String>,
    reals: HashMap<(TensorId, Order), String>,
    names: HashSet<String>,
}

impl<'g> Writer<'g> {
    fn new(graph: &'g Graph) -> Self {
        Self {
            graph,
            nodes: Vec::new(),
            initializers: Vec::new(),
            inputs: Vec::new(),
            codes: HashMap::new(),
            reals: HashMap::new(),
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
                self.quantize(id, &name, &codes, Order::Own)?;
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

    fn reals_constant(&mut self, name: &str, shape: &[usize], values: &[f32]) -> String {
        let name = self.fresh(name, "constant");
        self.initializers.push(proto::Tensor {
            name: name.clone(),
            dims: shape.iter().map(|&size| size as i64).collect(),
            data_type: element::FLOAT,
            raw_data: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            ..Default::default()
        });
        name
    }

    fn integers_constant(
        &mut self,
        name: &str,
        shape: &[usize],
        dtype: DType,
        values: &[i64],
    ) -> Result<String, ExportError> {
        let (number, bytes) = match dtype {
            DType::Int8 => (element::INT8, 1),
            DType::UInt8 => (element::UINT8, 1),
            DType::Int16 => (element::INT16, 2),
            DType::UInt16 => (element::UINT16, 2),
            DType::Int32 => (element::INT32, 4),
            DType::Int64 => (element::INT64, 8),
            other => {
                let problem = format!("is {other}; ONNX Runtime has quantized kernels for int8 and uint8");
                return Err(ExportError::Tensor { tensor: name.into(), problem });
            }
        };
        let name = self.fresh(name, "constant");
        self.initializers.push(proto::Tensor {
            name: name.clone(),
            dims: shape.iter().map(|&size| size as i64).collect(),
            data_type: number,
            raw_data: values.iter().flat_map(|value| value.to_le_bytes().into_iter().take(bytes)).collect(),
            ..Default::default()
        });
        Ok(name)
    }

    /// Names of the scale and the zero point of a tensor.
    fn scale(&mut self, tensor: &Tensor) -> Result<[String; 2], ExportError> {
        let Some(quantization) = &tensor.ty.quantization else {
            let problem = "has no scale".into();
            return Err(ExportError::Tensor { tensor: tensor.name.clone(), problem });
        };
        self.scale_of(&tensor.name, quantization, tensor.ty.dtype)
    }

    fn scale_of(
        &mut self,
        name: &str,
        quantization: &Quantization,
        dtype: DType,
    ) -> Result<[String; 2], ExportError> {
        let shape: &[usize] =
            if quantization.axis().is_some() { &[quantization.scales().len()] } else { &[] };
        let zero_points: Vec<i64> = quantization.zero_points().iter().map(|&z| z.into()).collect();
        Ok([
            self.reals_constant(name, shape, quantization.scales()),
            self.integers_constant(name, shape, dtype, &zero_points)?,
        ])
    }

    /// Codes of the real values `from`, under the name `to`.
    fn quantize(&mut self, id: TensorId, from: &str, to: &str, order: Order) -> Result<(), ExportError> {
        let tensor = self.graph.tensor(id);
        if tensor.ty.quantization.as_ref().is_some_and(|q| q.axis().is_some()) {
            let problem = "has several scales, which no quantized operator of ONNX makes".into();
            return Err(ExportError::Tensor { tensor: tensor.name.clone(), problem });
        }
        if let Some(range) = tensor.ty.quantization.as_ref().and_then(Quantization::range) {
            let problem = format!("has codes {range} alone; those of ONNX's types are all there");
            return Err(ExportError::Tensor { tensor: tensor.name.clone(), problem });
        }
        let [scale, zero_point] = self.scale(tensor)?;
        self.node("QuantizeLinear", vec![from.into(), scale, zero_point], to, Vec::new());
        self.codes.insert((id, order), to.into());
        Ok(())
    }

    /// The name of the real values of a tensor, with its axes in some order.
    fn real(&mut self, id: TensorId, order: Order) -> Result<String, ExportError> {
        if let Some(name) = self.reals.get(&(id, order)) {
            return Ok(name.clone());
        }
        let tensor = self.graph.tensor(id);
        let name = match (&tensor.constant, tensor.ty.dtype.is_float()) {
            (Some(_), true) => self.real_constant(tensor, order)?,
            (Some(_), false) => self.code_constant(tensor, order)?,
            (None, true) => {
                let from = self.real(id, order.other())?;
                let to = self.fresh(&tensor.name, "moved");
                self.transpose(&from, &to, order, tensor.ty.shape.len());
                to
            }
            (None, false) => {
                let codes = self.codes_in(id, order)?;
                let [scale, zero_point] = self.scale(tensor)?;
                let to = self.fresh(&codes, "real");
                self.node("DequantizeLinear", vec![codes, scale, zero_point], &to, Vec::new());
                to
            }
        };
        self.reals.insert((id, order), name.clone());
        Ok(name)
    }

    /// The name of the codes of a tensor, with its axes in some order.
    fn codes_in(&mut self, id: TensorId, order: Order) -> Result<String, ExportError> {
        if let Some(name) = self.codes.get(&(id, order)) {
            return Ok(name.clone());
        }
        let tensor = self.graph.tensor(id);
        if !self.codes.contains_key(&(id, order.other())) {
            let problem = "is read before it is made".into();
            return Err(ExportError::Tensor { tensor: tensor.name.clone(), problem });
        }
        let from = self.real(id, order.other())?;
        let moved = self.fresh(&tensor.name, "moved");
        self.transpose(&from, &moved, order, tensor.ty.shape.len());
        let to = self.fresh(&tensor.name, if order == Order::Own { "nhwc" } else { "nchw" });
        self.quantize(id, &moved, &to, order)?;
        Ok(to)
    }

    fn transpose(&mut self, from: &str, to: &str, order: Order, rank: usize) {
        let axes = order.permutation(rank).into_iter().map(|axis| axis as i64).collect();
        self.node("Transpose", vec![from.into()], to, vec![ints("perm", axes)]);
    }

    fn real_constant(&mut self, tensor: &Tensor, order: Order) -> Result<String, ExportError> {
        let words = tensor.codes().map(|codes| codes.to_vec()).unwrap_or_default();
        let (shape, words) = ordered(&tensor.ty.shape, &words, order);
        let values: Vec<f32> = words.into_iter().map(real_of).collect();
        Ok(self.reals_constant(&tensor.name, &shape, &values))
    }

    fn code_constant(&mut self, tensor: &Tensor, order: Order) -> Result<String, ExportError> {
        let codes = tensor.constant.as_ref().map(Constant::wide).unwrap_or_default();
        let (shape, codes) = ordered(&tensor.ty.shape, &codes, order);
        let name = self.integers_constant(&tensor.name, &shape, tensor.ty.dtype, &codes)?;
        let [scale, zero_point] = self.scale(tensor)?;
        let to = self.fresh(&tensor.name, "real");
        self.node("DequantizeLinear", vec![name, scale, zero_point], &to, Vec::new());
        Ok(to)
    }

    /// Lets real values be the output of a node: under its name, or codes of them.
    fn result(&mut self, id: NodeId, real: &str, order: Order) -> Result<(), ExportError> {
        let output = self.graph.node(id).output;
        let tensor = self.graph.tensor(output);
        if tensor.ty.dtype.is_float() {
            self.reals.insert((output, order), real.into());
            return Ok(());
        }
        let name = tensor.name.clone();
        self.quantize(output, real, &name, order)
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
        };
        let model = proto::Model {
            ir_version: 10,
            producer: PRODUCER.into(),
            opsets: vec![proto::Opset { domain: String::new(), version: 21 }],
            graph: Some(graph),
            functions: Vec::new(),
        };
        Ok(model.encode_to_vec())
    }
}

/// A constant with its axes in some order.
fn ordered<T: Copy>(shape: &[usize], values: &[T], order: Order) -> (Vec<usize>, Vec<T>) {
    if order == Order::Own || shape.len() < 3 {
        return (shape.to_vec(), values.to_vec());
    }
    permuted(shape, values, &order.permutation(shape.len()))
}

/// A constant with its axes in another order.
fn permuted<T: Copy>(shape: &[usize], values: &[T], axes: &[usize]) -> (Vec<usize>, Vec<T>) {
    let sizes = axes.iter().map(|&axis| shape[axis]).collect();
    (sizes, permuted_places(shape, axes).map(|at| values[at]).collect())
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
