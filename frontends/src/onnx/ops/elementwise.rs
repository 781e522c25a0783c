//! Operators on single elements and on pairs of elements.

use std::rc::Rc;

use guardbit_graph::ops::{FloatBinary, FloatUnary, QLinearAdd, QLinearMul, RealFunction, RealPair};
use guardbit_graph::{DType, Op, TensorId, TensorType};

use super::follow::{Follow, follow};
use super::quantize::check_codes;
use crate::onnx::constant::Constant;
use crate::onnx::error::OnnxError;
use crate::onnx::network::Network;
use crate::onnx::node::Node;
use crate::onnx::value::{Dequantized, Located, Quant, Source, Value};

/// Attributes that are parameters of a function, with their defaults.
pub(crate) type Parameters = &'static [(&'static str, f32)];

/// Name, function, and its parameters.
type Unary = (&'static str, RealFunction, Parameters);

/// Operators of one real value.
const UNARY: &[Unary] = &[
    ("Abs", RealFunction::Abs, &[]),
    ("Ceil", RealFunction::Ceil, &[]),
    ("Cos", RealFunction::Cos, &[]),
    ("Elu", RealFunction::Elu, &[("alpha", 1.0)]),
    ("Erf", RealFunction::Erf, &[]),
    ("Exp", RealFunction::Exp, &[]),
    ("Floor", RealFunction::Floor, &[]),
    ("HardSigmoid", RealFunction::HardSigmoid, &[("alpha", 0.2), ("beta", 0.5)]),
    ("HardSwish", RealFunction::HardSwish, &[]),
    ("LeakyRelu", RealFunction::LeakyRelu, &[("alpha", 0.01)]),
    ("Log", RealFunction::Log, &[]),
    ("Mish", RealFunction::Mish, &[]),
    ("Neg", RealFunction::Neg, &[]),
    ("Reciprocal", RealFunction::Reciprocal, &[]),
    ("Relu", RealFunction::Relu, &[]),
    ("Round", RealFunction::Round, &[]),
    ("Selu", RealFunction::Selu, &[("alpha", 1.673_263_2), ("gamma", 1.050_701)]),
    ("Sigmoid", RealFunction::Sigmoid, &[]),
    ("Sign", RealFunction::Sign, &[]),
    ("Sin", RealFunction::Sin, &[]),
    ("Softplus", RealFunction::Softplus, &[]),
    ("Softsign", RealFunction::Softsign, &[]),
    ("Sqrt", RealFunction::Sqrt, &[]),
    ("Tanh", RealFunction::Tanh, &[]),
    ("ThresholdedRelu", RealFunction::ThresholdedRelu, &[("alpha", 1.0)]),
];

/// Whether an operator of ONNX is a function of single elements.
pub(super) fn is_unary(op: &str) -> bool {
    UNARY.iter().any(|(name, ..)| *name == op)
}

/// The operator that is a function of single elements.
pub(crate) fn unary_of(function: RealFunction) -> Option<(&'static str, Parameters)> {
    let found = UNARY.iter().find(|(_, of, _)| *of == function);
    found.map(|(name, _, parameters)| (*name, *parameters))
}

/// The names of these operators.
pub(super) fn unary_names() -> impl Iterator<Item = &'static str> {
    UNARY.iter().map(|(name, ..)| *name)
}

pub(super) fn unary<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let found = UNARY.iter().find(|(name, ..)| *name == node.proto.op);
    let (_, function, parameters) = found.ok_or_else(|| node.error("cannot be read"))?;
    let parameters = parameters.iter().map(|(name, default)| node.float(name, *default)).collect();
    map(network, node, *function, parameters)
}

pub(super) fn gelu<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let tanh = node.text("approximate", "none") == "tanh";
    map(network, node, if tanh { RealFunction::GeluTanh } else { RealFunction::Gelu }, vec![])
}

/// Lets the output be a function of the first input.
pub(super) fn map<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    function: RealFunction,
    parameters: Vec<f32>,
) -> Result<(), OnnxError> {
    const MOST: usize = 16;
    let mut value = network.input(node, 0)?;
    if matches!(&value, Value::Dequantized(d) if d.functions.len() >= MOST) {
        value = network.materialize(node, value)?;
    }
    let value = match value {
        Value::Dequantized(mut dequantized) => {
            dequantized.functions.push((function, parameters));
            Value::Dequantized(dequantized)
        }
        Value::Constant(constant) => {
            let values = constant.as_reals().ok_or_else(|| node.error("works on real values"))?;
            let values = values.iter().map(|&x| function.apply(x, &parameters)).collect();
            Value::Constant(Rc::new(Constant::reals(constant.shape.clone(), values)))
        }
        Value::Real(at) => Value::Real(apply(network, node, at, function, parameters, node.first_output()?)?),
        Value::Codes(_) => return Err(node.error("reads codes; it works on real values")),
    };
    network.bind(node, 0, value)
}

/// Adds a function of real values in the graph.
pub(super) fn apply<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    at: Located,
    function: RealFunction,
    parameters: Vec<f32>,
    name: &str,
) -> Result<Located, OnnxError> {
    let id =
        network.emit(node, FloatUnary { function, parameters }, &[at.id], name, (DType::Float32, None))?;
    Ok(Located { id, ..at })
}

pub(super) fn add<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (a, b) = (network.input(node, 0)?, network.input(node, 1)?);
    let follow = follow(network, node)?;
    quantized_pair(network, node, [a, b], follow, RealPair::Add)
}

pub(super) fn mul<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (a, b) = (network.input(node, 0)?, network.input(node, 1)?);
    if let Some(product) = silu(&a, &b).or_else(|| silu(&b, &a)) {
        return network.bind(node, 0, product);
    }
    let follow = follow(network, node)?;
    quantized_pair(network, node, [a, b], follow, RealPair::Mul)
}

/// `x * sigmoid(x)` of codes as one function of them.
fn silu(x: &Value, sigmoid: &Value) -> Option<Value> {
    let (Value::Dequantized(x), Value::Dequantized(sigmoid)) = (x, sigmoid) else { return None };
    let (Source::Tensor(a), Source::Tensor(b)) = (&x.source, &sigmoid.source) else { return None };
    let [first @ .., (RealFunction::Sigmoid, _)] = sigmoid.functions.as_slice() else { return None };
    let same = a == b && x.quant == sigmoid.quant && x.functions == first;
    let functions = [&x.functions[..], &[(RealFunction::Silu, Vec::new())]].concat();
    same.then(|| Value::Dequantized(Dequantized { functions, ..x.clone() }))
}

/// A factor for values below 0, one or several.
pub(super) fn prelu<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let slope = network.input(node, 1)?;
    let Value::Constant(slope) = network.materialize(node, slope)? else {
        return Err(node.error("needs constant slopes"));
    };
    if let Some(&[slope]) = slope.as_reals() {
        return map(network, node, RealFunction::LeakyRelu, vec![slope]);
    }
    let (value, name) = (network.input(node, 0)?, node.first_output()?.to_owned());
    let Value::Real(x) = network.materialize(node, value)? else {
        return Err(node.error("works on a constant"));
    };
    let above = apply(network, node, x, RealFunction::Relu, vec![], &format!("{name}_above"))?;
    let limits = vec![f32::NEG_INFINITY, 0.0];
    let below = apply(network, node, x, RealFunction::Clip, limits, &format!("{name}_below"))?;
    let below = by_constant(network, node, below, &slope, RealPair::Mul, &format!("{name}_scaled"))?;
    real_pair(network, node, [Value::Real(above), Value::Real(below)], RealPair::Add)
}

/// Sums, means and extremes of any number of tensors.
pub(super) fn variadic<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let function = match node.proto.op.as_str() {
        "Max" => RealPair::Maximum,
        "Min" => RealPair::Minimum,
        _ => RealPair::Add,
    };
    let count = node.proto.inputs.len();
    let values = (0..count).map(|index| network.input(node, index)).collect::<Result<Vec<_>, _>>()?;
    let mut values = values.into_iter();
    let mut sum = values.next().ok_or_else(|| node.error("has no inputs"))?;
    for (index, value) in values.enumerate() {
        sum = real_pair_of(
            network,
            node,
            [sum, value],
            function,
            &format!("{}_{index}", node.first_output()?),
        )?;
    }
    if node.proto.op == "Mean" {
        let count = Value::Constant(Rc::new(Constant::reals(vec![1], vec![count as f32])));
        sum = real_pair_of(network, node, [sum, count], RealPair::Div, node.first_output()?)?;
    }
    let sum = network.materialize(node, sum)?;
    network.bind(node, 0, sum)
}

pub(super) fn binary<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let function = match node.proto.op.as_str() {
        "Sub" => RealPair::Sub,
        "Div" => RealPair::Div,
        _ => RealPair::Pow,
    };
    let (a, b) = (network.input(node, 0)?, network.input(node, 1)?);
    real_pair(network, node, [a, b], function)
}

/// A sum or product of codes of 8 bits with a quantizer behind it; of real values otherwise.
pub(super) fn quantized_pair<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    [a, b]: [Value; 2],
    follow: Option<Follow<'a>>,
    function: RealPair,
) -> Result<(), OnnxError> {
    let operand = |value: &Value| match value {
        Value::Dequantized(d) if d.functions.is_empty() && d.quant.single().is_some() => Some(d.clone()),
        _ => None,
    };
    let (Some(x), Some(y), Some(follow)) = (operand(&a), operand(&b), follow) else {
        return real_pair(network, node, [a, b], function);
    };
    let dtypes = [x.quant.dtype, y.quant.dtype, follow.kernel];
    if dtypes.iter().any(|&dtype| dtype != dtypes[0] || dtype.bits() != 8) {
        return real_pair(network, node, [a, b], function);
    }
    let (channels_last, rank) = (common_order(network, &a, &b), common_rank(network, &a, &b));
    let tensor =
        |network: &mut Network<'a>, operand| code_tensor(network, node, operand, (channels_last, rank));
    let inputs = [tensor(network, x)?, tensor(network, y)?];
    let op: Op = match function {
        RealPair::Add => QLinearAdd { activation: follow.activation }.into(),
        _ => QLinearMul { activation: follow.activation }.into(),
    };
    let ty = network.code_type(node, &follow.quant, 1, false)?;
    let id = network.emit(node, op, &inputs, &follow.name.clone(), ty)?;
    follow.finish(network, node, Located { id, channels_last })
}

/// Whether a pair is worked on with the channels last: where one of them lies so and the other can.
fn common_order(network: &Network<'_>, a: &Value, b: &Value) -> bool {
    let order = |value: &Value| match value {
        Value::Real(at) | Value::Codes(at) => Some(at.channels_last),
        Value::Dequantized(Dequantized { source: Source::Tensor(at), .. }) => Some(at.channels_last),
        _ => None,
    };
    let (ra, rb) = (network.shape(a).len(), network.shape(b).len());
    let can = |value: &Value, rank: usize| {
        rank == ra.max(rb)
            || matches!(value, Value::Constant(_) | Value::Dequantized(_)) && order(value).is_none()
    };
    [order(a), order(b)].contains(&Some(true)) && can(a, ra) && can(b, rb)
}

/// Returns the rank of a pair after numpy's broadcasting.
fn common_rank(network: &Network<'_>, a: &Value, b: &Value) -> usize {
    network.shape(a).len().max(network.shape(b).len())
}

/// Returns codes, constant or not, as a tensor of the graph, with the channels last or not. A constant is broadcast to `rank` axes.
pub(super) fn code_tensor<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    operand: Dequantized,
    (channels_last, rank): (bool, usize),
) -> Result<TensorId, OnnxError> {
    match operand.source {
        Source::Tensor(at) => {
            check_codes(network, node, at, &operand.quant)?;
            network.in_order(node, at, channels_last)
        }
        Source::Constant(constant) => {
            let constant = ordered(&constant, channels_last, rank);
            constant_codes(network, node, &constant, &operand.quant)
        }
    }
}

/// Constant codes of one scale as a tensor of the graph.
pub(super) fn constant_codes<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    constant: &Constant,
    quant: &Quant,
) -> Result<TensorId, OnnxError> {
    let codes = constant.as_integers().ok_or_else(|| node.error("has codes that are no integers"))?;
    let (dtype, quantization) = network.code_type(node, quant, 1, false)?;
    let shape = if constant.shape.is_empty() { vec![1] } else { constant.shape.clone() };
    let ty = TensorType { shape, dtype, quantization };
    let name = format!("{}_constant", node.name());
    network.codes(node, &name, ty, codes.iter().map(|&code| code as i32).collect())
}

/// Returns a constant with the channels last, broadcast to `rank` axes, or as it is if the channels keep their place.
pub(super) fn ordered(constant: &Constant, channels_last: bool, rank: usize) -> Constant {
    let mut constant = constant.clone();
    if !channels_last || constant.data.len() == 1 || rank < 3 {
        return constant;
    }
    while constant.shape.len() < rank {
        constant.shape.insert(0, 1);
    }
    let axes: Vec<usize> = std::iter::once(0).chain(2..rank).chain([1]).collect();
    constant.permuted(&axes)
}

/// A function of pairs of real values.
pub(super) fn real_pair<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    [a, b]: [Value; 2],
    function: RealPair,
) -> Result<(), OnnxError> {
    let made = real_pair_of(network, node, [a, b], function, node.first_output()?)?;
    network.bind(node, 0, made)
}

/// The value of a function of pairs of real values, under a name.
fn real_pair_of<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    [a, b]: [Value; 2],
    function: RealPair,
    name: &str,
) -> Result<Value, OnnxError> {
    let (a, b) = (network.materialize(node, a)?, network.materialize(node, b)?);
    let (channels_last, rank) = (common_order(network, &a, &b), common_rank(network, &a, &b));
    let tensor = |network: &mut Network<'a>, value: Value| match value {
        Value::Real(at) => network.in_order(node, at, channels_last),
        Value::Constant(constant) => {
            let constant = ordered(&constant, channels_last, rank);
            network.reals(node, &format!("{}_constant", node.name()), &constant)
        }
        _ => Err(node.error("works on real values")),
    };
    let (a, b) = (tensor(network, a)?, tensor(network, b)?);
    let id = network.emit(node, FloatBinary { function }, &[a, b], name, (DType::Float32, None))?;
    Ok(Value::Real(Located { id, channels_last }))
}

/// A function of real values in the graph and a constant.
pub(super) fn by_constant<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    at: Located,
    constant: &Constant,
    function: RealPair,
    name: &str,
) -> Result<Located, OnnxError> {
    let constant = ordered(constant, at.channels_last, network.shape_of(at).len());
    let other = network.reals(node, &format!("{name}_by"), &constant)?;
    let id = network.emit(node, FloatBinary { function }, &[at.id, other], name, (DType::Float32, None))?;
    Ok(Located { id, ..at })
}
