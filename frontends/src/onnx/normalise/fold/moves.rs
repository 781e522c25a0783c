//! Operators that move elements. Codes stay codes.

use std::rc::Rc;

use super::{Call, Fixed};
use crate::onnx::error::OnnxError;
use crate::onnx::normalise::axes::{permutation, reshaped};
use crate::onnx::normalise::parts::{broadcast, slice as sliced};
use crate::onnx::normalise::quant::Quant;
use crate::onnx::parse::constant::{Constant, Data, broadcast_places, chosen_places};
use crate::onnx::parse::proto::element;
use crate::onnx::parse::tensor;

/// Maximum number of elements of a Range.
const MOST_OF_RANGE: usize = 1 << 16;

/// Moves the elements of input 0. `axis` returns the new axis of the channels if there are several scales.
///
/// Codes whose channels would not lie along an axis are left unchanged.
fn moved(
    call: &Call<'_>,
    elements: impl Fn(&Constant) -> Result<Option<Constant>, OnnxError>,
    axis: impl Fn(&Constant, usize, &Constant) -> Option<usize>,
) -> Result<Option<Fixed>, OnnxError> {
    let Some(fixed) = call.fixed(0) else { return Ok(None) };
    let from = fixed.elements();
    let Some(made) = elements(from)? else { return Ok(None) };
    let Fixed::Codes(_, quant) = fixed else { return Ok(Some(Fixed::new(made))) };
    let moved = quant.axis.map(|old| axis(from, old, &made));
    Ok(match moved {
        Some(None) => None,
        axis => Some(Fixed::Codes(Rc::new(made), Quant { axis: axis.flatten(), ..quant.clone() })),
    })
}

/// Computes Reshape, Flatten, Squeeze and Unsqueeze.
pub(super) fn reshape(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
    moved(
        call,
        |from| Ok(from.with_shape(reshaped(call.known, call.node, &from.shape)?)),
        |from, axis, made| same_axis(&from.shape, axis, &made.shape),
    )
}

/// Returns the axis of a reshaped array that holds the elements of axis `axis` of the original.
fn same_axis(from: &[usize], axis: usize, to: &[usize]) -> Option<usize> {
    let inner = |shape: &[usize], axis: usize| shape[axis + 1..].iter().product::<usize>();
    let (size, step) = (from.get(axis).copied()?, inner(from, axis));
    (0..to.len()).find(|&at| to[at] == size && inner(to, at) == step)
}

pub(super) fn transpose(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
    let order = |from: &Constant| permutation(call.node, from.shape.len());
    let Some(fixed) = call.fixed(0) else { return Ok(None) };
    let axes = order(fixed.elements())?;
    moved(
        call,
        |from| Ok(Some(from.permuted(&axes))),
        |_, axis, _| axes.iter().position(|&from| from == axis),
    )
}

/// Computes Expand, which copies a tensor along axes of size 1.
pub(super) fn expand(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
    let sizes = call.known.integers(call.node, 1)?;
    let sizes: Option<Vec<usize>> = sizes.iter().map(|&size| usize::try_from(size).ok()).collect();
    let Some(sizes) = sizes else { return Ok(None) };
    let made = |from: &Constant| {
        let Some(shape) = broadcast(&from.shape, &sizes) else { return Ok(None) };
        call.count(&shape)?;
        Ok(Some(from.at(broadcast_places(&from.shape, &shape), shape)))
    };
    moved(call, made, |from, axis, made| Some(axis + made.shape.len() - from.shape.len()))
}

pub(super) fn slice(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
    let Some(Fixed::Array(from)) = call.fixed(0) else { return Ok(None) };
    // Opset 9 specifies the slice by attributes.
    if call.node.input(1).is_none() {
        return Ok(None);
    }
    let part = sliced(call.known, call.node, &from.shape)?;
    let along = |axis: usize| {
        let (begin, stride) = (part.begin[axis] as i64, part.strides[axis]);
        (0..part.size[axis] as i64).map(|i| (begin + i * stride) as usize).collect()
    };
    let lists: Vec<Vec<usize>> = (0..from.shape.len()).map(along).collect();
    Ok(Some(Fixed::new(from.at(chosen_places(&from.shape, &lists), part.size.clone()))))
}

pub(super) fn gather(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
    let node = call.node;
    let (Some(Fixed::Array(from)), Some(Fixed::Array(indices))) = (call.fixed(0), call.fixed(1)) else {
        return Ok(None);
    };
    let Some(wanted) = indices.as_integers() else { return Ok(None) };
    let axis = node.axis(node.int("axis", 0), from.shape.len())?;
    let places: Vec<usize> =
        wanted.iter().map(|index| node.axis(index, from.shape[axis])).collect::<Result<_, _>>()?;
    let shape = [&from.shape[..axis], &indices.shape, &from.shape[axis + 1..]].concat();
    call.count(&shape)?;
    let along = |other: usize| if other == axis { places.clone() } else { (0..from.shape[other]).collect() };
    let lists: Vec<Vec<usize>> = (0..from.shape.len()).map(along).collect();
    Ok(Some(Fixed::new(from.at(chosen_places(&from.shape, &lists), shape))))
}

/// Concatenates arrays of one type.
pub(super) fn concat(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
    let node = call.node;
    let part = |index: usize| match call.fixed(index) {
        Some(Fixed::Array(constant)) => Some(constant),
        _ => None,
    };
    let Some(parts) = (0..node.proto.inputs.len()).map(part).collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let mut shape = parts[0].shape.clone();
    let axis = node.axis(node.int("axis", 0), shape.len())?;
    shape[axis] = 0;
    for part in &parts {
        let fits = part.shape.len() == shape.len()
            && (0..shape.len()).all(|at| at == axis || part.shape[at] == shape[at]);
        if !fits || part.element != parts[0].element {
            return Ok(None);
        }
        shape[axis] = shape[axis].saturating_add(part.shape[axis]);
    }
    call.count(&shape)?;
    let (outer, inner) =
        (shape[..axis].iter().product::<usize>(), shape[axis + 1..].iter().product::<usize>());
    let rows = || (0..outer).flat_map(|row| parts.iter().map(move |part| (row, part)));
    let span =
        |row: usize, part: &Constant| row * part.shape[axis] * inner..(row + 1) * part.shape[axis] * inner;
    let data = match &parts[0].data {
        Data::Integers(_) => Data::Integers(
            rows()
                .flat_map(|(row, part)| span(row, part).filter_map(|at| Some(part.as_integers()?.at(at))))
                .collect(),
        ),
        Data::Reals(_) => Data::Reals(
            rows()
                .flat_map(|(row, part)| part.as_reals().unwrap_or_default()[span(row, part)].iter().copied())
                .collect(),
        ),
    };
    let of_codes = parts.iter().any(|part| part.of_codes);
    Ok(Some(Fixed::new(Constant {
        element: parts[0].element,
        shape,
        data,
        range: None,
        of_codes,
        floats: None,
    })))
}

/// Computes ConstantOfShape, an array of one value.
pub(super) fn filled(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
    let sizes = call.known.integers(call.node, 0)?;
    let sizes: Option<Vec<usize>> = sizes.iter().map(|&size| usize::try_from(size).ok()).collect();
    let shape = sizes.ok_or_else(|| call.node.error("has a negative size"))?;
    let count = call.count(&shape)?;
    let value = match call.node.tensor("value") {
        Some(tensor) => tensor::read(tensor, None)?,
        None => Constant::reals(vec![1], vec![0.0]),
    };
    if value.data.len() != 1 {
        return Err(call.node.error("`value` must hold one element"));
    }
    Ok(Some(Fixed::new(value.at(std::iter::repeat_n(0, count), shape))))
}

/// Computes Range, the numbers from a start to a limit.
pub(super) fn range(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
    let inputs = [call.array(0)?, call.array(1)?, call.array(2)?];
    let integers: Option<Vec<i64>> = inputs.iter().map(|input| input.as_integers()?.iter().next()).collect();
    let Some(&[start, limit, delta]) = integers.as_deref() else { return Ok(None) };
    let (start, limit, delta) = (i128::from(start), i128::from(limit), i128::from(delta));
    if delta == 0 {
        return Err(call.node.error("has a step of 0"));
    }
    let count = ((limit - start + delta - delta.signum()) / delta).max(0);
    if count > MOST_OF_RANGE as i128 {
        return Err(call.node.error(format!("produces {count} numbers; expected at most {MOST_OF_RANGE}")));
    }
    let values: Vec<i64> = (0..count).map(|i| (start + i * delta) as i64).collect();
    let number = if inputs[0].element == element::INT32 { element::INT32 } else { element::INT64 };
    Ok(Some(Fixed::new(Constant::integers(number, vec![values.len()], values))))
}
