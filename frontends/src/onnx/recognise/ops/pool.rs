//! Pools.

use guardbit_graph::ops::{FloatAvgPool2d, FloatMaxPool2d, FloatMean, MaxPool2d, Mean, QuantizeFloat};
use guardbit_graph::{Activation, Brief, DType, Op, TensorId};
use guardbit_num::Rounding;

use crate::onnx::error::OnnxError;
use crate::onnx::normalise::window::{Sliding, pooling};
use crate::onnx::parse::node::Node;
use crate::onnx::recognise::kit::codes::check_codes;
use crate::onnx::recognise::kit::follow::{Follow, follow};
use crate::onnx::recognise::kit::moves::{with_rows, without_rows};
use crate::onnx::recognise::kit::network::Network;
use crate::onnx::recognise::kit::operand::{operand, result};
use crate::onnx::recognise::kit::value::{Coding, Dequantized, Located, Source, Value};
use crate::onnx::recognise::kit::weighted::EVEN;

pub(super) fn max<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    if node.output(1).is_some_and(|name| network.is_read(name)) || node.int("storage_order", 0) != 0 {
        return Err(node.error("returns indices, which cannot be represented"));
    }
    let value = network.input(node, 0)?;
    let Sliding { kernel, stride, padding, .. } = pooling(node, &network.shape(&value), true)?;
    let name = node.first_output()?;
    let codes = MaxPool2d { kernel, stride, padding, activation: Activation::None };
    let made = match value {
        Value::Codes(at) => {
            let id = network.in_order(node, at, true)?;
            Value::Codes(pooled(network, node, codes.into(), id, name)?)
        }
        Value::Dequantized(d)
            if matches!(&d.source, Source::Tensor(_))
                && d.functions.is_empty()
                && d.quant.dtype != DType::Int32 =>
        {
            let Source::Tensor(at) = d.source else { return Err(node.error("is not supported")) };
            check_codes(network, node, at, &d.quant)?;
            let id = network.in_order(node, at, true)?;
            let at = pooled(network, node, codes.into(), id, &format!("{name}_codes"))?;
            Value::Dequantized(Dequantized::new(Source::Tensor(at), d.quant))
        }
        value => {
            let id = network.real_tensor(node, value, true)?;
            let op = FloatMaxPool2d { kernel, stride, padding };
            Value::Real(pooled(network, node, op.into(), id, name)?)
        }
    };
    network.bind(node, 0, made)
}

/// Adds a pool of images, or of one-dimensional signals as images of one row. The output keeps the type.
fn pooled<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    op: Op,
    id: TensorId,
    name: &str,
) -> Result<Located, OnnxError> {
    let line = network.builder.tensor(id).ty.shape.len() == 3;
    let id = if line { with_rows(network, node, id)? } else { id };
    let name = if line { format!("{name}_row") } else { name.to_owned() };
    let at = Located { id: network.emit_like(node, op, &[id], &name, id)?, channels_last: true };
    if line { without_rows(network, node, at) } else { Ok(at) }
}

pub(super) fn average<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    let follow = follow(network, node)?;
    average_of(network, node, value, follow)
}

/// Adds an average pool of real values. ONNX Runtime computes codes in this way, too.
fn average_of<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    follow: Option<Follow<'a>>,
) -> Result<(), OnnxError> {
    let Sliding { kernel, stride, padding, .. } = pooling(node, &network.shape(&value), false)?;
    let count_padding = node.int("count_include_pad", 0) != 0;
    // ONNX Runtime fuses a pool between codes of one dtype.
    let whole = matches!(&value, Value::Dequantized(d) if d.functions.is_empty() && d.quant.dtype.bits() == 8
        && follow.as_ref().is_some_and(|follow| follow.kernel == d.quant.dtype));
    let id = network.real_tensor(node, value, true)?;
    let op = FloatAvgPool2d { kernel, stride, padding, count_padding };
    let (name, follow) = (node.first_output()?, follow.filter(|_| whole));
    let real_name = if follow.is_some() { format!("{name}_real") } else { name.to_owned() };
    let at = pooled(network, node, op.into(), id, &real_name)?;
    let Some(follow) = follow else { return network.bind(node, 0, Value::Real(at)) };
    let follow = follow.without_activation();
    let ty = network.code_type(node, &follow.quant, 1, false)?;
    let quantize = QuantizeFloat { rounding: Rounding::HalfEven, zero_point_first: true };
    let id = network.emit(node, quantize, &[at.id], &follow.name.clone(), ty)?;
    follow.finish(network, node, Located { id, ..at })
}

pub(super) fn global_average<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    let follow = follow(network, node)?;
    global_average_of(network, node, value, follow)
}

/// Adds a mean over images: of codes if a quantizer to an equal dtype follows.
fn global_average_of<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    follow: Option<Follow<'a>>,
) -> Result<(), OnnxError> {
    let rank = network.shape(&value).len();
    if rank < 3 {
        return Err(node.error(format!("pools {}; expected images", Brief(&network.shape(&value)))));
    }
    let axes: Vec<usize> = (1..rank - 1).collect();
    let codes = match (&value, &follow) {
        (Value::Dequantized(Dequantized { source: Source::Tensor(at), quant, functions }), Some(follow)) => {
            let fits = functions.is_empty() && quant.single().is_some() && quant.dtype.bits() == 8;
            (fits && follow.kernel == quant.dtype).then(|| (*at, quant.clone()))
        }
        _ => None,
    };
    if let (Some((at, quant)), Some(follow)) = (codes, follow) {
        let follow = follow.without_activation();
        check_codes(network, node, at, &quant)?;
        let id = network.in_order(node, at, true)?;
        let ty = network.code_type(node, &follow.quant, 1, false)?;
        let op = Mean { axes, keep_dims: true, requantize: EVEN };
        let id = network.emit(node, op, &[id], &follow.name.clone(), ty)?;
        return follow.finish(network, node, Located { id, channels_last: true });
    }
    let id = network.real_tensor(node, value, true)?;
    let name = node.first_output()?;
    let op = FloatMean { axes, keep_dims: true };
    let id = network.emit(node, op, &[id], name, Coding::REAL)?;
    network.bind(node, 0, Value::Real(Located { id, channels_last: true }))
}

pub(super) fn qlinear_average<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    check_order(node)?;
    let x = operand(network, node, 0, 0)?;
    let follow = Some(Follow::of_operator(network, node, result(network, node, 3, &x)?)?);
    average_of(network, node, x, follow)
}

pub(super) fn qlinear_global_average<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    check_order(node)?;
    let x = operand(network, node, 0, 0)?;
    let follow = Some(Follow::of_operator(network, node, result(network, node, 3, &x)?)?);
    global_average_of(network, node, x, follow)
}

fn check_order(node: Node<'_>) -> Result<(), OnnxError> {
    match node.int("channels_last", 0) {
        0 => Ok(()),
        _ => Err(node.error("has its channels last; expected NCHW")),
    }
}
