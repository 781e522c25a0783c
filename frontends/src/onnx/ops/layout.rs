//! Operators that move elements and leave them as they are.

use guardbit_graph::ops::{Concat, MirrorPad, Pad, QuantizeFloat, Reshape};
use guardbit_graph::{Brief, DType, MAX_ELEMENTS, Op, TensorId, word_of};
use guardbit_num::Rounding;

use super::elementwise::{constant_codes, ordered};
use super::follow::{follow, narrowed_codes};
use super::quantize::{axis_of, table};
use super::quantizer::dtype;
use super::weighted::EVEN;
use crate::onnx::constant::elements_of;
use crate::onnx::error::OnnxError;
use crate::onnx::folding::{permutation, resolved_shape, squeezed};
use crate::onnx::inputs::said;
use crate::onnx::network::{Network, transposition};
use crate::onnx::node::Node;
use crate::onnx::proto::element;
use crate::onnx::value::{Dequantized, Located, Quant, Source, Value};

/// Where the elements of a value are, whatever they stand for.
pub(super) fn located(value: &Value) -> Option<Located> {
    match value {
        Value::Real(at) | Value::Codes(at) => Some(*at),
        Value::Dequantized(Dequantized { source: Source::Tensor(at), .. }) => Some(*at),
        _ => None,
    }
}

/// A value with its elements somewhere else.
pub(super) fn at(value: Value, at: Located) -> Value {
    match value {
        Value::Real(_) => Value::Real(at),
        Value::Codes(_) => Value::Codes(at),
        Value::Dequantized(d) => Value::Dequantized(Dequantized { source: Source::Tensor(at), ..d }),
        constant => constant,
    }
}

/// A value after an operation that moves elements, with its axes in the order of the file.
pub(super) fn moved<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    op: impl Into<Op>,
    what: &str,
) -> Result<Value, OnnxError> {
    moved_with(network, node, value, op, &[], what)
}

/// The same for an operation that reads more.
pub(super) fn moved_with<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    op: impl Into<Op>,
    more: &[TensorId],
    what: &str,
) -> Result<Value, OnnxError> {
    let value = match located(&value) {
        Some(from) => (from, value),
        None => return Err(node.error("works on a constant that could not be computed beforehand")),
    };
    let (from, value) = value;
    if per_axis(network, from) {
        return Err(node.error("moves codes with several scales, which cannot be represented"));
    }
    let id = network.in_order(node, from, false)?;
    let name = match &value {
        Value::Dequantized(_) => format!("{}_{what}", network.builder.tensor(id).name),
        _ => node.first_output()?.to_owned(),
    };
    let id = network.emit_like(node, op, &[&[id], more].concat(), &name, id)?;
    Ok(at(value, Located { id, channels_last: false }))
}

fn per_axis(network: &Network<'_>, at: Located) -> bool {
    network.builder.tensor(at.id).ty.quantization.as_ref().is_some_and(|q| q.axis().is_some())
}

/// The value for a move: codes with several scales become real values.
pub(super) fn movable<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<Value, OnnxError> {
    let value = network.input(node, 0)?;
    let several = located(&value).is_some_and(|at| per_axis(network, at));
    match value {
        Value::Dequantized(_) if several => network.materialize(node, value),
        Value::Dequantized(Dequantized { source: Source::Constant(_), .. }) => {
            network.materialize(node, value)
        }
        value => Ok(value),
    }
}

fn reshaped<'a>(network: &mut Network<'a>, node: Node<'a>, shape: Vec<usize>) -> Result<(), OnnxError> {
    let value = movable(network, node)?;
    // A scalar is one element of one axis.
    let shape = if shape.is_empty() { vec![1] } else { shape };
    if let Value::Constant(constant) = &value {
        let problem = || node.error(format!("cannot give {} the shape {}", Brief(&constant.shape), Brief(&shape)));
        let same = constant.with_shape(shape.clone()).ok_or_else(problem)?;
        return network.bind(node, 0, Value::Constant(std::rc::Rc::new(same)));
    }
    let shape = shape.into_iter().map(|size| size as i64).collect();
    let value = moved(network, node, value, Reshape { shape }, "reshaped")?;
    network.bind(node, 0, value)
}

pub(super) fn reshape<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let from = network.shape(&network.input(node, 0)?);
    let sizes = network.integers(node, 1)?;
    if node.int("allowzero", 0) != 0 && sizes.contains(&0) {
        return Err(node.error("makes an empty tensor"));
    }
    let shape = resolved_shape(&from, &sizes);
    let shape = shape.ok_or_else(|| node.error(format!("cannot give {} the shape {}", Brief(&from), Brief(&sizes))))?;
    reshaped(network, node, shape)
}

pub(super) fn flatten<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let shape = network.shape(&network.input(node, 0)?);
    let axis = node.axis(node.int("axis", 1), shape.len() + 1)?;
    let (front, back) = shape.split_at(axis);
    reshaped(network, node, vec![front.iter().product(), back.iter().product()])
}

pub(super) fn squeeze<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let shape = network.shape(&network.input(node, 0)?);
    let axes = match node.input(1) {
        Some(_) => Some(network.integers(node, 1)?),
        None => node.ints("axes").map(<[i64]>::to_vec),
    };
    let made = squeezed(node, &shape, axes.as_deref())?.ok_or_else(|| node.error("lacks its axes"))?;
    if made.iter().product::<usize>() != shape.iter().product::<usize>() {
        return Err(node.error(format!("cannot leave out axes of {} that are not of size 1", Brief(&shape))));
    }
    reshaped(network, node, made)
}

pub(super) fn transpose<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let rank = network.shape(&network.input(node, 0)?).len();
    let permutation = permutation(node, rank)?;
    let value = movable(network, node)?;
    if let Value::Constant(constant) = &value {
        let moved = constant.permuted(&permutation);
        return network.bind(node, 0, Value::Constant(std::rc::Rc::new(moved)));
    }
    if let Some(value) = reordered(&value, &permutation) {
        return network.bind(node, 0, value);
    }
    let op = transposition(&network.shape(&value), permutation);
    let value = moved(network, node, value, op, "transposed")?;
    network.bind(node, 0, value)
}

/// A value whose elements lie in the graph as the permutation orders them.
fn reordered(value: &Value, permutation: &[usize]) -> Option<Value> {
    let (from, rank) = (located(value)?, permutation.len());
    let order: Vec<usize> = match from.channels_last {
        true => std::iter::once(0).chain(2..rank).chain([1]).collect(),
        false => [0, rank.checked_sub(1)?].into_iter().chain(1..rank - 1).collect(),
    };
    let same = rank >= 3 && order == permutation;
    same.then(|| at(value.clone(), Located { channels_last: !from.channels_last, ..from }))
}

pub(super) fn identity<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    if node.output(1).is_some_and(|name| network.is_read(name)) {
        return Err(node.error("gives a mask, which cannot be represented"));
    }
    let value = network.input(node, 0)?;
    network.bind(node, 0, value)
}

/// Integers of 32 bits as real values; everything else stays what it is.
pub(super) fn cast<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let to = i32::try_from(node.int("to", 0)).unwrap_or(0);
    let value = network.input(node, 0)?;
    let value = match (value, to) {
        // Codes that choose elements of a constant.
        (value @ Value::Codes(_), element::INT32 | element::INT64) if only_indices(network, node) => value,
        (value @ (Value::Real(_) | Value::Dequantized(_)), element::FLOAT) => value,
        (Value::Codes(at), to) if dtype(to) == Some(network.builder.tensor(at.id).ty.dtype) => Value::Codes(at),
        (Value::Codes(at), element::FLOAT) => {
            let tensor = network.builder.tensor(at.id);
            let dtype = tensor.ty.dtype;
            let plain = tensor.ty.quantization.as_ref().is_none_or(|q| {
                q.scales().iter().all(|&scale| scale == 1.0) && q.zero_points().iter().all(|&z| z == 0)
            });
            if !plain {
                return Err(node.error(
                    "makes real values of codes whose scale it leaves out, which cannot be represented",
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
            return Err(node.error(format!("casts to {to}; float, and codes of 8 bits, can be represented")));
        }
    };
    network.bind(node, 0, value)
}

/// Real values as codes that stand for themselves: rounded toward zero.
fn integral<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    dtype: DType,
) -> Result<Value, OnnxError> {
    let channels_last = located(&value).is_some_and(|at| at.channels_last);
    let id = network.real_tensor(node, value, channels_last)?;
    let ty = network.code_type(node, &Quant::per_tensor(dtype, 1.0, 0), 1, false)?;
    let op = QuantizeFloat { rounding: Rounding::TowardZero, zero_point_first: false };
    let id = network.emit(node, op, &[id], node.first_output()?, ty)?;
    Ok(Value::Codes(Located { id, channels_last }))
}

/// Whether the output of a node is read as indices alone.
fn only_indices(network: &Network<'_>, node: Node<'_>) -> bool {
    let Some(name) = node.output(0) else { return false };
    let gathers = |&reader: &usize| {
        let reader = network.nodes[reader];
        reader.proto.op == "Gather" && reader.input(1) == Some(name) && reader.input(0) != Some(name)
    };
    let readers = network.inner_readers(name);
    !readers.is_empty() && readers.iter().all(gathers)
}

/// Elements of a constant chosen by codes: a table.
pub(super) fn gather<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (entries, at) = match (network.input(node, 0)?, network.input(node, 1)?) {
        (Value::Constant(entries), Value::Codes(at)) => (entries, at),
        (_, Value::Constant(indices)) => return super::parts::gather(network, node, &indices),
        _ => return Err(node.error("chooses by indices that are no constant")),
    };
    let (Some(codes), Some(dtype), 1) = (entries.as_integers(), dtype(entries.element), entries.shape.len())
    else {
        return Err(node.error("needs codes of one axis to choose from"));
    };
    let from = network.builder.tensor(at.id).ty.dtype;
    let size = codes.len() as i64;
    let first = if from.is_signed() { -size } else { 0 };
    if i64::from(from.min()) < first || i64::from(from.max()) >= size {
        return Err(
            node.error(format!("chooses from {size} elements by codes of {from}, some of which none has"))
        );
    }
    let entry = |code: i32| codes[(i64::from(code).rem_euclid(size)) as usize] as i32;
    let name = node.first_output()?.to_owned();
    let quant = said(network, &name, dtype).unwrap_or_else(|| Quant::per_tensor(dtype, 1.0, 0));
    let quant = Quant { range: entries.range, ..quant };
    if quant.single().is_none() {
        return Err(node.error("makes codes of several scales, which cannot be represented"));
    }
    let narrowed = narrowed_codes(network, &name, &quant)?;
    match narrowed {
        Some(follow) => {
            let [low, high] = follow.quant.limits();
            let narrow = |code: i32| entry(code).clamp(low, high);
            let id = table(network, node, at.id, &follow.quant, &follow.name, narrow)?;
            follow.finish(network, node, Located { id, ..at })
        }
        None => {
            let id = table(network, node, at.id, &quant, &name, entry)?;
            network.bind(node, 0, Value::Codes(Located { id, ..at }))
        }
    }
}

pub(super) fn pad<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = movable(network, node)?;
    let from = located(&value).ok_or_else(|| node.error("pads a constant"))?;
    let sides = sides(network, node, &network.shape(&value))?;
    let value = match node.text("mode", "constant").as_str() {
        "constant" => filled(network, node, value, from, &sides)?,
        "reflect" => {
            moved(network, node, value, MirrorPad { paddings: sides, symmetric: false }, "padded")?
        }
        "edge" => repeated(network, node, value, &sides)?,
        other => return Err(node.error(format!("pads with mode `{other}`, which cannot be represented"))),
    };
    network.bind(node, 0, value)
}

/// How many elements a Pad node adds before and after each axis of the file.
fn sides(network: &Network<'_>, node: Node<'_>, shape: &[usize]) -> Result<Vec<[usize; 2]>, OnnxError> {
    let rank = shape.len();
    let given = match node.input(1) {
        Some(_) => network.integers(node, 1)?,
        None => node.ints("pads").unwrap_or_default().to_vec(),
    };
    let axes = match node.input(3) {
        Some(_) => {
            network.integers(node, 3)?.iter().map(|&a| node.axis(a, rank)).collect::<Result<_, _>>()?
        }
        None => (0..rank).collect::<Vec<_>>(),
    };
    let known: Option<Vec<usize>> = given.iter().map(|&pad| usize::try_from(pad).ok()).collect();
    let known = known.filter(|sides| sides.len() == 2 * axes.len());
    let known = known.ok_or_else(|| {
        node.error(format!("has pads {} for {} axes; they cannot be negative", Brief(&given), axes.len()))
    })?;
    let mut sides = vec![[0, 0]; rank];
    for (i, &axis) in axes.iter().enumerate() {
        sides[axis] = [known[i], known[axes.len() + i]];
    }
    let padded = |(&size, [before, after]): (&usize, &[usize; 2])| {
        size.checked_add(*before)?.checked_add(*after)
    };
    let padded: Option<Vec<usize>> = shape.iter().zip(&sides).map(padded).collect();
    if padded.as_deref().and_then(elements_of).is_none() {
        let problem = format!("pads {shape:?} by {}; {MAX_ELEMENTS} elements are the most", Brief(&given));
        return Err(node.error(problem));
    }
    Ok(sides)
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
        value = super::parts::chosen(network, node, value, axis, &places, &format!("edge{axis}"))?;
    }
    Ok(value)
}

/// Pads with one value.
fn filled<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    from: Located,
    sides: &[[usize; 2]],
) -> Result<Value, OnnxError> {
    let code = filler(network, node, &value)?;
    // The axes as they lie in the graph.
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
    Ok(at(value, Located { id, ..from }))
}

/// The code that stands for the value that a Pad node fills with.
fn filler(network: &Network<'_>, node: Node<'_>, value: &Value) -> Result<i32, OnnxError> {
    let filler = match network.optional_constant(node, 2)? {
        None => 0.0,
        Some(constant) => match (constant.as_reals(), constant.as_integers()) {
            (Some(&[value]), _) => value,
            (_, Some(&[value])) => value as f32,
            _ => return Err(node.error("pads with what is no single value")),
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
        _ => Err(node.error(format!("pads with {filler}, which no code stands for"))),
    }
}

pub(super) fn concat<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let count = node.proto.inputs.len();
    let values = (0..count).map(|index| network.input(node, index)).collect::<Result<Vec<_>, _>>()?;
    let quant = follow(network, node)?.map(|follow| follow.quant);
    joined(network, node, values, quant)
}

/// Codes joined along an axis as codes of a quantization.
pub(super) fn joined_as<'a>(
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

/// Tensors joined along an axis: codes of one quantization, that of the quantizer behind them if there is one.
fn joined<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    values: Vec<Value>,
    quant: Option<Quant>,
) -> Result<(), OnnxError> {
    let first = values.first().ok_or_else(|| node.error("joins nothing"))?;
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

/// Codes of another quantization.
fn requantized<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    quant: &Quant,
) -> Result<Value, OnnxError> {
    let Value::Dequantized(d) = value else { return Err(node.error("joins what are no codes")) };
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
            let codes = constant.as_integers().unwrap_or_default();
            let codes = codes.iter().map(|&c| code(c as i32).into()).collect();
            let constant =
                crate::onnx::constant::Constant::integers(constant.element, constant.shape.clone(), codes);
            Source::Constant(std::rc::Rc::new(constant))
        }
    };
    Ok(Value::Dequantized(Dequantized::new(source, quant.clone())))
}

/// Joins tensors of one type.
fn join<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    values: &[Value],
    axis: usize,
    name: &str,
) -> Result<Located, OnnxError> {
    let channels_last = values.iter().filter_map(located).all(|at| at.channels_last)
        && values.iter().any(|value| located(value).is_some());
    let mut inputs = Vec::new();
    for value in values {
        inputs.push(match (value, located(value)) {
            (_, Some(at)) => network.in_order(node, at, channels_last)?,
            (Value::Dequantized(Dequantized { source: Source::Constant(constant), quant, .. }), _) => {
                let constant = ordered(constant, channels_last, constant.shape.len());
                constant_codes(network, node, &constant, quant)?
            }
            (value, _) => network.real_tensor(node, value.clone(), channels_last)?,
        });
    }
    let rank = network.builder.tensor(inputs[0]).ty.shape.len();
    let axis = crate::onnx::value::graph_axis(axis, rank, channels_last);
    let like = inputs[0];
    let same = inputs.iter().all(|&id| {
        let (a, b) = (&network.builder.tensor(id).ty, &network.builder.tensor(like).ty);
        a.dtype == b.dtype && a.quantization == b.quantization && a.dtype != DType::Int32
    });
    if !same {
        return Err(node.error("joins codes of different quantizations; a quantizer behind it is needed"));
    }
    let id = network.emit_like(node, Concat { axis, requantize: EVEN }, &inputs, name, like)?;
    Ok(Located { id, channels_last })
}
