//! Codes as tensors of the graph.

use guardbit_graph::ops::Table;
use guardbit_graph::{TensorId, TensorType};

use super::network::Network;
use super::value::{Coding, Dequantized, Located, Source, Value};
use crate::onnx::error::OnnxError;
use crate::onnx::normalise::quant::Quant;
use crate::onnx::parse::constant::Constant;
use crate::onnx::parse::node::Node;

/// Adds a table of a function from codes to codes.
pub(in crate::onnx) fn table<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    codes: TensorId,
    quant: &Quant,
    name: &str,
    function: impl Fn(i32) -> i32,
) -> Result<TensorId, OnnxError> {
    let codes = network.reread.get(&codes).copied().unwrap_or(codes);
    let from = network.builder.tensor(codes).ty.dtype;
    if from.bits() > 16 {
        return Err(
            node.error(format!("cannot map codes of type {from} by a table; expected at most 16 bits"))
        );
    }
    let made: Vec<i32> = (from.min()..=from.max()).map(function).collect();
    let Coding { dtype, quantization } = network.code_type(node, quant, 1, false)?;
    let ty = TensorType { shape: vec![made.len()], dtype, quantization: quantization.clone() };
    let table = network.codes(node, &format!("{name}_table"), ty, made)?;
    network.emit(node, Table {}, &[codes, table], name, Coding { dtype, quantization })
}

/// Fails if codes are read with another quantization than that of their node.
pub(in crate::onnx) fn check_codes(
    network: &Network<'_>,
    node: Node<'_>,
    at: Located,
    quant: &Quant,
) -> Result<(), OnnxError> {
    let tensor = network.builder.tensor(at.id);
    let rank = tensor.ty.shape.len();
    let wanted = network.code_type(node, quant, rank, at.channels_last)?.quantization;
    let same = |a: &guardbit_graph::Quantization, b: &guardbit_graph::Quantization| {
        a.scales() == b.scales() && a.zero_points() == b.zero_points() && a.axis() == b.axis()
    };
    match (&tensor.ty.quantization, &wanted) {
        (Some(own), Some(wanted)) if !same(own, wanted) => Err(node.error(format!(
            "reads the codes of `{}` with scale {} and zero point {}; they have {} and {}: add a node that \
             requantizes them",
            tensor.name,
            wanted.scale(0),
            wanted.zero_point(0),
            own.scale(0),
            own.zero_point(0)
        ))),
        _ => Ok(()),
    }
}

/// Replaces functions of dequantized codes, such as Relu, by a table of codes with an equal scale.
///
/// It does so only if the table holds every value exactly.
pub(in crate::onnx) fn without_functions<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
) -> Result<Value, OnnxError> {
    let Value::Dequantized(codes) = value else { return Ok(value) };
    let Dequantized { source: Source::Tensor(at), quant, functions } = &codes else {
        return Ok(Value::Dequantized(codes));
    };
    let Some((function, _)) =
        functions.last().filter(|_| quant.single().is_some() && quant.dtype.bits() <= 8)
    else {
        return Ok(Value::Dequantized(codes));
    };
    let code = |code: i32| quant.code(codes.value(code), 0);
    let exact = quant.codes().codes().all(|from| quant.real(code(from), 0) == codes.value(from));
    if !exact || check_codes(network, node, *at, quant).is_err() {
        return Ok(Value::Dequantized(codes));
    }
    let name = format!("{}_{}", network.builder.tensor(at.id).name, function.name());
    let id = table(network, node, at.id, quant, &name, code)?;
    Ok(Value::Dequantized(Dequantized::new(Source::Tensor(Located { id, ..*at }), quant.clone())))
}

/// Returns codes, constant or not, as a tensor of the graph, with the channels last or not.
///
/// A constant is broadcast to `rank` axes.
pub(in crate::onnx) fn code_tensor<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    operand: Dequantized,
    channels_last: bool,
    rank: usize,
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

/// Adds constant codes with one scale as a tensor of the graph.
pub(in crate::onnx) fn constant_codes<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    constant: &Constant,
    quant: &Quant,
) -> Result<TensorId, OnnxError> {
    let codes = constant.as_integers().ok_or_else(|| node.error("has codes that are not integers"))?;
    let Coding { dtype, quantization } = network.code_type(node, quant, 1, false)?;
    let shape = if constant.shape.is_empty() { vec![1] } else { constant.shape.clone() };
    let ty = TensorType { shape, dtype, quantization };
    let name = format!("{}_constant", node.name());
    network.codes(node, &name, ty, codes.packed())
}

/// Returns a constant with the channels last, broadcast to `rank` axes. Without a change of order it is unchanged.
pub(in crate::onnx) fn ordered(constant: &Constant, channels_last: bool, rank: usize) -> Constant {
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
