//! Operators on single elements and on pairs of elements.

use std::rc::Rc;

use guardbit_graph::ops::{RealFunction, RealPair};

use crate::onnx::error::OnnxError;
use crate::onnx::parse::constant::Constant;
use crate::onnx::parse::node::Node;
use crate::onnx::recognise::kit::follow::{Follow, follow};
use crate::onnx::recognise::kit::network::Network;
use crate::onnx::recognise::kit::operand::{operand, result};
use crate::onnx::recognise::kit::pairs::{apply, by_constant, map, quantized_pair, real_pair, real_pair_of};
use crate::onnx::recognise::kit::quantize::quantized;
use crate::onnx::recognise::kit::quantizer::Quantizer;
use crate::onnx::recognise::kit::value::{Dequantized, Source, Value};
use crate::onnx::scalar;

pub(super) fn unary<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (function, parameters) = scalar::function(node).ok_or_else(|| node.error("is not supported"))?;
    map(network, node, function, parameters)
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

/// Returns `x * sigmoid(x)` of codes as one function of them.
fn silu(x: &Value, sigmoid: &Value) -> Option<Value> {
    let (Value::Dequantized(x), Value::Dequantized(sigmoid)) = (x, sigmoid) else { return None };
    let (Source::Tensor(a), Source::Tensor(b)) = (&x.source, &sigmoid.source) else { return None };
    let [first @ .., (RealFunction::Sigmoid, _)] = sigmoid.functions.as_slice() else { return None };
    let same = a == b && x.quant == sigmoid.quant && x.functions == first;
    let functions = [&x.functions[..], &[(RealFunction::Silu, Vec::new())]].concat();
    same.then(|| Value::Dequantized(Dequantized { functions, ..x.clone() }))
}

/// Reads PRelu, with one slope or several.
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

/// Reads sums, means and extremes of any number of tensors.
pub(super) fn variadic<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    // A mean is computed from the sum.
    let function = scalar::pair_of(&node.proto.op).unwrap_or(RealPair::Add);
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
    let function = scalar::pair_of(&node.proto.op).ok_or_else(|| node.error("is not supported"))?;
    let (a, b) = (network.input(node, 0)?, network.input(node, 1)?);
    real_pair(network, node, [a, b], function)
}

pub(super) fn qlinear_add<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    qlinear_pair(network, node, RealPair::Add)
}

pub(super) fn qlinear_mul<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    qlinear_pair(network, node, RealPair::Mul)
}

fn qlinear_pair<'a>(network: &mut Network<'a>, node: Node<'a>, function: RealPair) -> Result<(), OnnxError> {
    let (a, b) = (operand(network, node, 0, 0)?, operand(network, node, 3, 0)?);
    let follow = Some(Follow::of_operator(network, node, result(network, node, 6, &a)?)?);
    quantized_pair(network, node, [a, b], follow, function)
}

pub(super) fn leaky_relu<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    function(network, node, RealFunction::LeakyRelu, vec![node.float("alpha", 0.01)])
}

pub(super) fn sigmoid<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    function(network, node, RealFunction::Sigmoid, vec![])
}

fn function<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    function: RealFunction,
    parameters: Vec<f32>,
) -> Result<(), OnnxError> {
    let x = operand(network, node, 0, 0)?;
    let quant = result(network, node, 3, &x)?;
    let Value::Dequantized(mut x) = x else { return Err(node.error("reads no codes")) };
    x.functions.push((function, parameters));
    let quantizer = Quantizer::plain(node, quant).with_clip(network)?;
    quantized(network, quantizer, Value::Dequantized(x))
}
