//! Operators that move elements without changing them.

use guardbit_graph::ops::{Concat, MirrorPad, Pad, QuantizeFloat, RealFunction, Reshape, Slice};
use guardbit_graph::{DType, plain_name, word_of};
use guardbit_num::Rounding;

use crate::onnx::error::OnnxError;
use crate::onnx::normalise::axes::{permutation, reshaped};
use crate::onnx::normalise::parts::sides;
use crate::onnx::normalise::quant::{Quant, dtype};
use crate::onnx::parse::constant::{Constant, short_float};
use crate::onnx::parse::integers::Integers;
use crate::onnx::parse::node::Node;
use crate::onnx::parse::proto::element;
use crate::onnx::recognise::kit::codes::{constant_codes, ordered, table};
use crate::onnx::recognise::kit::floats::{float_cast, rounded};
use crate::onnx::recognise::kit::follow::follow;
use crate::onnx::recognise::kit::moves::{chosen, movable, moved};
use crate::onnx::recognise::kit::network::{Network, axis_of, transposition};
use crate::onnx::recognise::kit::operand::{operand, result};
use crate::onnx::recognise::kit::pairs::{apply, map};
use crate::onnx::recognise::kit::value::{Dequantized, Located, Source, Value, graph_axis};
use crate::onnx::recognise::kit::weighted::EVEN;

/// Reads Reshape, Flatten, Squeeze and Unsqueeze.
pub(super) fn reshape<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = movable(network, node)?;
    let shape = reshaped(network.known, node, &network.shape(&value))?;
    // The graph represents a scalar as one axis with one element.
    let shape = if shape.is_empty() { vec![1] } else { shape };
    let shape = shape.into_iter().map(|size| size as i64).collect();
    let value = moved(network, node, value, Reshape { shape }, "reshaped")?;
    network.bind(node, 0, value)
}

pub(super) fn transpose<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = movable(network, node)?;
    let permutation = permutation(node, network.shape(&value).len())?;
    if let Some(value) = reordered(&value, &permutation) {
        return network.bind(node, 0, value);
    }
    let op = transposition(&network.shape(&value), permutation);
    let value = moved(network, node, value, op, "transposed")?;
    network.bind(node, 0, value)
}

/// Returns the value if its elements are already in the permuted order in the graph.
fn reordered(value: &Value, permutation: &[usize]) -> Option<Value> {
    let (from, rank) = (value.located()?, permutation.len());
    let order: Vec<usize> = match from.channels_last {
        true => std::iter::once(0).chain(2..rank).chain([1]).collect(),
        false => [0, rank.checked_sub(1)?].into_iter().chain(1..rank - 1).collect(),
    };
    let same = rank >= 3 && order == permutation;
    same.then(|| value.clone().at(Located { channels_last: !from.channels_last, ..from }))
}

pub(super) fn identity<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    if node.output(1).is_some_and(|name| network.is_read(name)) {
        return Err(node.error("returns a mask, which cannot be represented"));
    }
    let value = network.input(node, 0)?;
    network.bind(node, 0, value)
}

/// Types of floating-point codes, without that of scales. Float16 has a function of its own.
const FLOATS: [i32; 6] = [
    element::BFLOAT16,
    element::FLOAT8E4M3FN,
    element::FLOAT8E4M3FNUZ,
    element::FLOAT8E5M2,
    element::FLOAT8E5M2FNUZ,
    element::FLOAT4E2M1,
];

/// Reads Cast. Integers of 32 bits become real values, and real values become floating-point codes.
pub(super) fn cast<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let to = i32::try_from(node.int("to", 0)).unwrap_or(0);
    let value = network.input(node, 0)?;
    let value = match value {
        Value::Codes(at) if network.builder.tensor(at.id).ty.dtype.is_short_float() => {
            let name = node.first_output()?;
            let name = if to == element::FLOAT { name.to_owned() } else { format!("{name}_real") };
            network.reals_of(node, at, &name)?
        }
        value => value,
    };
    let value = match (value, to) {
        // Codes used only as indices into a constant.
        (value @ Value::Codes(_), element::INT32 | element::INT64) if only_indices(network, node) => value,
        (value @ (Value::Real(_) | Value::Dequantized(_)), element::FLOAT) => value,
        (value @ (Value::Real(_) | Value::Dequantized(_)), element::FLOAT16) => {
            let name = plain_name(node.first_output()?).into_owned();
            network
                .builder
                .note(name, "values are rounded to float16 here; operators on them work in float32");
            let Value::Real(at) = value else { return map(network, node, RealFunction::Float16, Vec::new()) };
            Value::Real(apply(network, node, at, RealFunction::Float16, Vec::new(), node.first_output()?)?)
        }
        (value @ (Value::Real(_) | Value::Dequantized(_)), to) if FLOATS.contains(&to) => {
            float_codes(network, node, value, to)?
        }
        (Value::Codes(at), to) if dtype(to) == Some(network.builder.tensor(at.id).ty.dtype) => {
            Value::Codes(at)
        }
        (Value::Codes(at), element::FLOAT) => {
            let tensor = network.builder.tensor(at.id);
            let dtype = tensor.ty.dtype;
            let plain = tensor.ty.quantization.as_ref().is_none_or(|q| {
                q.scales().iter().all(|&scale| scale == 1.0) && q.zero_points().iter().all(|&z| z == 0)
            });
            if !plain {
                return Err(node.error(
                    "converts codes to real values without their scale, which cannot be represented",
                ));
            }
            Value::Dequantized(Dequantized::new(Source::Tensor(at), Quant::per_tensor(dtype, 1.0, 0)))
        }
        (value @ (Value::Real(_) | Value::Dequantized(_)), element::UINT8) => {
            integral(network, node, value, DType::UInt8)?
        }
        (value @ (Value::Real(_) | Value::Dequantized(_)), element::INT8) => {
            integral(network, node, value, DType::Int8)?
        }
        _ => {
            let to = element::name(to);
            return Err(node
                .error(format!("casts to {to}; expected float, floating-point codes, or codes of 8 bits")));
        }
    };
    network.bind(node, 0, value)
}

/// Converts real values to floating-point codes. Those of 16 bits stay real values.
fn float_codes<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    to: i32,
) -> Result<Value, OnnxError> {
    let name = node.first_output()?;
    let (Value::Real(at), Some(dtype)) = (network.materialize(node, value)?, short_float(to)) else {
        return Err(node.error("converts values that are not real numbers"));
    };
    let saturate = node.int("saturate", 1) != 0;
    if dtype.bits() < 16 {
        return Ok(Value::Codes(float_cast(network, node, at, dtype, saturate, name)?));
    }
    let at = rounded(network, node, at, dtype, name)?;
    let name = network.builder.tensor(at.id).name.clone();
    let note = format!("values are rounded to {dtype} here; operators on them work in float32");
    network.builder.note(name, note);
    Ok(Value::Real(at))
}

/// Rounds real values toward zero to integer codes.
fn integral<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    dtype: DType,
) -> Result<Value, OnnxError> {
    let channels_last = value.located().is_some_and(|at| at.channels_last);
    let id = network.real_tensor(node, value, channels_last)?;
    let ty = network.code_type(node, &Quant::per_tensor(dtype, 1.0, 0), 1, false)?;
    let op = QuantizeFloat { rounding: Rounding::TowardZero, zero_point_first: false };
    let id = network.emit(node, op, &[id], node.first_output()?, ty)?;
    Ok(Value::Codes(Located { id, channels_last }))
}

/// Returns whether the output of a node is only used as indices.
fn only_indices(network: &Network<'_>, node: Node<'_>) -> bool {
    let Some(name) = node.output(0) else { return false };
    let gathers = |&reader: &usize| {
        let reader = network.nodes[reader];
        reader.proto.op == "Gather" && reader.input(1) == Some(name) && reader.input(0) != Some(name)
    };
    let readers = network.inner_readers(name);
    !readers.is_empty() && readers.iter().all(gathers)
}

pub(super) fn pad<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = movable(network, node)?;
    let sides = sides(network.known, node, &network.shape(&value))?;
    let value = cropped(network, node, value, &sides)?;
    let sides: Vec<[usize; 2]> = sides.iter().map(|sides| sides.map(|side| side.max(0) as usize)).collect();
    let nothing = sides.iter().all(|sides| *sides == [0, 0]);
    let value = match node.text("mode", "constant").as_str() {
        "constant" | "reflect" | "edge" if nothing => value,
        "constant" => filled(network, node, value, &sides)?,
        "reflect" => moved(network, node, value, MirrorPad { paddings: sides, symmetric: false }, "padded")?,
        "edge" => repeated(network, node, value, &sides)?,
        other => return Err(node.error(format!("pads with mode `{other}`, which cannot be represented"))),
    };
    network.bind(node, 0, value)
}

/// Returns the value without the elements that negative pads remove.
fn cropped<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    sides: &[[i64; 2]],
) -> Result<Value, OnnxError> {
    let taken: Vec<[usize; 2]> =
        sides.iter().map(|sides| sides.map(|side| side.min(0).unsigned_abs() as usize)).collect();
    if taken.iter().all(|sides| *sides == [0, 0]) {
        return Ok(value);
    }
    let mut slice = Slice::whole(&network.shape(&value));
    for (axis, [before, after]) in taken.into_iter().enumerate() {
        slice.begin[axis] = before;
        slice.size[axis] -= before + after;
    }
    moved(network, node, value, slice, "cropped")
}

/// Pads with the outermost elements.
fn repeated<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    sides: &[[usize; 2]],
) -> Result<Value, OnnxError> {
    let mut value = value;
    for (axis, &[before, after]) in sides.iter().enumerate().filter(|(_, sides)| **sides != [0, 0]) {
        let size = network.shape(&value)[axis];
        let places = (0..before + size + after).map(|place| place.saturating_sub(before).min(size - 1));
        let places: Vec<usize> = places.collect();
        value = chosen(network, node, value, axis, &places, &format!("edge{axis}"))?;
    }
    Ok(value)
}

/// Pads with one value.
fn filled<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    sides: &[[usize; 2]],
) -> Result<Value, OnnxError> {
    let from = value.located().ok_or_else(|| node.error("pads a constant"))?;
    let (value, from) = holding_real_zero(network, node, value, from)?;
    let code = filler(network, node, &value)?;
    // Maps the axes to those of the graph.
    let mut paddings = vec![[0, 0]; sides.len()];
    for (axis, &sides) in sides.iter().enumerate() {
        paddings[axis_of(network, from, axis)] = sides;
    }
    let name = match &value {
        Value::Dequantized(_) => format!("{}_padded", network.builder.tensor(from.id).name),
        _ => node.first_output()?.to_owned(),
    };
    let op = Pad { paddings, value: Some(code) };
    let id = network.emit_like(node, op, &[from.id], &name, from.id)?;
    Ok(value.at(Located { id, ..from }))
}

/// Returns a value of bipolar codes, which do not include 0, as one of all codes from the least to the greatest.
fn holding_real_zero<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    from: Located,
) -> Result<(Value, Located), OnnxError> {
    let Value::Dequantized(d) = value else { return Ok((value, from)) };
    if d.quant.codes().step() == 1 {
        return Ok((Value::Dequantized(d), from));
    }
    let quant =
        Quant { range: Some((d.quant.codes().min()..=d.quant.codes().max()).into()), ..d.quant.clone() };
    let name = format!("{}_and_zero", network.builder.tensor(from.id).name);
    let id = table(network, node, from.id, &quant, &name, |code| quant.codes().clamp(code.into()))?;
    let from = Located { id, ..from };
    Ok((Value::Dequantized(Dequantized { source: Source::Tensor(from), quant, ..d }), from))
}

/// Returns the code of the value with which a Pad node fills.
fn filler(network: &Network<'_>, node: Node<'_>, value: &Value) -> Result<i32, OnnxError> {
    let filler = match network.known.optional_constant(node, 2)? {
        None => 0.0,
        Some(constant) => match (constant.as_reals(), constant.as_integers().and_then(Integers::only)) {
            (Some(&[value]), _) => value,
            (_, Some(value)) => value as f32,
            _ => return Err(node.error("pads with a value that is not a single number")),
        },
    };
    match value {
        Value::Real(_) => Ok(word_of(filler)),
        Value::Codes(_) => Ok(filler as i32),
        Value::Dequantized(d)
            if d.functions.is_empty() && d.quant.real(d.quant.code(filler, 0), 0) == filler =>
        {
            Ok(d.quant.code(filler, 0))
        }
        _ => Err(node.error(format!("pads with {filler}, which is not the value of a code"))),
    }
}

pub(super) fn concat<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let count = node.proto.inputs.len();
    let values = (0..count).map(|index| network.input(node, index)).collect::<Result<Vec<_>, _>>()?;
    let quant = follow(network, node)?.map(|follow| follow.quant);
    joined(network, node, values, quant)
}

/// Binds the output to concatenated codes with the given quantization.
fn joined_as<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    values: Vec<Value>,
    quant: &Quant,
) -> Result<(), OnnxError> {
    let axis = node.axis(node.int("axis", 0), network.shape(&values[0]).len())?;
    let codes = values.into_iter().map(|value| requantized(network, node, value, quant));
    let codes = codes.collect::<Result<Vec<_>, _>>()?;
    let at = join(network, node, &codes, axis, node.first_output()?)?;
    network.bind(node, 0, Value::Codes(at))
}

/// Returns tensors concatenated along an axis. Codes get one quantization, that of a following quantizer if there is
/// one.
fn joined<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    values: Vec<Value>,
    quant: Option<Quant>,
) -> Result<(), OnnxError> {
    let first = values.first().ok_or_else(|| node.error("has no inputs to concatenate"))?;
    let rank = network.shape(first).len();
    let axis = node.axis(node.int("axis", 0), rank)?;
    if values.iter().all(|value| matches!(value, Value::Codes(_))) {
        let at = join(network, node, &values, axis, node.first_output()?)?;
        return network.bind(node, 0, Value::Codes(at));
    }
    let of_codes = |value: &Value| match value {
        Value::Dequantized(d) if d.quant.single().is_some() && d.quant.dtype.bits() <= 8 => {
            Some(d.quant.clone())
        }
        _ => None,
    };
    let quants: Option<Vec<Quant>> = values.iter().map(of_codes).collect();
    let plain = values.iter().all(|value| matches!(value, Value::Dequantized(d) if d.functions.is_empty()));
    let same = quants.as_ref().filter(|quants| plain && quants.iter().all(|quant| *quant == quants[0]));
    let target = same.map(|quants| quants[0].clone()).or(quants.and(quant));
    if let Some(target) = target {
        let codes = values.into_iter().map(|value| requantized(network, node, value, &target));
        let codes = codes.collect::<Result<Vec<_>, _>>()?;
        let at = join(network, node, &codes, axis, &format!("{}_codes", node.first_output()?))?;
        return network.bind(node, 0, Value::Dequantized(Dequantized::new(Source::Tensor(at), target)));
    }
    let reals = values.into_iter().map(|value| network.materialize(node, value));
    let reals = reals.collect::<Result<Vec<_>, _>>()?;
    let at = join(network, node, &reals, axis, node.first_output()?)?;
    network.bind(node, 0, Value::Real(at))
}

/// Returns codes with another quantization.
fn requantized<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    quant: &Quant,
) -> Result<Value, OnnxError> {
    let Value::Dequantized(d) = value else {
        return Err(node.error("concatenates values that are not codes"));
    };
    if d.functions.is_empty() && d.quant == *quant {
        return Ok(Value::Dequantized(d));
    }
    let code = |code: i32| quant.code(d.value(code), 0);
    let source = match &d.source {
        Source::Tensor(at) => {
            let name = format!("{}_requantized", network.builder.tensor(at.id).name);
            let id = table(network, node, at.id, quant, &name, code)?;
            Source::Tensor(Located { id, ..*at })
        }
        Source::Constant(constant) => {
            let codes = constant.as_integers().ok_or_else(|| {
                node.error(
                    "concatenates values that are not \
                                                                         codes",
                )
            })?;
            let codes = codes.iter().map(|c| code(c as i32).into());
            Source::Constant(std::rc::Rc::new(Constant::integers(
                constant.element,
                constant.shape.clone(),
                codes,
            )))
        }
    };
    Ok(Value::Dequantized(Dequantized::new(source, quant.clone())))
}

/// Concatenates tensors of one type.
fn join<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    values: &[Value],
    axis: usize,
    name: &str,
) -> Result<Located, OnnxError> {
    let channels_last = values.iter().filter_map(Value::located).all(|at| at.channels_last)
        && values.iter().any(|value| value.located().is_some());
    let mut inputs = Vec::new();
    for value in values {
        inputs.push(match (value, value.located()) {
            (_, Some(at)) => network.in_order(node, at, channels_last)?,
            (Value::Dequantized(Dequantized { source: Source::Constant(constant), quant, .. }), _) => {
                let constant = ordered(constant, channels_last, constant.shape.len());
                constant_codes(network, node, &constant, quant)?
            }
            (value, _) => network.real_tensor(node, value.clone(), channels_last)?,
        });
    }
    let rank = network.builder.tensor(inputs[0]).ty.shape.len();
    let axis = graph_axis(axis, rank, channels_last);
    let like = inputs[0];
    let same = inputs.iter().all(|&id| {
        let (a, b) = (&network.builder.tensor(id).ty, &network.builder.tensor(like).ty);
        a.dtype == b.dtype && a.quantization == b.quantization && a.dtype != DType::Int32
    });
    if !same {
        return Err(node.error("concatenates codes of different quantizations; add a quantizer after it"));
    }
    let id = network.emit_like(node, Concat { axis, requantize: EVEN }, &inputs, name, like)?;
    Ok(Located { id, channels_last })
}

pub(super) fn qlinear_concat<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let count = node.proto.inputs.len();
    if count < 5 || count % 3 != 2 {
        return Err(node.error(format!("has {count} inputs")));
    }
    let values = (2..count).step_by(3).map(|index| operand(network, node, index, 0));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    let quant = result(network, node, 0, &values[0])?;
    joined_as(network, node, values, &quant)
}
