//! The network while its operators are recognised.
//!
//! Real values of codes do not become tensors of the graph if an operator followed by a QuantizeLinear reads the
//! codes instead: `DequantizeLinear -> Conv -> QuantizeLinear` is one quantized convolution, as ONNX Runtime fuses
//! them. Everything else becomes operations on real values.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use guardbit_graph::ops::{Dequantize, FloatBinary, FloatCast, FloatUnary, RealPair, Reshape, Transpose};
use guardbit_graph::{
    Brief, DType, FileNode, FileOutcome, GraphBuilder, GraphError, Integers, Op, OutputSpec, Tensor,
    TensorId, TensorType, plain_name, word_of,
};

use super::value::{Coding, Dequantized, Located, Source, Value, graph_axis};
use crate::onnx::error::{OnnxError, shown};
use crate::onnx::normalise::known::{Fixed, Known};
use crate::onnx::normalise::quant::Quant;
use crate::onnx::parse::File;
use crate::onnx::parse::constant::Constant;
use crate::onnx::parse::node::Node;
use crate::onnx::parse::proto;

/// A network that is being recognised.
pub(in crate::onnx) struct Network<'a> {
    pub builder: GraphBuilder,
    pub nodes: Vec<Node<'a>>,
    pub known: &'a Known,
    values: HashMap<String, Value>,
    /// Nodes that read a name.
    readers: HashMap<&'a str, Vec<usize>>,
    outputs: HashSet<&'a str>,
    /// Codes whose real values are an output of the file, with the name of the output.
    of_outputs: HashMap<&'a str, &'a str>,
    /// Whether another node includes a node.
    done: Vec<bool>,
    /// The outcome of each node so far, and the node being read.
    became: Vec<Option<FileOutcome>>,
    current: Option<usize>,
    names: HashSet<String>,
    /// The last number that was appended to a name.
    numbers: HashMap<String, usize>,
    /// Each tensor in the other order of axes, and in float.
    pub moved: HashMap<TensorId, TensorId>,
    real: HashMap<TensorId, TensorId>,
    /// Codes minus a computed zero point, by codes and zero point.
    pub centered: HashMap<(TensorId, TensorId), TensorId>,
    /// Tensors that repeat the codes of another tensor with another scale or zero point.
    pub reread: HashMap<TensorId, TensorId>,
    /// Tensors that a user provides.
    pub inputs: HashSet<TensorId>,
}

/// Maps the codes of QuantizeLinear nodes to outputs of the file.
///
/// An entry exists if a DequantizeLinear with equal scale and zero point computes an output from codes that are not
/// outputs themselves.
fn codes_of_outputs<'a>(file: &'a File, known: &Known) -> HashMap<&'a str, &'a str> {
    let outputs: HashSet<&str> = file.outputs.iter().map(|output| output.name.as_str()).collect();
    let quantizers = file.nodes.iter().filter(|node| node.op == "QuantizeLinear");
    let makers: HashMap<&str, &proto::Node> =
        quantizers.filter_map(|node| Some((node.outputs.first()?.as_str(), node))).collect();
    // Only constants with one number are compared.
    let number = |name: &String| match known.constants.get(name) {
        Some(Fixed::Array(constant)) if constant.data.len() == 1 => Some(constant),
        _ => None,
    };
    let same = |(a, b): (&String, &String)| {
        a == b || number(a).zip(number(b)).is_some_and(|(a, b)| a.element == b.element && a.data == b.data)
    };
    let mut found = HashMap::new();
    for node in file.nodes.iter().filter(|node| node.op == "DequantizeLinear") {
        if let (Some(codes), Some(real)) = (node.inputs.first(), node.outputs.first())
            && outputs.contains(real.as_str())
            && !outputs.contains(codes.as_str())
            && let Some(maker) = makers.get(codes.as_str())
            && node.inputs.len() == maker.inputs.len()
            && node.inputs.iter().zip(&maker.inputs).skip(1).all(same)
        {
            found.insert(codes.as_str(), real.as_str());
        }
    }
    found
}

impl<'a> Network<'a> {
    pub fn new(file: &'a File, known: &'a Known, name: &str) -> Self {
        let nodes: Vec<Node<'a>> =
            file.nodes.iter().enumerate().map(|(index, proto)| Node { proto, index }).collect();
        let mut readers: HashMap<&str, Vec<usize>> = HashMap::new();
        for node in &nodes {
            node.proto.inputs.iter().for_each(|input| readers.entry(input).or_default().push(node.index));
        }
        let value = |fixed: &Fixed| match fixed {
            Fixed::Array(constant) => Value::Constant(Rc::clone(constant)),
            Fixed::Codes(codes, quant) => {
                Value::Dequantized(Dequantized::new(Source::Constant(Rc::clone(codes)), quant.clone()))
            }
        };
        Self {
            builder: GraphBuilder::new(name),
            done: vec![false; nodes.len()],
            became: vec![None; nodes.len()],
            current: None,
            nodes,
            known,
            values: known.constants.iter().map(|(name, fixed)| (name.clone(), value(fixed))).collect(),
            readers,
            outputs: file.outputs.iter().map(|output| output.name.as_str()).collect(),
            of_outputs: codes_of_outputs(file, known),
            names: HashSet::new(),
            numbers: HashMap::new(),
            moved: HashMap::new(),
            real: HashMap::new(),
            centered: HashMap::new(),
            reread: HashMap::new(),
            inputs: HashSet::new(),
        }
    }

    /// Reads a node with `read`, and records its outcome.
    pub fn read_by(
        &mut self,
        node: Node<'a>,
        read: impl FnOnce(&mut Self, Node<'a>) -> Result<(), OnnxError>,
    ) -> Result<(), OnnxError> {
        let from = self.builder.node_count();
        self.current = Some(node.index);
        read(self, node)?;
        self.current = None;
        let made = self.builder.names_from(from);
        let became = &mut self.became[node.index];
        if became.is_none() || !made.is_empty() {
            *became = Some(FileOutcome::Read(made));
        }
        Ok(())
    }

    /// Adds the outcome of every node of a file to the graph.
    pub fn record(&mut self, file: &File) {
        let outcomes = std::mem::take(&mut self.became)
            .into_iter()
            .map(|outcome| outcome.unwrap_or(FileOutcome::Unread));
        let nodes = self.nodes.iter().zip(outcomes).map(|(node, outcome)| node.record(outcome));
        let mut records: Vec<(usize, FileNode)> = file.places.iter().copied().zip(nodes).collect();
        records.extend(file.left_out.iter().cloned());
        records.sort_by_key(|(place, _)| *place);
        records.into_iter().for_each(|(_, record)| self.builder.file_node(record));
    }

    /// Returns whether another node includes node `index`.
    pub fn is_done(&self, index: usize) -> bool {
        self.done[index]
    }

    /// Returns whether a node reads a name, or the name is an output of the network.
    pub fn is_read(&self, name: &str) -> bool {
        self.readers.contains_key(name) || self.outputs.contains(name)
    }

    /// Returns the nodes that read a name. Empty if it is also an output of the network.
    pub fn inner_readers(&self, name: &str) -> &[usize] {
        if self.outputs.contains(name) {
            return &[];
        }
        self.readers.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns all nodes that read a name.
    pub fn readers(&self, name: &str) -> &[usize] {
        self.readers.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns whether a name is an output of the network.
    pub fn is_output(&self, name: &str) -> bool {
        self.outputs.contains(name)
    }

    /// Records that the current node includes node `index`.
    pub fn done(&mut self, index: usize) {
        self.done[index] = true;
        if self.became[index].is_none() {
            let by = self.current.map(|by| FileOutcome::TakenIn(self.nodes[by].name()));
            self.became[index] = Some(by.unwrap_or(FileOutcome::OfInput));
        }
    }

    /// Binds output `index` of a node to a value.
    pub fn bind(&mut self, node: Node<'a>, index: usize, value: Value) -> Result<(), OnnxError> {
        let Some(name) = node.output(index) else { return Ok(()) };
        self.bind_name(node, name, value)
    }

    /// Binds a name to a value.
    pub fn bind_name(&mut self, node: Node<'a>, name: &str, value: Value) -> Result<(), OnnxError> {
        self.check_shape(node, name, &value)?;
        match self.values.insert(name.to_owned(), value) {
            None => Ok(()),
            Some(_) => Err(node.error(format!("produces `{}`, which already exists", shown(name)))),
        }
    }

    /// Fails if the shape of a value differs from the shape inferred from the file.
    fn check_shape(&self, node: Node<'a>, name: &str, value: &Value) -> Result<(), OnnxError> {
        let (shape, Some(wanted)) = (self.shape(value), self.known.shapes.get(name)) else { return Ok(()) };
        // The graph represents a scalar as one axis with one element.
        if shape == *wanted || wanted.is_empty() && shape == [1] {
            return Ok(());
        }
        Err(node.error(format!(
            "produces `{}` with shape {}, but by the rules of ONNX, or by the file, it is {}",
            shown(name),
            Brief(&shape),
            Brief(wanted)
        )))
    }

    /// Binds an input of the network to a value.
    pub fn bind_input(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    /// Returns the value of a name if it is already known.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Returns input `index` of a node, if it has one.
    pub fn optional(&self, node: Node<'a>, index: usize) -> Result<Option<Value>, OnnxError> {
        let Some(name) = node.input(index) else { return Ok(None) };
        let value = self.values.get(name).cloned();
        let missing = || node.error(format!("reads `{}`, which nothing before it produces", shown(name)));
        value.map(Some).ok_or_else(missing)
    }

    /// Returns input `index` of a node.
    pub fn input(&self, node: Node<'a>, index: usize) -> Result<Value, OnnxError> {
        self.optional(node, index)?.ok_or_else(|| node.error(format!("lacks input {index}")))
    }

    /// Returns the shape of a value, in the order of the file.
    pub fn shape(&self, value: &Value) -> Vec<usize> {
        match value {
            Value::Constant(constant) => constant.shape.clone(),
            Value::Real(at) | Value::Codes(at) => self.shape_of(*at),
            Value::Dequantized(Dequantized { source: Source::Constant(constant), .. }) => {
                constant.shape.clone()
            }
            Value::Dequantized(Dequantized { source: Source::Tensor(at), .. }) => self.shape_of(*at),
        }
    }

    /// Returns the shape of a tensor, in the order of the file.
    pub fn shape_of(&self, at: Located) -> Vec<usize> {
        let shape = &self.builder.tensor(at.id).ty.shape;
        let rank = shape.len();
        (0..rank).map(|axis| shape[graph_axis(axis, rank, at.channels_last)]).collect()
    }

    /// Returns an unused name: a valid form of `name`, with a number if it is taken.
    pub fn fresh(&mut self, name: &str) -> String {
        let name = self.of_outputs.get(name).copied().unwrap_or(name);
        let base = plain_name(name).into_owned();
        let base = if base.is_empty() { "tensor".to_owned() } else { base };
        let mut fresh = base.clone();
        while !self.names.insert(fresh.clone()) {
            let number = self.numbers.entry(base.clone()).or_insert(1);
            *number += 1;
            fresh = format!("{base}#{number}");
        }
        fresh
    }

    /// Adds a node to the graph.
    pub fn emit(
        &mut self,
        node: Node<'a>,
        op: impl Into<Op>,
        inputs: &[TensorId],
        name: &str,
        Coding { dtype, quantization }: Coding,
    ) -> Result<TensorId, OnnxError> {
        let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
        let output = OutputSpec { name: self.fresh(name), dtype, quantization };
        self.builder.node(op, &inputs, output).map_err(|error| in_node(node, error))
    }

    /// Adds a node whose output has the type of an existing tensor.
    pub fn emit_like(
        &mut self,
        node: Node<'a>,
        op: impl Into<Op>,
        inputs: &[TensorId],
        name: &str,
        like: TensorId,
    ) -> Result<TensorId, OnnxError> {
        let ty = &self.builder.tensor(like).ty;
        let coding = Coding { dtype: ty.dtype, quantization: ty.quantization.clone() };
        self.emit(node, op, inputs, name, coding)
    }

    /// Adds a constant of codes.
    pub fn codes(
        &mut self,
        node: Node<'a>,
        name: &str,
        ty: TensorType,
        codes: impl Into<Integers>,
    ) -> Result<TensorId, OnnxError> {
        let name = self.fresh(name);
        self.builder.packed_constant(name, ty, codes.into()).map_err(|error| in_node(node, error))
    }

    /// Adds a constant of real values.
    pub fn reals(&mut self, node: Node<'a>, name: &str, constant: &Constant) -> Result<TensorId, OnnxError> {
        let values =
            constant.as_reals().ok_or_else(|| node.error(format!("`{name}` must hold real numbers")))?;
        // The graph represents a scalar as one axis with one element.
        let shape = if constant.shape.is_empty() { vec![1] } else { constant.shape.clone() };
        let ty = TensorType { shape, dtype: DType::Float32, quantization: None };
        let id =
            self.codes(node, name, ty, values.iter().map(|&value| word_of(value)).collect::<Vec<_>>())?;
        if constant.of_codes {
            let name = self.builder.tensor(id).name.clone();
            self.builder.note_real_of_codes(name);
        }
        Ok(id)
    }

    /// Returns a tensor with its axes in the order of the file, or with the channels last.
    pub fn in_order(
        &mut self,
        node: Node<'a>,
        at: Located,
        channels_last: bool,
    ) -> Result<TensorId, OnnxError> {
        let tensor = self.builder.tensor(at.id);
        let rank = tensor.ty.shape.len();
        if at.channels_last == channels_last || rank < 3 {
            return Ok(at.id);
        }
        if let Some(&id) = self.moved.get(&at.id) {
            return Ok(id);
        }
        let permutation: Vec<usize> = match channels_last {
            true => std::iter::once(0).chain(2..rank).chain([1]).collect(),
            false => [0, rank - 1].into_iter().chain(1..rank - 1).collect(),
        };
        let quantization = tensor.ty.quantization.clone();
        if let Some(scales) = quantization.as_ref().filter(|q| q.axis().is_some()).map(|q| q.scales().len()) {
            let problem =
                format!("has {scales} scales for the codes of `{}`; activations need one scale", tensor.name);
            return Err(node.error(problem));
        }
        let dtype = tensor.ty.dtype;
        let name = format!("{}_{}", tensor.name, if channels_last { "nhwc" } else { "nchw" });
        let op = transposition(&self.builder.tensor(at.id).ty.shape, permutation);
        let id = self.emit(node, op, &[at.id], &name, Coding { dtype, quantization })?;
        self.moved.insert(at.id, id);
        self.moved.insert(id, at.id);
        Ok(id)
    }

    /// Returns the real values of a value, as a tensor of the graph or a constant.
    pub fn materialize(&mut self, node: Node<'a>, value: Value) -> Result<Value, OnnxError> {
        let dequantized = match value {
            Value::Dequantized(dequantized) => dequantized,
            Value::Codes(at) if self.builder.tensor(at.id).ty.dtype.is_short_float() => {
                let name = format!("{}_real", self.builder.tensor(at.id).name);
                return self.reals_of(node, at, &name);
            }
            Value::Codes(_) => return Err(node.error("reads codes; it works on real values")),
            Value::Constant(constant) if constant.as_reals().is_none() => {
                return Err(node.error("reads a constant of integers; it works on real values"));
            }
            other => return Ok(other),
        };
        let at = match &dequantized.source {
            Source::Constant(constant) => {
                return Ok(Value::Constant(Rc::new(dequantized.constant(node, constant)?)));
            }
            Source::Tensor(at) => *at,
        };
        let mut id = match self.real.get(&at.id) {
            Some(&id) => id,
            None => {
                let name = format!("{}_real", self.builder.tensor(at.id).name);
                let id = self.emit(node, Dequantize {}, &[at.id], &name, Coding::REAL)?;
                self.real.insert(at.id, id);
                id
            }
        };
        for (function, parameters) in dequantized.functions {
            let name = format!("{}_{}", self.builder.tensor(at.id).name, function.name());
            let op = FloatUnary { function, parameters };
            id = self.emit(node, op, &[id], &name, Coding::REAL)?;
        }
        Ok(Value::Real(Located { id, channels_last: at.channels_last }))
    }

    /// Returns the real values of floating-point codes.
    pub fn reals_of(&mut self, node: Node<'a>, at: Located, name: &str) -> Result<Value, OnnxError> {
        self.converted(at, name).map(Value::Real).map_err(|error| in_node(node, error))
    }

    /// Returns the real values of an input of 16 bits, on which operators work in float32.
    pub fn reals_of_input(&mut self, at: Located) -> Result<Value, OnnxError> {
        let Tensor { name, ty, .. } = self.builder.tensor(at.id);
        let (name, dtype) = (name.clone(), ty.dtype);
        let real = self.converted(at, &format!("{name}_real")).map_err(in_graph)?;
        self.builder.note(name, format!("values are of type {dtype}; operators on them work in float32"));
        Ok(Value::Real(real))
    }

    fn converted(&mut self, at: Located, name: &str) -> Result<Located, GraphError> {
        if let Some(&id) = self.real.get(&at.id) {
            return Ok(Located { id, ..at });
        }
        let output = OutputSpec { name: self.fresh(name), dtype: DType::Float32, quantization: None };
        let id = self.builder.node(FloatCast { saturate: false }, &[Some(at.id)], output)?;
        self.real.insert(at.id, id);
        Ok(Located { id, ..at })
    }

    /// Returns the real values of a value as a tensor with its axes in the order of the file, or with the channels
    /// last.
    pub fn real_tensor(
        &mut self,
        node: Node<'a>,
        value: Value,
        channels_last: bool,
    ) -> Result<TensorId, OnnxError> {
        let mut value = value;
        // Moves codes before they are dequantized. Codes with several scales keep their axis.
        if let Value::Dequantized(Dequantized { source: Source::Tensor(at), quant, .. }) = &mut value
            && quant.single().is_some()
        {
            *at = Located { id: self.in_order(node, *at, channels_last)?, channels_last };
        }
        match self.materialize(node, value)? {
            Value::Real(at) => self.in_order(node, at, channels_last),
            Value::Constant(constant) => {
                let rank = constant.shape.len();
                let name = format!("{}_constant", node.name());
                if channels_last && rank >= 3 {
                    let axes: Vec<usize> = std::iter::once(0).chain(2..rank).chain([1]).collect();
                    return self.reals(node, &name, &constant.permuted(&axes));
                }
                self.reals(node, &name, &constant)
            }
            _ => Err(node.error("works on real values")),
        }
    }

    /// Returns the real values of an operand of a product as a tensor, in the order of [`real_tensor`](Self::real_tensor).
    ///
    /// Values of constant floating-point codes become codes, a conversion and a multiplication, because accelerators
    /// multiply the codes.
    pub fn real_operand(
        &mut self,
        node: Node<'a>,
        value: Value,
        channels_last: bool,
    ) -> Result<TensorId, OnnxError> {
        let constant = match &value {
            Value::Constant(constant) if constant.floats.is_some() => constant,
            _ => return self.real_tensor(node, value, channels_last),
        };
        let rank = constant.shape.len();
        let axes: Vec<usize> = match channels_last && rank >= 3 {
            true => std::iter::once(0).chain(2..rank).chain([1]).collect(),
            false => (0..rank).collect(),
        };
        let constant = constant.permuted(&axes);
        let Some(floats) = &constant.floats else { return self.real_tensor(node, value, channels_last) };
        let (name, dtype) = (format!("{}_constant", node.name()), floats.dtype);
        let shape = if constant.shape.is_empty() { vec![1] } else { constant.shape.clone() };
        let ty = TensorType { shape, dtype, quantization: None };
        let codes = self.codes(node, &format!("{name}_codes"), ty, floats.codes.clone())?;
        let own = format!("{name}_values");
        let values = self.emit(node, FloatCast { saturate: false }, &[codes], &own, Coding::REAL)?;
        if floats.is_plain() {
            return Ok(values);
        }
        let scales = self.reals(node, &format!("{name}_by"), &floats.scales)?;
        let op = FloatBinary { function: RealPair::Mul };
        self.emit(node, op, &[values, scales], &name, Coding::REAL)
    }

    /// Returns the type of codes with the axes in the given order.
    pub fn code_type(
        &self,
        node: Node<'a>,
        quant: &Quant,
        rank: usize,
        channels_last: bool,
    ) -> Result<Coding, OnnxError> {
        let axis = quant.axis.map(|axis| graph_axis(axis, rank, channels_last));
        let quantization = quant.quantization(axis).map_err(|error| node.error(error.to_string()))?;
        Ok(Coding { dtype: quant.dtype, quantization: Some(quantization) })
    }
}

/// Returns a transpose, or a reshape if only axes of size 1 move.
pub(in crate::onnx) fn transposition(shape: &[usize], permutation: Vec<usize>) -> Op {
    let kept = permutation.iter().filter(|&&axis| shape[axis] != 1);
    if kept.is_sorted() {
        return Reshape { shape: permutation.iter().map(|&axis| shape[axis] as i64).collect() }.into();
    }
    Transpose { permutation }.into()
}

/// Returns the axis of the graph that corresponds to axis `axis` of the file.
pub(in crate::onnx) fn axis_of(network: &Network<'_>, at: Located, axis: usize) -> usize {
    graph_axis(axis, network.builder.tensor(at.id).ty.shape.len(), at.channels_last)
}

/// Returns an error of the graph that names the node.
pub(in crate::onnx) fn in_node(node: Node<'_>, error: GraphError) -> OnnxError {
    let place = Some(format!("{} `{}`", node.operator(), node.name()));
    OnnxError::Graph { place, error: Box::new(error) }
}

/// Returns an error of the graph as a whole.
pub(in crate::onnx) fn in_graph(error: GraphError) -> OnnxError {
    OnnxError::Graph { place: None, error: Box::new(error) }
}
