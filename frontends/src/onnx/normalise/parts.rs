//! Slices of tensors that nodes specify, and padding.

use guardbit_graph::{Brief, MAX_ELEMENTS};

use super::known::Known;
use crate::onnx::error::OnnxError;
use crate::onnx::parse::constant::elements_of;
use crate::onnx::parse::node::Node;

/// A slice: first element, number of elements and step of each axis.
#[derive(Debug, Clone)]
pub(in crate::onnx) struct Part {
    pub begin: Vec<usize>,
    pub size: Vec<usize>,
    pub strides: Vec<i64>,
}

impl Part {
    pub fn whole(shape: &[usize]) -> Self {
        Self { begin: vec![0; shape.len()], size: shape.to_vec(), strides: vec![1; shape.len()] }
    }
}

/// Returns the slice of a Slice node, which may be empty.
pub(in crate::onnx) fn slice(known: &Known, node: Node<'_>, shape: &[usize]) -> Result<Part, OnnxError> {
    let (starts, ends) = (known.integers(node, 1)?, known.integers(node, 2)?);
    let axes = known.optional_integers(node, 3)?.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = known.optional_integers(node, 4)?.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return Err(node.error("has starts, ends, axes and steps of different lengths"));
    }
    let mut part = Part::whole(shape);
    for (i, &axis) in axes.iter().enumerate() {
        let axis = node.axis(axis, shape.len())?;
        // A step can be any 64-bit integer.
        let (size, step) = (shape[axis] as i128, i128::from(steps[i]));
        let place = |at: i64| i128::from(at) + if at < 0 { size } else { 0 };
        let (first, end) = match step {
            0 => return Err(node.error("has a step of 0")),
            1.. => (place(starts[i]).clamp(0, size), place(ends[i]).clamp(0, size)),
            _ => (place(starts[i]).min(size - 1).max(0), place(ends[i]).min(size - 1).max(-1)),
        };
        let count = if size == 0 { 0 } else { (end - first + step - step.signum()) / step };
        part.begin[axis] = first as usize;
        part.size[axis] = count.max(0) as usize;
        part.strides[axis] = steps[i];
    }
    Ok(part)
}

/// Returns the parts of a Split node, one per output.
pub(in crate::onnx) fn split(known: &Known, node: Node<'_>, shape: &[usize]) -> Result<Vec<Part>, OnnxError> {
    let axis = node.axis(node.int("axis", 0), shape.len())?;
    let outputs = node.proto.outputs.len().max(1);
    let sizes: Vec<i64> = match known.integers_or(node, 1, "split")? {
        Some(sizes) => sizes,
        None => {
            // The last part is the rest.
            let each = shape[axis].div_ceil(outputs);
            (0..outputs).map(|i| shape[axis].saturating_sub(i * each).min(each) as i64).collect()
        }
    };
    let total = sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(usize::try_from(size).ok()?));
    if sizes.len() != outputs || total != Some(shape[axis]) || sizes.contains(&0) {
        return Err(node.error(format!("cannot split {} elements into {}", shape[axis], Brief(&sizes))));
    }
    let mut begin = 0;
    let part = |&size: &i64| {
        let mut part = Part::whole(shape);
        (part.begin[axis], part.size[axis]) = (begin, size as usize);
        begin += size as usize;
        part
    };
    Ok(sizes.iter().map(part).collect())
}

/// Returns the number of elements that a Pad node adds before and after each axis. A negative number removes
/// elements.
pub(in crate::onnx) fn sides(
    known: &Known,
    node: Node<'_>,
    shape: &[usize],
) -> Result<Vec<[i64; 2]>, OnnxError> {
    let rank = shape.len();
    let given = known.integers_or(node, 1, "pads")?.unwrap_or_default();
    let axes = match known.optional_integers(node, 3)? {
        Some(axes) => axes.iter().map(|&axis| node.axis(axis, rank)).collect::<Result<_, _>>()?,
        None => (0..rank).collect::<Vec<_>>(),
    };
    if given.len() != 2 * axes.len() {
        return Err(node.error(format!("has pads {} for {} axes", Brief(&given), axes.len())));
    }
    let mut sides = vec![[0, 0]; rank];
    for (i, &axis) in axes.iter().enumerate() {
        sides[axis] = [given[i], given[axes.len() + i]];
    }
    match padded(shape, &sides).as_deref().and_then(elements_of) {
        Some(1..) => Ok(sides),
        _ => Err(node.error(format!(
            "pads {} by {}; expected 1 to {MAX_ELEMENTS} elements",
            Brief(shape),
            Brief(&given)
        ))),
    }
}

/// Returns the shape after a Pad.
pub(in crate::onnx) fn padded(shape: &[usize], sides: &[[i64; 2]]) -> Option<Vec<usize>> {
    let size = |(&size, [before, after]): (&usize, &[i64; 2])| {
        // Removed elements must lie within the tensor.
        let kept = i64::try_from(size).ok()?.checked_add((*before).min(0))?.checked_add((*after).min(0))?;
        let padded = kept.checked_add((*before).max(0))?.checked_add((*after).max(0))?;
        usize::try_from(padded).ok().filter(|_| kept >= 0)
    };
    shape.iter().zip(sides).map(size).collect()
}

/// Returns the common shape of two operands under NumPy's broadcasting, if there is one.
pub(in crate::onnx) fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let size = |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |i| shape[i]);
    let both = |axis: usize| match (size(a, axis), size(b, axis)) {
        (a, b) if a == b => Some(a),
        (1, other) | (other, 1) => Some(other),
        _ => None,
    };
    (0..rank).map(both).collect()
}
