//! QuantizeLinear and DequantizeLinear between real values and floating-point codes, which only multiply and convert.

use guardbit_graph::{Brief, DType};

use super::blocked::blocks;
use super::known::Known;
use super::scales::declared;
use crate::onnx::error::OnnxError;
use crate::onnx::parse::constant::{Constant, broadcast_places, short_float};
use crate::onnx::parse::node::Node;
use crate::onnx::parse::proto::element;

/// Returns the dtype of the floating-point codes that a QuantizeLinear writes or a DequantizeLinear reads.
pub(in crate::onnx) fn codes_of(known: &Known, node: Node<'_>) -> Option<DType> {
    let of = |index: usize| node.input(index).and_then(|name| known.elements.get(name)).copied();
    match node.proto.op.as_str() {
        "QuantizeLinear" => short_float(of(2).or(declared(node))?),
        "DequantizeLinear" => short_float(of(0)?),
        _ => None,
    }
}

/// Returns the element type of the quotients or products: that of the scales, unless the node states another one.
pub(in crate::onnx) fn precision(known: &Known, node: Node<'_>) -> i32 {
    let stated = match node.proto.op.as_str() {
        "QuantizeLinear" => i32::try_from(node.int("precision", 0)).ok().filter(|&number| number != 0),
        _ => declared(node),
    };
    let scale = || node.input(1).and_then(|name| known.elements.get(name)).copied();
    match stated.or_else(scale) {
        Some(number @ (element::FLOAT16 | element::BFLOAT16)) => number,
        _ => element::FLOAT,
    }
}

/// Fails unless the zero points of a node, if there are any, are all 0.
pub(in crate::onnx) fn check_zero_points(known: &Known, node: Node<'_>) -> Result<(), OnnxError> {
    let zero = known.optional_constant(node, 2)?;
    match zero.is_some_and(|zero| zero.numbers().iter().any(|&zero| zero != 0.0)) {
        true => Err(node.error("has a zero point other than 0; floating-point codes need 0")),
        false => Ok(()),
    }
}

/// Returns whether a QuantizeLinear adds its zero point, 0, which turns -0 into 0. The reference implementation of ONNX
/// does so for float4 only.
pub(in crate::onnx) fn adds_zero(node: Node<'_>, dtype: DType) -> bool {
    dtype == DType::Float4E2M1 && node.input(2).is_some()
}

/// Returns the constant scales of a node in a shape that broadcasts to `shape`, that of the codes.
pub(in crate::onnx) fn scales(known: &Known, node: Node<'_>, shape: &[usize]) -> Result<Constant, OnnxError> {
    if node.int("block_size", 0) != 0 {
        return Ok(Constant::reals(shape.to_vec(), blocks(known, node, shape)?.spread(shape).0));
    }
    let scale = known.constant(node, 1)?;
    let values = scale.as_reals().ok_or_else(|| node.error("has a scale that is not a real number"))?;
    if let &[value] = values {
        return Ok(Constant::reals(vec![], vec![value]));
    }
    let axis = node.axis(node.int("axis", 1), shape.len())?;
    if scale.shape != [shape[axis]] {
        let (given, size) = (Brief(&scale.shape), shape[axis]);
        return Err(
            node.error(format!("has scales of shape {given}; axis {axis} of the codes needs [{size}]"))
        );
    }
    let along = (0..shape.len()).map(|at| if at == axis { shape[axis] } else { 1 }).collect();
    Ok(Constant::reals(along, values.to_vec()))
}

/// Returns `function` of each element and its scale.
pub(in crate::onnx) fn each(
    values: &[f32],
    shape: &[usize],
    scales: &Constant,
    function: fn(f32, f32) -> f32,
) -> Vec<f32> {
    let factors = scales.as_reals().unwrap_or_default();
    let places = broadcast_places(&scales.shape, shape);
    values.iter().zip(places).map(|(&value, at)| function(value, factors[at])).collect()
}
