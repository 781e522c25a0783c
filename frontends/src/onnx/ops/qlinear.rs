//! Operators on codes with their scales and zero points as inputs: each is the operator on real values, between
//! quantizers of its own.

use guardbit_graph::ops::{RealFunction, RealPair};

use super::follow::Follow;
use super::quantize::{check_codes, quantized};
use super::quantizer::{Quantizer, dtype, quant_at};
use super::{convolution, elementwise, layout, matmul, normalization, pool};
use crate::onnx::error::OnnxError;
use crate::onnx::network::Network;
use crate::onnx::node::Node;
use crate::onnx::proto::element;
use crate::onnx::value::{Dequantized, Quant, Source, Value};

/// Codes in input `index` with scale and zero point in the next ones, along `axis` where there are several.
fn operand(network: &Network<'_>, node: Node<'_>, index: usize, axis: i64) -> Result<Value, OnnxError> {
    let value = network.input(node, index)?;
    let rank = network.shape(&value).len().max(1);
    match value {
        Value::Constant(constant) => {
            let mut quant = quant_at(network, node, index + 1, Some(constant.element), rank, axis)?;
            quant.dtype = dtype(constant.element).ok_or_else(|| {
                node.error(format!("reads codes of type {}", element::name(constant.element)))
            })?;
            Ok(Value::Dequantized(Dequantized::new(Source::Constant(constant), quant)))
        }
        Value::Codes(at) => {
            let mut quant = quant_at(network, node, index + 1, None, rank, axis)?;
            quant.dtype = network.builder.tensor(at.id).ty.dtype;
            check_codes(network, node, at, &quant)?;
            Ok(Value::Dequantized(Dequantized::new(Source::Tensor(at), quant)))
        }
        _ => Err(node.error(format!("reads real values in input {index}; it works on codes"))),
    }
}

/// The codes that it makes, with scale and zero point in inputs `index` and the next; `like` is an operand, of whose
/// dtype they are where there is no zero point.
fn result(network: &Network<'_>, node: Node<'_>, index: usize, like: &Value) -> Result<Quant, OnnxError> {
    let mut quant = quant_at(network, node, index, None, 1, 0)?;
    if let (None, Value::Dequantized(like)) = (network.optional_constant(node, index + 1)?, like) {
        quant.dtype = like.quant.dtype;
    }
    if quant.single().is_none() {
        return Err(node.error("makes codes of several scales, which cannot be represented"));
    }
    Ok(Quant { axis: None, ..quant })
}

pub(super) fn conv<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (x, w) = (operand(network, node, 0, 0)?, operand(network, node, 3, 0)?);
    let follow = Some(Follow::of_operator(network, node, result(network, node, 6, &x)?)?);
    let bias = network.optional(node, 8)?;
    check_weights(node, &x, &w)?;
    convolution::convolve(network, node, [x, w], bias, follow)
}

pub(super) fn matmul<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (a, b) = (operand(network, node, 0, 0)?, operand(network, node, 3, 1)?);
    let follow = Some(Follow::of_operator(network, node, result(network, node, 6, &a)?)?);
    matmul::product(network, node, [a, b], None, false, follow)
}

pub(super) fn gemm<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let transposed = node.int("transB", 0) != 0;
    if node.int("transA", 0) != 0 || node.float("alpha", 1.0) != 1.0 {
        return Err(node.error("has transA or an alpha that is not 1"));
    }
    let (a, b) = (operand(network, node, 0, 0)?, operand(network, node, 3, if transposed { 0 } else { 1 })?);
    check_weights(node, &a, &b)?;
    let bias = network.optional(node, 6)?;
    if node.input(7).is_none() {
        return Err(node.error("makes real values; a scale of its output is needed"));
    }
    let follow = Some(Follow::of_operator(network, node, result(network, node, 7, &a)?)?);
    matmul::product(network, node, [a, b], bias, transposed, follow)
}

/// Fails for operands that only a product in float could take: the runtime computes in integers.
fn check_weights(node: Node<'_>, x: &Value, w: &Value) -> Result<(), OnnxError> {
    let single = matches!(x, Value::Dequantized(d) if d.quant.single().is_some());
    match w {
        Value::Dequantized(d) if matches!(d.source, Source::Constant(_)) && single => Ok(()),
        _ => Err(node.error("needs constant weights and one scale of its input")),
    }
}

pub(super) fn add<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    pair(network, node, RealPair::Add)
}

pub(super) fn mul<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    pair(network, node, RealPair::Mul)
}

fn pair<'a>(network: &mut Network<'a>, node: Node<'a>, function: RealPair) -> Result<(), OnnxError> {
    let (a, b) = (operand(network, node, 0, 0)?, operand(network, node, 3, 0)?);
    let follow = Some(Follow::of_operator(network, node, result(network, node, 6, &a)?)?);
    elementwise::quantized_pair(network, node, [a, b], follow, function)
}

pub(super) fn average_pool<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    check_order(node)?;
    let x = operand(network, node, 0, 0)?;
    let follow = Some(Follow::of_operator(network, node, result(network, node, 3, &x)?)?);
    pool::average_of(network, node, x, follow)
}

pub(super) fn global_average_pool<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    check_order(node)?;
    let x = operand(network, node, 0, 0)?;
    let follow = Some(Follow::of_operator(network, node, result(network, node, 3, &x)?)?);
    pool::global_average_of(network, node, x, follow)
}

fn check_order(node: Node<'_>) -> Result<(), OnnxError> {
    match node.int("channels_last", 0) {
        0 => Ok(()),
        _ => Err(node.error("has its channels last; NCHW can be read")),
    }
}

pub(super) fn concat<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let count = node.proto.inputs.len();
    if count < 5 || count % 3 != 2 {
        return Err(node.error(format!("has {count} inputs")));
    }
    let values = (2..count).step_by(3).map(|index| operand(network, node, index, 0));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    let quant = result(network, node, 0, &values[0])?;
    layout::joined_as(network, node, values, &quant)
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

pub(super) fn softmax<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let x = operand(network, node, 0, 0)?;
    let quant = result(network, node, 3, &x)?;
    let follow = Some(Follow::of_operator(network, node, quant)?);
    normalization::softmax_of(network, node, x, follow, node.int("opset", 13) < 13)
}
