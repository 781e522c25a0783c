//! Operands of operators on codes with scales and zero points as inputs (QLinear).

use super::codes::check_codes;
use super::network::Network;
use super::value::{Dequantized, Source, Value};
use crate::onnx::error::OnnxError;
use crate::onnx::normalise::quant::{Quant, dtype};
use crate::onnx::normalise::scales::quant_at;
use crate::onnx::parse::node::Node;
use crate::onnx::parse::proto::element;

/// Returns the codes in input `index`, with scale and zero point in the next inputs, along `axis` if there are
/// several.
pub(in crate::onnx) fn operand(
    network: &Network<'_>,
    node: Node<'_>,
    index: usize,
    axis: i64,
) -> Result<Value, OnnxError> {
    let value = network.input(node, index)?;
    let rank = network.shape(&value).len().max(1);
    match value {
        Value::Constant(constant) => {
            let mut quant = quant_at(network.known, node, index + 1, Some(constant.element), rank, axis)?;
            quant.dtype = dtype(constant.element).ok_or_else(|| {
                node.error(format!("reads codes of type {}", element::name(constant.element)))
            })?;
            Ok(Value::Dequantized(Dequantized::new(Source::Constant(constant), quant)))
        }
        Value::Codes(at) => {
            let mut quant = quant_at(network.known, node, index + 1, None, rank, axis)?;
            quant.dtype = network.builder.tensor(at.id).ty.dtype;
            check_codes(network, node, at, &quant)?;
            Ok(Value::Dequantized(Dequantized::new(Source::Tensor(at), quant)))
        }
        _ => Err(node.error(format!("reads real values in input {index}; it works on codes"))),
    }
}

/// Returns the quantization of the output, with scale and zero point in inputs `index` and the next.
///
/// Without a zero point, the dtype is that of the operand `like`.
pub(in crate::onnx) fn result(
    network: &Network<'_>,
    node: Node<'_>,
    index: usize,
    like: &Value,
) -> Result<Quant, OnnxError> {
    let mut quant = quant_at(network.known, node, index, None, 1, 0)?;
    if let (None, Value::Dequantized(like)) = (network.known.optional_constant(node, index + 1)?, like) {
        quant.dtype = like.quant.dtype;
    }
    if quant.single().is_none() {
        return Err(node.error("produces codes with several scales, which cannot be represented"));
    }
    Ok(Quant { axis: None, ..quant })
}

/// Rejects operands that would need a float product, because the runtime computes in integers.
pub(in crate::onnx) fn check_weights(node: Node<'_>, x: &Value, w: &Value) -> Result<(), OnnxError> {
    let single = matches!(x, Value::Dequantized(d) if d.quant.single().is_some());
    match w {
        Value::Dequantized(d) if matches!(d.source, Source::Constant(_)) && single => Ok(()),
        _ => Err(node.error("needs constant weights and one scale of its input")),
    }
}
