//! Pools.

use guardbit_graph::ops::{FloatAvgPool2d, FloatMaxPool2d, FloatMean, MaxPool2d, Mean, QuantizeFloat};
use guardbit_graph::{Activation, DType, Op};
use guardbit_num::Rounding;

use super::convolution::{Sliding, sliding};
use super::quantize::{Follow, check_codes, follow};
use super::weighted::EVEN;
use crate::onnx::error::OnnxError;
use crate::onnx::network::Network;
use crate::onnx::node::Node;
use crate::onnx::value::{Dequantized, Located, Source, Value};

/// The window of a pool over a value.
fn window(network: &Network<'_>, node: Node<'_>, value: &Value) -> Result<Sliding, OnnxError> {
    let shape = network.shape(value);
    let kernel = node.sizes("kernel_shape")?.ok_or_else(|| node.error("lacks `kernel_shape`"))?;
    let image = shape.get(2..).unwrap_or_default();
    if image.len() != 2 {
        return Err(node.error(format!("pools {shape:?}; two axes of an image can be represented")));
    }
    let window = sliding(node, &kernel, image)?;
    if window.dilation != [1, 1] {
        return Err(node.error("has dilations; 1 can be represented"));
    }
    if node.int("ceil_mode", 0) != 0 {
        let sides = match window.padding {
            guardbit_graph::Padding::Explicit { rows, cols } => [rows, cols],
            _ => [[0, 0]; 2],
        };
        let exact = |axis: usize| {
            let padded = image[axis] + sides[axis][0] + sides[axis][1];
            padded >= window.kernel[axis] && (padded - window.kernel[axis]) % window.stride[axis] == 0
        };
        if !(exact(0) && exact(1)) {
            return Err(
                node.error("has `ceil_mode` with windows beyond the padding, which cannot be represented")
            );
        }
    }
    Ok(window)
}

pub(super) fn max<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    if node.output(1).is_some_and(|name| network.is_read(name)) || node.int("storage_order", 0) != 0 {
        return Err(node.error("gives indices, which cannot be represented"));
    }
    let value = network.input(node, 0)?;
    let Sliding { kernel, stride, padding, .. } = window(network, node, &value)?;
    let name = node.first_output()?;
    let codes = MaxPool2d { kernel, stride, padding, activation: Activation::None };
    let made = match value {
        Value::Codes(at) => {
            let id = network.in_order(node, at, true)?;
            let id = network.emit_like(node, codes, &[id], name, id)?;
            Value::Codes(Located { id, channels_last: true })
        }
        Value::Dequantized(d)
            if matches!(&d.source, Source::Tensor(_))
                && d.functions.is_empty()
                && d.quant.dtype != DType::Int32 =>
        {
            let Source::Tensor(at) = d.source else { return Err(node.error("cannot be read")) };
            check_codes(network, node, at, &d.quant)?;
            let id = network.in_order(node, at, true)?;
            let id = network.emit_like(node, codes, &[id], &format!("{name}_codes"), id)?;
            Value::Dequantized(Dequantized::new(Source::Tensor(Located { id, channels_last: true }), d.quant))
        }
        value => {
            let id = network.real_tensor(node, value, true)?;
            let op = FloatMaxPool2d { kernel, stride, padding };
            let id = network.emit(node, op, &[id], name, (DType::Float32, None))?;
            Value::Real(Located { id, channels_last: true })
        }
    };
    network.bind(node, 0, made)
}

pub(super) fn average<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    let follow = follow(network, node)?;
    average_of(network, node, value, follow)
}

/// An average pool: of real values, as ONNX Runtime does it for codes too.
pub(super) fn average_of<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    follow: Option<Follow<'a>>,
) -> Result<(), OnnxError> {
    let Sliding { kernel, stride, padding, .. } = window(network, node, &value)?;
    let count_padding = node.int("count_include_pad", 0) != 0;
    // ONNX Runtime takes a pool between codes of one dtype as a whole.
    let whole = matches!(&value, Value::Dequantized(d) if d.functions.is_empty() && d.quant.dtype.bits() == 8
        && follow.as_ref().is_some_and(|follow| follow.kernel == d.quant.dtype));
    let id = network.real_tensor(node, value, true)?;
    let op = FloatAvgPool2d { kernel, stride, padding, count_padding };
    real_then_codes(network, node, op.into(), id, follow.filter(|_| whole), true)
}

/// An operation on real values with its quantizer.
fn real_then_codes<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    op: Op,
    input: guardbit_graph::TensorId,
    follow: Option<Follow<'a>>,
    channels_last: bool,
) -> Result<(), OnnxError> {
    let name = node.first_output()?;
    let real_name = if follow.is_some() { format!("{name}_real") } else { name.to_owned() };
    let id = network.emit(node, op, &[input], &real_name, (DType::Float32, None))?;
    let Some(follow) = follow else {
        return network.bind(node, 0, Value::Real(Located { id, channels_last }));
    };
    let follow = follow.without_activation();
    let ty = network.code_type(node, &follow.quant, 1, false)?;
    let quantize = QuantizeFloat { rounding: Rounding::HalfEven, zero_point_first: true };
    let id = network.emit(node, quantize, &[id], &follow.name.clone(), ty)?;
    follow.finish(network, node, Located { id, channels_last })
}

pub(super) fn global_average<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    let follow = follow(network, node)?;
    global_average_of(network, node, value, follow)
}

/// A mean over images: of codes where a quantizer of the same dtype follows.
pub(super) fn global_average_of<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    follow: Option<Follow<'a>>,
) -> Result<(), OnnxError> {
    if network.shape(&value).len() != 4 {
        return Err(
            node.error(format!("pools {:?}; images of two axes can be represented", network.shape(&value)))
        );
    }
    let axes = vec![1, 2];
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
    let id = network.emit(node, op, &[id], name, (DType::Float32, None))?;
    network.bind(node, 0, Value::Real(Located { id, channels_last: true }))
}
