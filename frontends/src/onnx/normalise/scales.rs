//! Scales and zero points that nodes specify.

use guardbit_graph::Brief;

use super::known::Known;
use super::quant::{Quant, dtype, range};
use crate::onnx::error::OnnxError;
use crate::onnx::parse::constant::Constant;
use crate::onnx::parse::node::Node;
use crate::onnx::parse::proto::element;

/// Returns scales and zero points in the inputs `first` and `first + 1` of a node, for codes of type `number`.
pub(in crate::onnx) fn quant_at(
    known: &Known,
    node: Node<'_>,
    first: usize,
    number: Option<i32>,
    rank: usize,
    axis: i64,
) -> Result<Quant, OnnxError> {
    let scale = known.constant(node, first)?;
    let zero_point = known.optional_constant(node, first + 1)?;
    let number = zero_point.as_ref().map(|z| z.element).or(number).unwrap_or(element::UINT8);
    quant_of(node, &scale, zero_point.as_deref(), number, rank, axis)
}

/// Returns the zero points of a constant.
pub(in crate::onnx) fn zero_points(node: Node<'_>, zero: &Constant) -> Result<Vec<i32>, OnnxError> {
    let values = zero.as_integers().ok_or_else(|| node.error("has a zero point that is not an integer"))?;
    let narrow: Option<Vec<i32>> = values.iter().map(|value| i32::try_from(value).ok()).collect();
    narrow.ok_or_else(|| node.error("has a zero point beyond 32 bits"))
}

/// Returns the quantization with a scale and a zero point.
pub(in crate::onnx) fn quant_of(
    node: Node<'_>,
    scale: &Constant,
    zero_point: Option<&Constant>,
    number: i32,
    rank: usize,
    axis: i64,
) -> Result<Quant, OnnxError> {
    let dtype = dtype(number).ok_or_else(|| {
        node.error(format!("has codes of type {}, which is not supported", element::name(number)))
    })?;
    let scales =
        scale.as_reals().ok_or_else(|| node.error("has a scale that is not a real number"))?.to_vec();
    let count = scales.len();
    let zero_points: Vec<i32> = match zero_point {
        None => vec![0; count],
        Some(zero) => zero_points(node, zero)?,
    };
    if count == 0 || zero_points.len() != count || scale.shape.len() > 1 {
        let problem =
            format!("has scales of shape {} and {} zero points", Brief(&scale.shape), zero_points.len());
        return Err(node.error(problem));
    }
    let axis = if count > 1 { Some(node.axis(axis, rank)?) } else { None };
    Ok(Quant { dtype, scales, zero_points, axis, range: range(number) })
}

/// Returns the element type that a QuantizeLinear declares for its codes.
pub(in crate::onnx) fn declared(node: Node<'_>) -> Option<i32> {
    i32::try_from(node.int("output_dtype", 0)).ok().filter(|&number| number != 0)
}
