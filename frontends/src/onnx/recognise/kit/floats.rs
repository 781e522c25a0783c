//! Conversions between real values and floating-point codes.

use guardbit_graph::DType;
use guardbit_graph::ops::FloatCast;

use super::network::Network;
use super::value::{Coding, Located};
use crate::onnx::error::OnnxError;
use crate::onnx::parse::node::Node;

/// Returns real values in another floating-point dtype.
pub(in crate::onnx) fn float_cast<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    at: Located,
    dtype: DType,
    saturate: bool,
    name: &str,
) -> Result<Located, OnnxError> {
    let coding = Coding { dtype, quantization: None };
    let id = network.emit(node, FloatCast { saturate }, &[at.id], name, coding)?;
    Ok(Located { id, ..at })
}

/// Returns real values rounded to a floating-point dtype.
pub(in crate::onnx) fn rounded<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    at: Located,
    dtype: DType,
    name: &str,
) -> Result<Located, OnnxError> {
    let short = float_cast(network, node, at, dtype, false, &format!("{name}_{dtype}"))?;
    float_cast(network, node, short, DType::Float32, false, name)
}
