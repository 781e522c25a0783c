//! Functions of single elements and of pairs.

use guardbit_graph::Op;
use guardbit_graph::ops::{FloatBinary, FloatUnary, QLinearAdd, QLinearMul, RealFunction, RealPair};

use super::codes::{code_tensor, ordered};
use super::follow::Follow;
use super::network::Network;
use super::value::{Coding, Located, Value};
use crate::onnx::error::OnnxError;
use crate::onnx::parse::constant::Constant;
use crate::onnx::parse::node::Node;

/// Binds the output to a function of the first input.
pub(in crate::onnx) fn map<'a>(
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
        Value::Constant(_) => return Err(node.error("reads a constant of integers; it works on real values")),
        Value::Real(at) => Value::Real(apply(network, node, at, function, parameters, node.first_output()?)?),
        Value::Codes(_) => return Err(node.error("reads codes; it works on real values")),
    };
    network.bind(node, 0, value)
}

/// Adds a function of real values in the graph.
pub(in crate::onnx) fn apply<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    at: Located,
    function: RealFunction,
    parameters: Vec<f32>,
    name: &str,
) -> Result<Located, OnnxError> {
    let id = network.emit(node, FloatUnary { function, parameters }, &[at.id], name, Coding::REAL)?;
    Ok(Located { id, ..at })
}

/// Adds a sum or product of codes of 8 bits if a quantizer follows, otherwise of real values.
pub(in crate::onnx) fn quantized_pair<'a>(
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
        |network: &mut Network<'a>, operand| code_tensor(network, node, operand, channels_last, rank);
    let inputs = [tensor(network, x)?, tensor(network, y)?];
    let op: Op = match function {
        RealPair::Add => QLinearAdd { activation: follow.activation }.into(),
        _ => QLinearMul { activation: follow.activation }.into(),
    };
    let ty = network.code_type(node, &follow.quant, 1, false)?;
    let id = network.emit(node, op, &inputs, &follow.name.clone(), ty)?;
    follow.finish(network, node, Located { id, channels_last })
}

/// Returns whether a pair is processed with the channels last: if one operand has this order and the other can.
fn common_order(network: &Network<'_>, a: &Value, b: &Value) -> bool {
    let order = |value: &Value| value.located().map(|at| at.channels_last);
    let (ra, rb) = (network.shape(a).len(), network.shape(b).len());
    let can = |value: &Value, rank: usize| rank == ra.max(rb) || value.located().is_none();
    [order(a), order(b)].contains(&Some(true)) && can(a, ra) && can(b, rb)
}

/// Returns the rank of a pair under NumPy's broadcasting.
fn common_rank(network: &Network<'_>, a: &Value, b: &Value) -> usize {
    network.shape(a).len().max(network.shape(b).len())
}

/// Binds the output to a function of pairs of real values.
pub(in crate::onnx) fn real_pair<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    [a, b]: [Value; 2],
    function: RealPair,
) -> Result<(), OnnxError> {
    let made = real_pair_of(network, node, [a, b], function, node.first_output()?)?;
    network.bind(node, 0, made)
}

/// Returns the value of a function of pairs of real values, with the given name.
pub(in crate::onnx) fn real_pair_of<'a>(
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
    let id = network.emit(node, FloatBinary { function }, &[a, b], name, Coding::REAL)?;
    Ok(Value::Real(Located { id, channels_last }))
}

/// Adds a function of real values in the graph and a constant.
pub(in crate::onnx) fn by_constant<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    at: Located,
    constant: &Constant,
    function: RealPair,
    name: &str,
) -> Result<Located, OnnxError> {
    let constant = ordered(constant, at.channels_last, network.shape_of(at).len());
    let other = network.reals(node, &format!("{name}_by"), &constant)?;
    let id = network.emit(node, FloatBinary { function }, &[at.id, other], name, Coding::REAL)?;
    Ok(Located { id, ..at })
}
