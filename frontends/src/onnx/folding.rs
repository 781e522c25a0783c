//! Nodes on constants alone: shapes that are computed, and the like.

use std::rc::Rc;

use guardbit_graph::Brief;

use super::constant::{Constant, Data, elements_of};
use super::error::OnnxError;
use super::network::Network;
use super::node::{Node, normalized};
use super::proto::element;
use super::value::{Dequantized, Quant, Source, Value};

/// Elements of all folded constants together, at most.
pub(super) const MOST: usize = 1 << 26;

/// Elements of a shape that is put together, at most.
const MOST_OF_SHAPE: usize = 1 << 16;

/// What a node makes, if it is constant; `None` for all others.
pub(super) fn fold(network: &Network<'_>, node: Node<'_>) -> Result<Option<Vec<Constant>>, OnnxError> {
    if !normalized(&node.proto.domain).is_empty() {
        return Ok(None);
    }
    if node.proto.op == "Constant" {
        return constant(node).map(|constant| Some(vec![constant]));
    }
    if node.proto.op == "Shape" {
        let shape = network.shape(&network.input(node, 0)?);
        let part = slice_of(node, shape.len());
        let sizes: Vec<i64> = shape[part].iter().map(|&size| size as i64).collect();
        return Ok(Some(vec![Constant::integers(element::INT64, vec![sizes.len()], sizes)]));
    }
    let Some(inputs) = constants(network, node, 0)? else { return Ok(None) };
    let inputs: Vec<Option<&Constant>> = inputs.iter().map(|input| input.as_deref()).collect();
    let folded = match node.proto.op.as_str() {
        "Identity" => inputs.first().copied().flatten().cloned(),
        "Cast" => cast(node, &inputs),
        "Gather" => gather(node, &inputs)?,
        "Concat" => concat(node, &inputs)?,
        "Slice" => slice(&inputs),
        "Add" | "Sub" | "Mul" | "Div" => arithmetic(node, &inputs),
        "ConstantOfShape" => filled(node, &inputs)?,
        _ => moved(node, &inputs)?,
    };
    Ok(folded.map(|constant| vec![constant]))
}

/// Applies an operator that only moves elements to constant codes. Returns `None` for all other nodes, and if no axis of the
/// result holds the channels of several scales.
pub(super) fn moved_codes(network: &Network<'_>, node: Node<'_>) -> Result<Option<Dequantized>, OnnxError> {
    if !normalized(&node.proto.domain).is_empty() {
        return Ok(None);
    }
    let Some(Value::Dequantized(from)) = network.optional(node, 0)? else { return Ok(None) };
    let Source::Constant(codes) = &from.source else { return Ok(None) };
    let Some(rest) = constants(network, node, 1)? else { return Ok(None) };
    let inputs: Vec<Option<&Constant>> =
        std::iter::once(Some(&**codes)).chain(rest.iter().map(|input| input.as_deref())).collect();
    let Some(moved) = moved(node, &inputs)? else { return Ok(None) };
    let axis = match from.quant.axis {
        Some(axis) if node.proto.op == "Transpose" => {
            permutation(node, codes.shape.len())?.iter().position(|&from| from == axis)
        }
        Some(axis) => same_axis(&codes.shape, axis, &moved.shape),
        None => None,
    };
    if axis.is_none() && from.quant.axis.is_some() {
        return Ok(None);
    }
    let quant = Quant { axis, ..from.quant.clone() };
    let source = Source::Constant(Rc::new(moved));
    Ok(Some(Dequantized { source, quant, functions: from.functions.clone() }))
}

/// Returns the inputs of a node from `first` on; `None` if one of them is not constant.
fn constants(
    network: &Network<'_>,
    node: Node<'_>,
    first: usize,
) -> Result<Option<Vec<Option<Rc<Constant>>>>, OnnxError> {
    let mut inputs = Vec::new();
    for index in first..node.proto.inputs.len() {
        match network.optional(node, index)? {
            None => inputs.push(None),
            Some(Value::Constant(constant)) => inputs.push(Some(constant)),
            Some(_) => return Ok(None),
        }
    }
    Ok(Some(inputs))
}

/// Applies an operator that only moves elements; `None` for all others.
fn moved(node: Node<'_>, inputs: &[Option<&Constant>]) -> Result<Option<Constant>, OnnxError> {
    match node.proto.op.as_str() {
        "Reshape" => Ok(reshape(inputs)),
        "Flatten" => flatten(node, inputs),
        "Squeeze" | "Unsqueeze" => squeeze(node, inputs),
        "Transpose" => transpose(node, inputs),
        _ => Ok(None),
    }
}

/// Returns the axis of a reshaped array that holds the elements of axis `axis` of the original.
fn same_axis(from: &[usize], axis: usize, to: &[usize]) -> Option<usize> {
    let inner = |shape: &[usize], axis: usize| shape[axis + 1..].iter().product::<usize>();
    let (size, step) = (from.get(axis).copied()?, inner(from, axis));
    (0..to.len()).find(|&at| to[at] == size && inner(to, at) == step)
}

fn too_many(node: Node<'_>) -> OnnxError {
    node.error(format!("makes a constant that may have more than {MOST} elements; make it smaller"))
}

fn constant(node: Node<'_>) -> Result<Constant, OnnxError> {
    if let Some(tensor) = node.tensor("value") {
        return Constant::read(tensor, None);
    }
    if node.has("value_float") {
        return Ok(Constant::reals(Vec::new(), vec![node.float("value_float", 0.0)]));
    }
    if node.has("value_int") {
        return Ok(Constant::integers(element::INT64, Vec::new(), vec![node.int("value_int", 0)]));
    }
    if let Some(values) = node.floats("value_floats") {
        return Ok(Constant::reals(vec![values.len()], values.to_vec()));
    }
    if let Some(values) = node.ints("value_ints") {
        return Ok(Constant::integers(element::INT64, vec![values.len()], values.to_vec()));
    }
    Err(node.error("has no value that can be read"))
}

/// The axes that a Shape node asks for.
fn slice_of(node: Node<'_>, rank: usize) -> std::ops::Range<usize> {
    let at = |value: i64| {
        let from_start = if value < 0 { value + rank as i64 } else { value };
        from_start.clamp(0, rank as i64) as usize
    };
    let (start, end) = (at(node.int("start", 0)), at(node.int("end", rank as i64)));
    start..end.max(start)
}

fn cast(node: Node<'_>, inputs: &[Option<&Constant>]) -> Option<Constant> {
    let input = inputs.first().copied().flatten()?;
    let to = i32::try_from(node.int("to", 0)).ok()?;
    let data = match (&input.data, to) {
        (data @ Data::Reals(_), element::FLOAT | element::DOUBLE | element::FLOAT16) => data.clone(),
        (Data::Integers(values), element::FLOAT | element::DOUBLE) => {
            Data::Reals(values.iter().map(|&value| value as f32).collect())
        }
        (data, to) if to == input.element => data.clone(),
        (data @ Data::Integers(_), element::INT64) => data.clone(),
        (Data::Integers(values), element::INT32) if values.iter().all(|&v| i32::try_from(v).is_ok()) => {
            Data::Integers(values.clone())
        }
        (Data::Reals(values), element::INT64 | element::INT32) if values.iter().all(|v| v.abs() < 2e9) => {
            Data::Integers(values.iter().map(|&value| value.trunc() as i64).collect())
        }
        _ => return None,
    };
    Some(Constant { element: to, shape: input.shape.clone(), data, range: None })
}

fn reshape(inputs: &[Option<&Constant>]) -> Option<Constant> {
    let (&Some(input), &Some(sizes)) = (inputs.first()?, inputs.get(1)?) else { return None };
    input.with_shape(resolved_shape(&input.shape, sizes.as_integers()?)?)
}

/// The sizes that a Reshape node asks for: 0 copies one, -1 follows from the others.
pub(super) fn resolved_shape(from: &[usize], sizes: &[i64]) -> Option<Vec<usize>> {
    let count = elements_of(from)?;
    let copied = |(axis, &size): (usize, &i64)| match size {
        0 => from.get(axis).map(|&size| size as i64),
        size => Some(size),
    };
    let sizes: Vec<i64> = sizes.iter().enumerate().map(copied).collect::<Option<_>>()?;
    let mut known = sizes.iter().filter(|&&size| size != -1);
    let known = known.try_fold(1usize, |n, &size| n.checked_mul(usize::try_from(size).ok()?))?;
    let size = |&size: &i64| match size {
        -1 if known > 0 => Some(count / known),
        size => usize::try_from(size).ok(),
    };
    sizes.iter().map(size).collect()
}

fn flatten(node: Node<'_>, inputs: &[Option<&Constant>]) -> Result<Option<Constant>, OnnxError> {
    let Some(input) = inputs.first().copied().flatten() else { return Ok(None) };
    let axis = node.axis(node.int("axis", 1), input.shape.len() + 1)?;
    let (front, back) = input.shape.split_at(axis);
    Ok(input.with_shape(vec![front.iter().product(), back.iter().product()]))
}

fn squeeze(node: Node<'_>, inputs: &[Option<&Constant>]) -> Result<Option<Constant>, OnnxError> {
    let Some(input) = inputs.first().copied().flatten() else { return Ok(None) };
    let axes = match inputs.get(1).copied().flatten() {
        Some(axes) => axes.as_integers().map(<[i64]>::to_vec),
        None => node.ints("axes").map(<[i64]>::to_vec),
    };
    Ok(squeezed(node, &input.shape, axes.as_deref())?.and_then(|shape| input.with_shape(shape)))
}

/// The shape that a Squeeze or Unsqueeze node makes.
pub(super) fn squeezed(
    node: Node<'_>,
    shape: &[usize],
    axes: Option<&[i64]>,
) -> Result<Option<Vec<usize>>, OnnxError> {
    if node.proto.op == "Squeeze" {
        let named: Option<Vec<usize>> = axes
            .map(|axes| axes.iter().map(|&axis| node.axis(axis, shape.len())).collect::<Result<_, _>>())
            .transpose()?;
        let leaves = |axis: usize| match &named {
            Some(named) => named.contains(&axis),
            None => shape[axis] == 1,
        };
        let kept = (0..shape.len()).filter(|&axis| !leaves(axis));
        return Ok(Some(kept.map(|axis| shape[axis]).collect()));
    }
    let Some(axes) = axes else { return Ok(None) };
    let rank = shape.len() + axes.len();
    let new: Vec<usize> = axes.iter().map(|&axis| node.axis(axis, rank)).collect::<Result<_, _>>()?;
    let mut old = shape.iter().copied();
    let size = |axis: usize| if new.contains(&axis) { Some(1) } else { old.next() };
    Ok((0..rank).map(size).collect())
}

fn transpose(node: Node<'_>, inputs: &[Option<&Constant>]) -> Result<Option<Constant>, OnnxError> {
    let Some(input) = inputs.first().copied().flatten() else { return Ok(None) };
    Ok(Some(input.permuted(&permutation(node, input.shape.len())?)))
}

/// The order of axes that a Transpose node asks for.
pub(super) fn permutation(node: Node<'_>, rank: usize) -> Result<Vec<usize>, OnnxError> {
    let axes = match node.sizes("perm")? {
        Some(axes) => axes,
        None => (0..rank).rev().collect(),
    };
    let mut sorted = axes.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..rank) {
        return Err(node.error(format!("`perm` {} must name each of {rank} axes once", Brief(&axes))));
    }
    Ok(axes)
}

fn gather(node: Node<'_>, inputs: &[Option<&Constant>]) -> Result<Option<Constant>, OnnxError> {
    let (Some(&Some(input)), Some(&Some(indices))) = (inputs.first(), inputs.get(1)) else { return Ok(None) };
    let Some(wanted) = indices.as_integers() else { return Ok(None) };
    let axis = node.axis(node.int("axis", 0), input.shape.len())?;
    let (size, inner) = (input.shape[axis], input.shape[axis + 1..].iter().product::<usize>());
    let places: Vec<usize> = wanted.iter().map(|&index| node.axis(index, size)).collect::<Result<_, _>>()?;
    let outer: usize = input.shape[..axis].iter().product();
    let shape = [&input.shape[..axis], &indices.shape, &input.shape[axis + 1..]].concat();
    if elements_of(&shape).is_none_or(|count| count > MOST) {
        return Err(too_many(node));
    }
    let rows = (0..outer).flat_map(|row| places.iter().map(move |&at| (row * size + at) * inner));
    let at = rows.flat_map(|start| start..start + inner);
    let data = match &input.data {
        Data::Integers(values) => Data::Integers(at.map(|at| values[at]).collect()),
        Data::Reals(values) => Data::Reals(at.map(|at| values[at]).collect()),
    };
    Ok(Some(Constant { element: input.element, shape, data, range: input.range }))
}

fn concat(node: Node<'_>, inputs: &[Option<&Constant>]) -> Result<Option<Constant>, OnnxError> {
    let Some(inputs) = inputs.iter().copied().collect::<Option<Vec<_>>>() else { return Ok(None) };
    // Shapes are put together from vectors.
    if inputs.is_empty() || inputs.iter().any(|input| input.shape.len() != 1) {
        return Ok(None);
    }
    node.axis(node.int("axis", 0), 1)?;
    if inputs.iter().map(|input| input.data.len()).fold(0, usize::saturating_add) > MOST_OF_SHAPE {
        return Err(node.error("joins constants of too many elements"));
    }
    let parts: Option<Vec<&[i64]>> = inputs.iter().map(|input| input.as_integers()).collect();
    Ok(parts
        .map(|parts| parts.concat())
        .map(|values| Constant::integers(inputs[0].element, vec![values.len()], values)))
}

fn slice(inputs: &[Option<&Constant>]) -> Option<Constant> {
    let input = inputs.first().copied().flatten()?;
    let numbers = |index: usize| inputs.get(index).copied().flatten().and_then(|c| c.as_integers());
    let (Some(values), Some([start]), Some([end])) = (input.as_integers(), numbers(1), numbers(2)) else {
        return None;
    };
    let step = numbers(4).map_or(1, |steps| steps.first().copied().unwrap_or(1));
    if input.shape.len() != 1 || step != 1 {
        return None;
    }
    let size = values.len() as i64;
    let at =
        |value: i64| (if value < 0 { value.saturating_add(size) } else { value }).clamp(0, size) as usize;
    let (start, end) = (at(*start), at(*end));
    let part = values[start..end.max(start)].to_vec();
    Some(Constant::integers(input.element, vec![part.len()], part))
}

/// Sums and the like of tensors of one shape, or of a tensor and a single element.
fn arithmetic(node: Node<'_>, inputs: &[Option<&Constant>]) -> Option<Constant> {
    let (&Some(a), &Some(b)) = (inputs.first()?, inputs.get(1)?) else { return None };
    let (la, lb) = (a.data.len(), b.data.len());
    // A single element goes with none too.
    let (shape, count) = match (la, lb) {
        (_, 1) => (&a.shape, la),
        (1, _) => (&b.shape, lb),
        _ if a.shape == b.shape => (&a.shape, la),
        _ => return None,
    };
    let pairs = (0..count).map(|i| (i % la, i % lb));
    let data = match (&a.data, &b.data) {
        (Data::Integers(a), Data::Integers(b)) => {
            let value = |(i, j): (usize, usize)| match node.proto.op.as_str() {
                "Add" => a[i].checked_add(b[j]),
                "Sub" => a[i].checked_sub(b[j]),
                "Mul" => a[i].checked_mul(b[j]),
                _ => a[i].checked_div(b[j]),
            };
            Data::Integers(pairs.map(value).collect::<Option<_>>()?)
        }
        (Data::Reals(a), Data::Reals(b)) => {
            let value = |(i, j): (usize, usize)| match node.proto.op.as_str() {
                "Add" => a[i] + b[j],
                "Sub" => a[i] - b[j],
                "Mul" => a[i] * b[j],
                _ => a[i] / b[j],
            };
            Data::Reals(pairs.map(value).collect())
        }
        _ => return None,
    };
    Some(Constant { element: a.element, shape: shape.clone(), data, range: None })
}

fn filled(node: Node<'_>, inputs: &[Option<&Constant>]) -> Result<Option<Constant>, OnnxError> {
    let Some(sizes) = inputs.first().copied().flatten().and_then(|c| c.as_integers()) else {
        return Ok(None);
    };
    let sizes: Option<Vec<usize>> = sizes.iter().map(|&size| usize::try_from(size).ok()).collect();
    let count = sizes.as_deref().and_then(elements_of).filter(|&count| count <= MOST);
    let (Some(shape), Some(count)) = (sizes, count) else {
        return Err(too_many(node));
    };
    let value = match node.tensor("value") {
        Some(tensor) => Constant::read(tensor, None)?,
        None => Constant::reals(vec![1], vec![0.0]),
    };
    let data = match value.data {
        Data::Integers(values) if values.len() == 1 => Data::Integers(vec![values[0]; count]),
        Data::Reals(values) if values.len() == 1 => Data::Reals(vec![values[0]; count]),
        _ => return Err(node.error("`value` must hold one element")),
    };
    Ok(Some(Constant { element: value.element, shape, data, range: None }))
}
