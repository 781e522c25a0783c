//! QuantizeLinear and DequantizeLinear.

use std::rc::Rc;

use guardbit_graph::ops::{QuantizeFloat, Table};
use guardbit_graph::{TensorId, TensorType};
use guardbit_num::Rounding;

use super::blocks::{dequantize_blocks, quantize_blocks};
use super::qonnx;
use super::quantizer::{Quantizer, dtype, element_of, quant_at, quantizer, range};
use crate::onnx::constant::Constant;
use crate::onnx::error::OnnxError;
use crate::onnx::network::Network;
use crate::onnx::node::Node;
use crate::onnx::proto::element;
use crate::onnx::value::{Dequantized, Located, Quant, Source, Value, graph_axis};

/// A table of the codes that a function makes of codes.
pub(crate) fn table<'a>(
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
        return Err(node.error(format!("cannot map codes of type {from} by a table; expected at most 16 bits")));
    }
    let made: Vec<i32> = (from.min()..=from.max()).map(function).collect();
    let (dtype, quantization) = network.code_type(node, quant, 1, false)?;
    let ty = TensorType { shape: vec![made.len()], dtype, quantization: quantization.clone() };
    let table = network.codes(node, &format!("{name}_table"), ty, made)?;
    network.emit(node, Table {}, &[codes, table], name, (dtype, quantization))
}

/// Replaces functions of dequantized codes by a table of codes with the same scale, if it holds every value exactly, as for Relu.
pub(super) fn without_functions<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
) -> Result<Value, OnnxError> {
    let Value::Dequantized(codes) = value else { return Ok(value) };
    let Dequantized { source: Source::Tensor(at), quant, functions } = &codes else {
        return Ok(Value::Dequantized(codes));
    };
    let Some((function, _)) = functions.last().filter(|_| quant.single().is_some() && quant.dtype.bits() <= 8)
    else {
        return Ok(Value::Dequantized(codes));
    };
    let code = |code: i32| quant.code(codes.value(code), 0);
    let [low, high] = quant.limits();
    let exact = (low..=high).all(|from| quant.real(code(from), 0) == codes.value(from));
    if !exact || check_codes(network, node, *at, quant).is_err() {
        return Ok(Value::Dequantized(codes));
    }
    let name = format!("{}_{}", network.builder.tensor(at.id).name, function.name());
    let id = table(network, node, at.id, quant, &name, code)?;
    Ok(Value::Dequantized(Dequantized::new(Source::Tensor(Located { id, ..*at }), quant.clone())))
}

pub(super) fn quantize_linear<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    if node.int("block_size", 0) != 0 {
        return quantize_blocks(network, node);
    }
    if super::dynamic::quantize(network, node)? {
        return Ok(());
    }
    let quantizer = quantizer(network, node)?.ok_or_else(|| node.error("cannot be read"))?;
    let value = network.input(node, 0)?;
    quantized(network, quantizer, value)
}

/// Codes of a value.
pub(crate) fn quantized<'a>(
    network: &mut Network<'a>,
    quantizer: Quantizer<'a>,
    value: Value,
) -> Result<(), OnnxError> {
    let node = quantizer.last();
    let name = node.first_output()?.to_owned();
    quantizer.clip.into_iter().for_each(|clip| network.done(clip.index));
    if let Some(same) = widened(network, &quantizer, &value) {
        return network.bind(node, 0, same);
    }
    if let (Value::Dequantized(Dequantized { source: Source::Tensor(at), quant, functions }), true) =
        (&value, quantizer.is_plain())
    {
        let given = network.inputs.contains(&at.id) && network.is_output(&name);
        if functions.is_empty() && *quant == quantizer.quant && !given {
            return bind_codes(network, &quantizer, *at);
        }
        let single = quant.single().is_some() && quantizer.quant.single().is_some();
        if single && quant.dtype.bits() <= 8 {
            let dequantized = Dequantized {
                source: Source::Tensor(*at),
                quant: quant.clone(),
                functions: functions.clone(),
            };
            let code = |code: i32| quantizer.quant.code(dequantized.value(code), 0);
            let id = table(network, node, at.id, &quantizer.quant, &name, code)?;
            return bind_codes(network, &quantizer, Located { id, ..*at });
        }
    }
    let at = match network.materialize(node, value)? {
        Value::Real(at) => at,
        Value::Constant(constant) => {
            let codes = constant_codes(node, &constant, &quantizer)?;
            let dequantized = Dequantized::new(Source::Constant(Rc::new(codes)), quantizer.quant.clone());
            let value = match (quantizer.dequantizes, dequantized.source.clone()) {
                (false, Source::Constant(codes)) => Value::Constant(codes),
                _ => Value::Dequantized(dequantized),
            };
            return network.bind(node, 0, value);
        }
        _ => return Err(node.error("quantizes what is no real value")),
    };
    let at = emit_quantizer(network, &quantizer, at, &name)?;
    bind_codes(network, &quantizer, at)
}

/// Codes that a quantizer of the same scale and zero point, and of at least all of them, leaves as they are.
fn widened<'a>(network: &Network<'a>, quantizer: &Quantizer<'a>, value: &Value) -> Option<Value> {
    let Value::Dequantized(Dequantized { source, quant, functions }) = value else { return None };
    let to = &quantizer.quant;
    let same = quant.scales == to.scales && quant.zero_points == to.zero_points && quant.axis == to.axis;
    if !same || !functions.is_empty() || !quantizer.is_plain() || quantizer.dequantizes {
        return None;
    }
    let limits = match source {
        Source::Constant(_) => quant.limits(),
        Source::Tensor(at) => {
            let range = network.builder.tensor(at.id).ty.code_range();
            [range.min(), range.max()]
        }
    };
    let [low, high] = to.limits();
    let (narrower, fits) = (quant.dtype != to.dtype, low <= limits[0] && limits[1] <= high);
    match source {
        _ if !narrower || !fits => None,
        Source::Constant(codes) => Some(Value::Constant(Rc::clone(codes))),
        Source::Tensor(at) => Some(Value::Codes(*at)),
    }
}

pub(super) fn bind_codes<'a>(
    network: &mut Network<'a>,
    quantizer: &Quantizer<'a>,
    at: Located,
) -> Result<(), OnnxError> {
    let value = match quantizer.dequantizes {
        true => Value::Dequantized(Dequantized::new(Source::Tensor(at), quantizer.quant.clone())),
        false => Value::Codes(at),
    };
    network.bind(quantizer.last(), 0, value)
}

/// Codes of real values in the graph.
pub(super) fn emit_quantizer<'a>(
    network: &mut Network<'a>,
    quantizer: &Quantizer<'a>,
    at: Located,
    name: &str,
) -> Result<Located, OnnxError> {
    let (node, quant) = (quantizer.node, &quantizer.quant);
    let mut at = at;
    let mut rounding = quantizer.rounding;
    if let Some(scale) = quantizer.bipolar {
        at = super::elementwise::apply(
            network,
            node,
            at,
            guardbit_graph::ops::RealFunction::Bipolar,
            vec![scale],
            &format!("{name}_sign"),
        )?;
        rounding = Rounding::HalfEven;
    }
    let rank = network.shape_of(at).len();
    let ty = network.code_type(node, quant, rank, at.channels_last)?;
    let op = QuantizeFloat { rounding, zero_point_first: false };
    let id = network.emit(node, op, &[at.id], name, ty)?;
    Ok(Located { id, ..at })
}

/// Codes of constant real values.
fn constant_codes(
    node: Node<'_>,
    constant: &Constant,
    quantizer: &Quantizer<'_>,
) -> Result<Constant, OnnxError> {
    let values = constant.as_reals().ok_or_else(|| node.error("quantizes what is no real value"))?;
    let quant = &quantizer.quant;
    let (inner, size) = match quant.axis {
        Some(axis) if axis < constant.shape.len() => {
            (constant.shape[axis + 1..].iter().product(), constant.shape[axis])
        }
        Some(axis) => {
            return Err(node.error(format!("has axis {axis}, but {} axes to quantize", constant.shape.len())));
        }
        None => (usize::MAX, 1),
    };
    if size != quant.scales.len() && quant.scales.len() > 1 {
        return Err(node.error(format!("has {} scales along an axis of {size}", quant.scales.len())));
    }
    let code = |(index, &value): (usize, &f32)| match quantizer.bipolar {
        Some(_) => {
            if value >= 0.0 {
                1
            } else {
                -1
            }
        }
        None => i64::from(qonnx::code(quant, quantizer.rounding, value, index / inner % size)),
    };
    let codes = values.iter().enumerate().map(code).collect();
    let codes = Constant::integers(element_of(quant.dtype), constant.shape.clone(), codes);
    Ok(Constant { range: quant.range, ..codes })
}

pub(super) fn dequantize_linear<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    if node.int("block_size", 0) != 0 {
        return dequantize_blocks(network, node);
    }
    if super::dynamic::dequantize(network, node)? {
        return Ok(());
    }
    let value = network.input(node, 0)?;
    let rank = network.shape(&value).len();
    let number = match &value {
        Value::Constant(constant) => Some(constant.element),
        _ => None,
    };
    let mut quant = quant_at(network, node, 1, number, rank, node.int("axis", 1))?;
    let source = match value {
        Value::Constant(constant) => {
            quant.dtype = dtype(constant.element).ok_or_else(|| {
                node.error(format!("reads codes of type {}", element::name(constant.element)))
            })?;
            quant.range = constant.range.or_else(|| range(constant.element));
            Source::Constant(constant)
        }
        Value::Codes(at) => {
            // Codes of fewer values may be read as codes of 8 bits.
            let dtype = network.builder.tensor(at.id).ty.dtype;
            if network.optional_constant(node, 2)?.is_none() {
                quant.dtype = dtype;
            }
            match check_codes(network, node, at, &quant) {
                Ok(()) => Source::Tensor(at),
                // The same codes with other values.
                Err(_) if quant.single().is_some() && quant.dtype == dtype && dtype.bits() <= 8 => {
                    let name = format!("{}_codes", node.first_output()?);
                    let id = table(network, node, at.id, &quant, &name, |code| code)?;
                    network.reread.insert(id, at.id);
                    Source::Tensor(Located { id, ..at })
                }
                Err(error) => return Err(error),
            }
        }
        _ => return Err(node.error("reads real values; it works on codes")),
    };
    network.bind(node, 0, Value::Dequantized(Dequantized::new(source, quant)))
}

/// Fails where codes are read with another quantization than they were made with.
pub(crate) fn check_codes(
    network: &Network<'_>,
    node: Node<'_>,
    at: Located,
    quant: &Quant,
) -> Result<(), OnnxError> {
    let tensor = network.builder.tensor(at.id);
    let rank = tensor.ty.shape.len();
    let (_, wanted) = network.code_type(node, quant, rank, at.channels_last)?;
    let same = |a: &guardbit_graph::Quantization, b: &guardbit_graph::Quantization| {
        a.scales() == b.scales() && a.zero_points() == b.zero_points() && a.axis() == b.axis()
    };
    match (&tensor.ty.quantization, &wanted) {
        (Some(own), Some(wanted)) if !same(own, wanted) => Err(node.error(format!(
            "reads the codes of `{}` with scale {} and zero point {}; they were made with {} and {}: what is needed is \
             a node that quantizes them anew",
            tensor.name, wanted.scale(0), wanted.zero_point(0), own.scale(0), own.zero_point(0)
        ))),
        _ => Ok(()),
    }
}

/// Where axis `axis` of the file is in the graph.
pub(crate) fn axis_of(network: &Network<'_>, at: Located, axis: usize) -> usize {
    graph_axis(axis, network.builder.tensor(at.id).ty.shape.len(), at.channels_last)
}
