//! From the file to the graph, node by node.
//!
//! Real values that codes stand for become nothing of the graph where an operator with a QuantizeLinear behind it takes
//! the codes instead: `DequantizeLinear -> Conv -> QuantizeLinear` is one quantized convolution, as ONNX Runtime fuses
//! them. What is left in float becomes operations on real values.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

use guardbit_graph::ops::{Dequantize, FloatUnary, Reshape, Transpose};
use guardbit_graph::{
    Brief, DType, Graph, GraphBuilder, GraphError, Op, OutputSpec, Quantization, TensorId, TensorType, plain_name, word_of,
};

use super::constant::Constant;
use super::error::{OnnxError, shown};
use super::inputs;
use super::node::{Node, normalized};
use super::value::{Dequantized, Located, Quant, Source, Value, graph_axis};
use super::{finish, folding, metadata, ops, proto};

/// A file being read.
pub(super) struct Network<'a> {
    pub builder: GraphBuilder,
    pub nodes: Vec<Node<'a>>,
    values: HashMap<String, Value>,
    /// Shapes that the file declares, with `None` for a size that is not fixed.
    declared: HashMap<&'a str, Vec<Option<usize>>>,
    /// Nodes that read a name.
    readers: HashMap<&'a str, Vec<usize>>,
    outputs: HashSet<&'a str>,
    opsets: HashMap<&'a str, i64>,
    /// Nodes that others took in.
    done: Vec<bool>,
    names: HashSet<String>,
    /// The last number of names that were taken.
    numbers: HashMap<String, usize>,
    /// How many elements of constants may still be computed.
    left: usize,
    /// What a tensor became in the other order of axes, and in float.
    moved: HashMap<TensorId, TensorId>,
    real: HashMap<TensorId, TensorId>,
    /// What codes became less a zero point that is computed.
    pub centered: HashMap<(TensorId, TensorId), TensorId>,
    /// Tensors that repeat the codes of another tensor with another scale or zero point.
    pub reread: HashMap<TensorId, TensorId>,
    /// Tensors that a user provides.
    pub inputs: HashSet<TensorId>,
}

/// Reads a model. Data outside of it lies in `dir`.
pub(super) fn read(model: &proto::Model, dir: Option<&Path>, name: &str) -> Result<Graph, OnnxError> {
    let format = |problem: &str| OnnxError::Format { problem: problem.into() };
    let graph = model.graph.as_ref().ok_or_else(|| format("has no graph"))?;
    if !model.functions.is_empty() {
        let function = shown(&model.functions[0].name);
        let problem = format!("defines the function `{function}`; functions have to be inlined before");
        return Err(OnnxError::Format { problem });
    }
    let mut network = Network::new(model, graph, name);
    network.check_opset()?;
    network.check_order()?;
    for tensor in &graph.initializers {
        let constant = Constant::read(tensor, dir)?;
        network.values.insert(tensor.name.clone(), Value::Constant(Rc::new(constant)));
    }
    network.constants()?;
    inputs::add(&mut network, graph)?;
    for index in 0..network.nodes.len() {
        if !network.done[index] {
            network.node(network.nodes[index])?;
        }
    }
    Ok(finish::finish(network, graph)?.with_metadata(metadata::read(model)))
}

impl<'a> Network<'a> {
    fn new(model: &'a proto::Model, graph: &'a proto::Graph, name: &str) -> Self {
        let nodes: Vec<Node<'a>> =
            graph.nodes.iter().enumerate().map(|(index, proto)| Node { proto, index }).collect();
        let mut readers: HashMap<&str, Vec<usize>> = HashMap::new();
        for node in &nodes {
            node.proto.inputs.iter().for_each(|input| readers.entry(input).or_default().push(node.index));
        }
        let opsets = model.opsets.iter().map(|opset| (normalized(&opset.domain), opset.version)).collect();
        Self {
            builder: GraphBuilder::new(name),
            done: vec![false; nodes.len()],
            nodes,
            values: HashMap::new(),
            declared: graph.outputs.iter().chain(&graph.values).filter_map(declared).collect(),
            readers,
            outputs: graph.outputs.iter().map(|output| output.name.as_str()).collect(),
            opsets,
            names: HashSet::new(),
            numbers: HashMap::new(),
            left: folding::MOST,
            moved: HashMap::new(),
            real: HashMap::new(),
            centered: HashMap::new(),
            reread: HashMap::new(),
            inputs: HashSet::new(),
        }
    }

    /// Fails if a node reads its own output or that of a later node. A Constant node may stand anywhere.
    fn check_order(&self) -> Result<(), OnnxError> {
        let makers = self.nodes.iter().filter(|node| node.proto.op != "Constant");
        let makers: HashMap<&str, usize> =
            makers.flat_map(|node| node.proto.outputs.iter().map(|name| (name.as_str(), node.index))).collect();
        for node in &self.nodes {
            let later = |name: &&String| makers.get(name.as_str()).is_some_and(|&maker| maker >= node.index);
            if let Some(name) = node.proto.inputs.iter().filter(|name| !name.is_empty()).find(later) {
                let problem = "before any node produces it; sort the nodes topologically";
                return Err(node.error(format!("reads `{}` {problem}", shown(name))));
            }
        }
        Ok(())
    }

    fn check_opset(&self) -> Result<(), OnnxError> {
        // Before it operands were broadcast as attributes said.
        const OLDEST: i64 = 7;
        match self.opsets.get("") {
            Some(&version) if version < OLDEST => {
                let problem = format!("is of opset {version}; {OLDEST} is the oldest that can be read");
                Err(OnnxError::Format { problem })
            }
            _ => Ok(()),
        }
    }

    /// Fails for operators of which an older opset has another form than those that are read.
    fn check_version(&self, node: Node<'a>) -> Result<(), OnnxError> {
        let (opset, op) = (self.opset(), node.operator());
        let since = match op.as_str() {
            "Slice" => 10,
            "Upsample" => 9,
            "BatchNormalization" if node.int("spatial", 1) == 0 => 9,
            _ => return Ok(()),
        };
        if opset >= since {
            return Ok(());
        }
        Err(node.error(format!("is that of opset {opset}; what can be read is that of {since} and newer")))
    }

    /// Reads the nodes that are constants before all others: an operator looks ahead at the scales of the quantizer behind it.
    fn constants(&mut self) -> Result<(), OnnxError> {
        for index in 0..self.nodes.len() {
            let node = self.nodes[index];
            if node.proto.op == "Constant" && node.operator() == "Constant" {
                self.node(node)?;
                self.done(index);
            }
        }
        Ok(())
    }

    /// The version of ONNX's own operators.
    pub fn opset(&self) -> i64 {
        self.opsets.get("").copied().unwrap_or(13)
    }

    fn node(&mut self, node: Node<'a>) -> Result<(), OnnxError> {
        if node.proto.outputs.iter().all(|output| !self.is_read(output)) {
            return Ok(());
        }
        self.check_version(node)?;
        if let Some(constants) = folding::fold(self, node)? {
            for (index, constant) in constants.into_iter().enumerate() {
                self.bind(node, index, Value::Constant(Rc::new(constant)))?;
            }
            return Ok(());
        }
        if let Some(codes) = folding::moved_codes(self, node)? {
            return self.bind(node, 0, Value::Dequantized(codes));
        }
        let Some(read) = ops::find(normalized(&node.proto.domain), &node.proto.op) else {
            return Err(OnnxError::UnsupportedOperator { operator: node.operator(), node: node.name() });
        };
        read(self, node)
    }

    /// Whether a name is read by a node, or is an output of the network.
    pub fn is_read(&self, name: &str) -> bool {
        self.readers.contains_key(name) || self.outputs.contains(name)
    }

    /// The nodes that read a name; none if it is an output of the network too.
    pub fn inner_readers(&self, name: &str) -> &[usize] {
        if self.outputs.contains(name) {
            return &[];
        }
        self.readers.get(name).map_or(&[], Vec::as_slice)
    }

    /// All nodes that read a name.
    pub fn readers(&self, name: &str) -> &[usize] {
        self.readers.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether a name is an output of the network.
    pub fn is_output(&self, name: &str) -> bool {
        self.outputs.contains(name)
    }

    /// Says that another node has done the work of this one.
    pub fn done(&mut self, index: usize) {
        self.done[index] = true;
    }

    /// Lets output `index` of a node stand for a value.
    pub fn bind(&mut self, node: Node<'a>, index: usize, value: Value) -> Result<(), OnnxError> {
        let Some(name) = node.output(index) else { return Ok(()) };
        self.bind_name(node, name, value)
    }

    /// Lets a name stand for a value.
    pub fn bind_name(&mut self, node: Node<'a>, name: &str, value: Value) -> Result<(), OnnxError> {
        self.check_shape(node, name, &value)?;
        self.count(node, &value)?;
        match self.values.insert(name.to_owned(), value) {
            None => Ok(()),
            Some(_) => Err(node.error(format!("makes `{}`, which is there already", shown(name)))),
        }
    }

    /// Counts the elements of a computed constant against the limit. A constant that is in use elsewhere takes no memory.
    fn count(&mut self, node: Node<'a>, value: &Value) -> Result<(), OnnxError> {
        let (Value::Constant(constant)
        | Value::Dequantized(Dequantized { source: Source::Constant(constant), .. })) = value
        else {
            return Ok(());
        };
        if Rc::strong_count(constant) == 1 {
            let left = self.left.checked_sub(constant.data.len());
            self.left = left.ok_or_else(|| {
                let most = folding::MOST;
                node.error(format!("computes a constant; computed constants exceed {most} elements in total"))
            })?;
        }
        Ok(())
    }

    /// Fails if the shape of a value contradicts the shape that the file declares. The first axis counts samples and may differ.
    fn check_shape(&self, node: Node<'a>, name: &str, value: &Value) -> Result<(), OnnxError> {
        let Some(declared) = self.declared.get(name) else { return Ok(()) };
        let shape = self.shape(value);
        // The graph represents a scalar as one axis of one element.
        let scalar = declared.is_empty() && shape.iter().all(|&size| size == 1);
        let same = |(axis, (size, wanted)): (usize, (&usize, &Option<usize>))| {
            axis == 0 || wanted.is_none_or(|wanted| wanted == *size)
        };
        if scalar || shape.len() == declared.len() && shape.iter().zip(declared).enumerate().all(same) {
            return Ok(());
        }
        let sizes: Vec<String> =
            declared.iter().map(|size| size.map_or("?".into(), |size| size.to_string())).collect();
        Err(node.error(format!(
            "produces `{}` with shape {}, but the file declares [{}]; repeat the shape inference of the file, or remove its \
             value_info",
            shown(name), Brief(&shape), sizes.join(", ")
        )))
    }

    /// Lets an input of the network stand for a value.
    pub fn bind_input(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    /// The value of a name, if it is known by now.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Input `index` of a node, if it has one.
    pub fn optional(&self, node: Node<'a>, index: usize) -> Result<Option<Value>, OnnxError> {
        let Some(name) = node.input(index) else { return Ok(None) };
        let value = self.values.get(name).cloned();
        let missing = || node.error(format!("reads `{}`, which nothing before it makes", shown(name)));
        value.map(Some).ok_or_else(missing)
    }

    /// Input `index` of a node.
    pub fn input(&self, node: Node<'a>, index: usize) -> Result<Value, OnnxError> {
        self.optional(node, index)?.ok_or_else(|| node.error(format!("lacks input {index}")))
    }

    /// Input `index` of a node, which must be a constant if it is there.
    pub fn optional_constant(&self, node: Node<'a>, index: usize) -> Result<Option<Rc<Constant>>, OnnxError> {
        match self.optional(node, index)? {
            None => Ok(None),
            Some(Value::Constant(constant)) => Ok(Some(constant)),
            Some(_) => {
                let name = shown(node.input(index).unwrap_or_default());
                Err(node.error(format!("input {index}, `{name}`, must be a constant")))
            }
        }
    }

    /// Input `index` of a node, which must be a constant.
    pub fn constant(&self, node: Node<'a>, index: usize) -> Result<Rc<Constant>, OnnxError> {
        self.optional_constant(node, index)?.ok_or_else(|| node.error(format!("lacks input {index}")))
    }

    /// Input `index` of a node as integers, which must be constant.
    pub fn integers(&self, node: Node<'a>, index: usize) -> Result<Vec<i64>, OnnxError> {
        let constant = self.constant(node, index)?;
        let integers = constant.as_integers().map(<[i64]>::to_vec);
        integers.ok_or_else(|| node.error(format!("input {index} must hold integers")))
    }

    /// The shape of a value, in the order of the file.
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

    /// The shape of a tensor, in the order of the file.
    pub fn shape_of(&self, at: Located) -> Vec<usize> {
        let shape = &self.builder.tensor(at.id).ty.shape;
        let rank = shape.len();
        (0..rank).map(|axis| shape[graph_axis(axis, rank, at.channels_last)]).collect()
    }

    /// A name that no tensor has: the first part that a tensor may have, and a number where it is taken.
    pub fn fresh(&mut self, name: &str) -> String {
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
        (dtype, quantization): (DType, Option<Quantization>),
    ) -> Result<TensorId, OnnxError> {
        let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
        let output = OutputSpec { name: self.fresh(name), dtype, quantization };
        self.builder.node(op, &inputs, output).map_err(|error| in_node(node, error))
    }

    /// Adds a node whose output has the type of a tensor that there is.
    pub fn emit_like(
        &mut self,
        node: Node<'a>,
        op: impl Into<Op>,
        inputs: &[TensorId],
        name: &str,
        like: TensorId,
    ) -> Result<TensorId, OnnxError> {
        let ty = &self.builder.tensor(like).ty;
        let ty = (ty.dtype, ty.quantization.clone());
        self.emit(node, op, inputs, name, ty)
    }

    /// Adds a constant of codes.
    pub fn codes(
        &mut self,
        node: Node<'a>,
        name: &str,
        ty: TensorType,
        codes: Vec<i32>,
    ) -> Result<TensorId, OnnxError> {
        let name = self.fresh(name);
        self.builder.constant(name, ty, codes).map_err(|error| in_node(node, error))
    }

    /// Adds a constant of real values.
    pub fn reals(&mut self, node: Node<'a>, name: &str, constant: &Constant) -> Result<TensorId, OnnxError> {
        let values =
            constant.as_reals().ok_or_else(|| node.error(format!("`{name}` must hold real numbers")))?;
        // A scalar is one element of one axis.
        let shape = if constant.shape.is_empty() { vec![1] } else { constant.shape.clone() };
        let ty = TensorType { shape, dtype: DType::Float32, quantization: None };
        self.codes(node, name, ty, values.iter().map(|&value| word_of(value)).collect())
    }

    /// A tensor with its axes in the order of the file, or with the channels last.
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
        let mut quantization = tensor.ty.quantization.clone();
        if let Some((q, axis)) = quantization.as_ref().and_then(|q| Some((q, q.axis()?))) {
            let to = permutation.iter().position(|&from| from == axis).unwrap_or(0);
            let moved = Quantization::per_axis(q.scales().to_vec(), q.zero_points().to_vec(), to);
            let range = q.range();
            quantization = moved.ok().map(|moved| match range {
                Some(range) => moved.with_range(range),
                None => moved,
            });
        }
        let dtype = tensor.ty.dtype;
        let name = format!("{}_{}", tensor.name, if channels_last { "nhwc" } else { "nchw" });
        let op = transposition(&self.builder.tensor(at.id).ty.shape, permutation);
        let id = self.emit(node, op, &[at.id], &name, (dtype, quantization))?;
        self.moved.insert(at.id, id);
        self.moved.insert(id, at.id);
        Ok(id)
    }

    /// The real values of a value, as a tensor of the graph or a constant.
    pub fn materialize(&mut self, node: Node<'a>, value: Value) -> Result<Value, OnnxError> {
        let dequantized = match value {
            Value::Dequantized(dequantized) => dequantized,
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
                let id = self.emit(node, Dequantize {}, &[at.id], &name, (DType::Float32, None))?;
                self.real.insert(at.id, id);
                id
            }
        };
        for (function, parameters) in dequantized.functions {
            let name = format!("{}_{}", self.builder.tensor(at.id).name, function.name());
            let op = FloatUnary { function, parameters };
            id = self.emit(node, op, &[id], &name, (DType::Float32, None))?;
        }
        Ok(Value::Real(Located { id, channels_last: at.channels_last }))
    }

    /// The real values of a value as a tensor with its axes in the order of the file, or with the channels last.
    pub fn real_tensor(
        &mut self,
        node: Node<'a>,
        value: Value,
        channels_last: bool,
    ) -> Result<TensorId, OnnxError> {
        let mut value = value;
        // Codes are moved, not their real values. Those with several scales lie along the same axis as before.
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

    /// The type of codes whose axes lie in some order.
    pub fn code_type(
        &self,
        node: Node<'a>,
        quant: &Quant,
        rank: usize,
        channels_last: bool,
    ) -> Result<(DType, Option<Quantization>), OnnxError> {
        let axis = quant.axis.map(|axis| graph_axis(axis, rank, channels_last));
        let quantization = quant.quantization(axis).map_err(|error| node.error(error.to_string()))?;
        Ok((quant.dtype, Some(quantization)))
    }
}

/// Name and shape of a tensor, if the file declares its shape.
fn declared(info: &proto::ValueInfo) -> Option<(&str, Vec<Option<usize>>)> {
    let shape = info.ty.as_ref()?.tensor.as_ref()?.shape.as_ref()?;
    let size = |dim: &proto::Dimension| usize::try_from(dim.value?).ok().filter(|&size| size > 0);
    Some((&info.name, shape.dims.iter().map(size).collect()))
}

/// A transpose; a reshape where only axes of size 1 move.
pub(super) fn transposition(shape: &[usize], permutation: Vec<usize>) -> Op {
    let kept = permutation.iter().filter(|&&axis| shape[axis] != 1);
    if kept.is_sorted() {
        return Reshape { shape: permutation.iter().map(|&axis| shape[axis] as i64).collect() }.into();
    }
    Transpose { permutation }.into()
}

/// Names the node in an error of the graph.
pub(super) fn in_node(node: Node<'_>, error: GraphError) -> OnnxError {
    let place = Some(format!("{} `{}`", node.operator(), node.name()));
    OnnxError::Graph { place, error: Box::new(error) }
}

/// An error of the graph as a whole.
pub(super) fn in_graph(error: GraphError) -> OnnxError {
    OnnxError::Graph { place: None, error: Box::new(error) }
}
