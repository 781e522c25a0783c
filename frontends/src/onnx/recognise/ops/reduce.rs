//! Reductions.

use guardbit_graph::ops::{FloatMean, FloatReduce, RealReduction, ReduceMax, ReduceMin};
use guardbit_graph::{DType, Op, TensorId};

use crate::onnx::error::OnnxError;
use crate::onnx::normalise::axes::reduced;
use crate::onnx::parse::node::Node;
use crate::onnx::recognise::kit::codes::check_codes;
use crate::onnx::recognise::kit::network::{Network, axis_of};
use crate::onnx::recognise::kit::value::{Coding, Dequantized, Located, Source, Value};

pub(super) fn mean<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    let (axes, keep_dims) =
        (reduced(network.known, node, network.shape(&value).len())?, node.int("keepdims", 1) != 0);
    real(network, node, value, FloatMean { axes, keep_dims }.into())
}

pub(super) fn sum<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    with(network, node, RealReduction::Sum)
}

pub(super) fn product<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    with(network, node, RealReduction::Product)
}

pub(super) fn max<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    extreme(network, node, RealReduction::Maximum)
}

pub(super) fn min<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    extreme(network, node, RealReduction::Minimum)
}

fn with<'a>(network: &mut Network<'a>, node: Node<'a>, function: RealReduction) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    let (axes, keep_dims) =
        (reduced(network.known, node, network.shape(&value).len())?, node.int("keepdims", 1) != 0);
    real(network, node, value, FloatReduce { function, axes, keep_dims }.into())
}

fn real<'a>(network: &mut Network<'a>, node: Node<'a>, value: Value, op: Op) -> Result<(), OnnxError> {
    let id = network.real_tensor(node, value, false)?;
    let id = network.emit(node, op, &[id], node.first_output()?, Coding::REAL)?;
    network.bind(node, 0, Value::Real(Located { id, channels_last: false }))
}

/// Reads a maximum or minimum. An extreme of codes is one of them.
fn extreme<'a>(network: &mut Network<'a>, node: Node<'a>, function: RealReduction) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    let rank = network.shape(&value).len();
    let (axes, keep_dims) = (reduced(network.known, node, rank)?, node.int("keepdims", 1) != 0);
    let Some(at) = codes(network, node, &value)? else {
        return with(network, node, function);
    };
    let id = network.in_order(node, at, false)?;
    let id = of_codes(network, node, id, function, axes, keep_dims)?;
    bind(network, node, value, Located { id, channels_last: false })
}

/// Returns codes with one scale, whether the value is codes or their real values.
fn codes(network: &Network<'_>, node: Node<'_>, value: &Value) -> Result<Option<Located>, OnnxError> {
    let at = match value {
        Value::Codes(at) => *at,
        Value::Dequantized(Dequantized { source: Source::Tensor(at), quant, functions })
            if functions.is_empty() && quant.single().is_some() && quant.dtype != DType::Int32 =>
        {
            check_codes(network, node, *at, quant)?;
            *at
        }
        _ => return Ok(None),
    };
    Ok(Some(at))
}

fn of_codes<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    id: TensorId,
    function: RealReduction,
    axes: Vec<usize>,
    keep_dims: bool,
) -> Result<TensorId, OnnxError> {
    let op: Op = match function {
        RealReduction::Maximum => ReduceMax { axes, keep_dims }.into(),
        _ => ReduceMin { axes, keep_dims }.into(),
    };
    let name = format!("{}_codes", node.first_output()?);
    network.emit_like(node, op, &[id], &name, id)
}

/// Binds the output to a value with the type of the input and its elements in another tensor.
fn bind<'a>(network: &mut Network<'a>, node: Node<'a>, like: Value, at: Located) -> Result<(), OnnxError> {
    let value = match like {
        Value::Dequantized(d) => Value::Dequantized(Dequantized { source: Source::Tensor(at), ..d }),
        _ => Value::Codes(at),
    };
    network.bind(node, 0, value)
}

/// Reads GlobalMaxPool, the greatest value of each channel of an image.
pub(super) fn global_max<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    let rank = network.shape(&value).len();
    if rank < 3 {
        return Err(node.error("needs images"));
    }
    match codes(network, node, &value)? {
        Some(at) => {
            let axes = (2..rank).map(|axis| axis_of(network, at, axis)).collect();
            let id = of_codes(network, node, at.id, RealReduction::Maximum, axes, true)?;
            bind(network, node, value, Located { id, ..at })
        }
        None => {
            let function = RealReduction::Maximum;
            real(
                network,
                node,
                value,
                FloatReduce { function, axes: (2..rank).collect(), keep_dims: true }.into(),
            )
        }
    }
}
