//! Operations that move elements without changing them.

use guardbit_graph::ops::{Gather, Reshape};
use guardbit_graph::{DType, Op, TensorId, TensorType};

use super::network::Network;
use super::value::{Dequantized, Located, Source, Value};
use crate::onnx::error::OnnxError;
use crate::onnx::parse::node::Node;

/// Returns a value after an operation that moves elements, with its axes in the order of the file.
pub(in crate::onnx) fn moved<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    op: impl Into<Op>,
    what: &str,
) -> Result<Value, OnnxError> {
    moved_with(network, node, value, op, &[], what)
}

/// Returns a value after an operation that moves elements and has further inputs.
pub(in crate::onnx) fn moved_with<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    op: impl Into<Op>,
    more: &[TensorId],
    what: &str,
) -> Result<Value, OnnxError> {
    let from = value.located();
    let from = from.ok_or_else(|| node.error("works on a constant that could not be computed beforehand"))?;
    if per_axis(network, from) {
        return Err(node.error("moves codes with several scales, which cannot be represented"));
    }
    let id = network.in_order(node, from, false)?;
    let name = match &value {
        Value::Dequantized(_) => format!("{}_{what}", network.builder.tensor(id).name),
        _ => node.first_output()?.to_owned(),
    };
    let id = network.emit_like(node, op, &[&[id], more].concat(), &name, id)?;
    Ok(value.at(Located { id, channels_last: false }))
}

fn per_axis(network: &Network<'_>, at: Located) -> bool {
    network.builder.tensor(at.id).ty.quantization.as_ref().is_some_and(|q| q.axis().is_some())
}

/// Returns the value for a move. Codes with several scales become real values, and constants become tensors.
pub(in crate::onnx) fn movable<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<Value, OnnxError> {
    let value = network.input(node, 0)?;
    let several = value.located().is_some_and(|at| per_axis(network, at));
    match value {
        Value::Dequantized(_) if several => network.materialize(node, value),
        Value::Constant(_) | Value::Dequantized(Dequantized { source: Source::Constant(_), .. }) => {
            let id = network.real_tensor(node, value, false)?;
            Ok(Value::Real(Located { id, channels_last: false }))
        }
        value => Ok(value),
    }
}

/// Returns the elements at some positions along an axis.
pub(in crate::onnx) fn chosen<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    axis: usize,
    places: &[usize],
    what: &str,
) -> Result<Value, OnnxError> {
    let ty = TensorType { shape: vec![places.len()], dtype: DType::Int32, quantization: None };
    let codes: Vec<i32> = places.iter().map(|&place| place as i32).collect();
    let indices = network.codes(node, &format!("{}_{what}_places", node.first_output()?), ty, codes)?;
    moved_with(network, node, value, Gather { axis, batch_dims: 0 }, &[indices], what)
}

/// Returns images after a move with their channels last.
pub(in crate::onnx) fn in_last_order<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    op: impl Into<Op>,
) -> Result<Value, OnnxError> {
    let from = value.located().ok_or_else(|| node.error("works on a constant"))?;
    let id = network.in_order(node, from, true)?;
    let id = network.emit_like(node, op, &[id], node.first_output()?, id)?;
    Ok(value.at(Located { id, channels_last: true }))
}

/// Reshapes `[n, w, c]` to an image of one row.
pub(in crate::onnx) fn with_rows<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    id: TensorId,
) -> Result<TensorId, OnnxError> {
    let tensor = network.builder.tensor(id);
    let (name, [n, w, c]) = (format!("{}_row", tensor.name), [0, 1, 2].map(|i| tensor.ty.shape[i] as i64));
    network.emit_like(node, Reshape { shape: vec![n, 1, w, c] }, &[id], &name, id)
}

/// Reshapes an image of one row to `[n, c, w]`.
pub(in crate::onnx) fn without_rows<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    at: Located,
) -> Result<Located, OnnxError> {
    let id = network.in_order(node, at, false)?;
    let tensor = network.builder.tensor(id);
    let (name, [n, c, w]) = (format!("{}_line", tensor.name), [0, 1, 3].map(|i| tensor.ty.shape[i] as i64));
    let id = network.emit_like(node, Reshape { shape: vec![n, c, w] }, &[id], &name, id)?;
    Ok(Located { id, channels_last: false })
}
