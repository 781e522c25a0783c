//! Scales and zero points computed at run time.
//!
//! A quantization of the graph is constant. Codes with a computed quantization therefore have scale 1 and zero point
//! 0, and separate tensors hold scale and zero point. Layers read codes minus their zero point. The file scales their
//! sums afterwards.

use guardbit_graph::ops::{Cast, FloatBinary, QuantizeBy, RealPair, SubZeroPoint};
use guardbit_graph::{DType, TensorId};

use super::network::Network;
use super::value::{Coding, Dequantized, Located, Source, Value};
use crate::onnx::error::OnnxError;
use crate::onnx::normalise::quant::Quant;
use crate::onnx::parse::node::Node;

/// Returns the type of codes with scale 1 and zero point 0.
pub(in crate::onnx) fn raw_codes(
    network: &Network<'_>,
    node: Node<'_>,
    dtype: DType,
    rank: usize,
) -> Result<Coding, OnnxError> {
    network.code_type(node, &Quant::per_tensor(dtype, 1.0, 0), rank, false)
}

pub(in crate::onnx) fn quantize_by<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    inputs: [TensorId; 3],
    dtype: DType,
    name: &str,
) -> Result<TensorId, OnnxError> {
    let ty = raw_codes(network, node, dtype, 1)?;
    network.emit(node, QuantizeBy {}, &inputs, name, ty)
}

/// Returns the tensors of input `first`, a computed scale, and of the zero point after it, if the scale is computed.
fn computed(network: &Network<'_>, node: Node<'_>, first: usize) -> Result<Option<[TensorId; 2]>, OnnxError> {
    match (network.optional(node, first)?, network.optional(node, first + 1)?) {
        (Some(Value::Real(scale)), Some(Value::Codes(zero_point))) => Ok(Some([scale.id, zero_point.id])),
        (Some(Value::Real(_) | Value::Dequantized(_)), _) => {
            Err(node.error("has a computed scale; expected a computed zero point"))
        }
        _ => Ok(None),
    }
}

/// Adds a QuantizeLinear with a computed scale and zero point. Returns false if they are constant.
pub(in crate::onnx) fn quantize<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<bool, OnnxError> {
    let Some([scale, zero_point]) = computed(network, node, 1)? else { return Ok(false) };
    let value = network.input(node, 0)?;
    let channels_last = value.located().is_some_and(|at| at.channels_last);
    let x = network.real_tensor(node, value, channels_last)?;
    let dtype = network.builder.tensor(zero_point).ty.dtype;
    let id = quantize_by(network, node, [x, scale, zero_point], dtype, node.first_output()?)?;
    network.bind(node, 0, Value::Codes(Located { id, channels_last }))?;
    Ok(true)
}

/// Adds a DequantizeLinear with a computed scale and zero point. Returns false if they are constant.
pub(in crate::onnx) fn dequantize<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<bool, OnnxError> {
    let Some([scale, zero_point]) = computed(network, node, 1)? else { return Ok(false) };
    let Value::Codes(at) = network.input(node, 0)? else {
        return Err(node.error("does not read codes of the network; it works on codes"));
    };
    let name = node.first_output()?;
    let steps = less_zero_point(network, node, at, zero_point)?;
    let id = network.emit(node, Cast, &[steps.id], &format!("{name}_steps"), Coding::REAL)?;
    let op = FloatBinary { function: RealPair::Mul };
    let id = network.emit(node, op, &[id, scale], name, Coding::REAL)?;
    network.bind(node, 0, Value::Real(Located { id, ..at }))?;
    Ok(true)
}

/// Returns the codes that a layer reads if their zero point, input `zero`, is computed. Returns `None` if it is
/// constant.
pub(in crate::onnx) fn raw<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    index: usize,
    zero: usize,
) -> Result<Option<Value>, OnnxError> {
    let Some(Value::Codes(zero_point)) = network.optional(node, zero)? else { return Ok(None) };
    let Value::Codes(at) = network.input(node, index)? else {
        return Err(node.error("has a computed zero point; expected computed codes"));
    };
    let at = less_zero_point(network, node, at, zero_point.id)?;
    Ok(Some(Value::Dequantized(Dequantized::new(Source::Tensor(at), steps()))))
}

/// Returns the quantization of codes of 9 bits.
fn steps() -> Quant {
    let range = SubZeroPoint::range();
    Quant { range: Some(range), ..Quant::per_tensor(DType::Int16, 1.0, 0) }
}

/// Returns codes minus their zero point.
fn less_zero_point<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    at: Located,
    zero_point: TensorId,
) -> Result<Located, OnnxError> {
    if let Some(&id) = network.centered.get(&(at.id, zero_point)) {
        return Ok(Located { id, ..at });
    }
    let name = format!("{}_steps", network.builder.tensor(at.id).name);
    let ty = network.code_type(node, &steps(), 1, false)?;
    let id = network.emit(node, SubZeroPoint {}, &[at.id, zero_point], &name, ty)?;
    network.centered.insert((at.id, zero_point), id);
    Ok(Located { id, ..at })
}
