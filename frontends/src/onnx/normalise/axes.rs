//! Axes and shapes that nodes specify.

use guardbit_graph::Brief;

use super::known::Known;
use crate::onnx::error::OnnxError;
use crate::onnx::parse::constant::elements_of;
use crate::onnx::parse::node::Node;

/// Returns the sorted axes of a reduction, from an operand or an attribute. Without either, returns all axes.
pub(in crate::onnx) fn reduced(known: &Known, node: Node<'_>, rank: usize) -> Result<Vec<usize>, OnnxError> {
    let given = known.integers_or(node, 1, "axes")?.unwrap_or_default();
    if given.is_empty() && node.int("noop_with_empty_axes", 0) != 0 {
        return Err(node.error("has no axes and does nothing, which cannot be represented"));
    }
    let given = if given.is_empty() { (0..rank as i64).collect() } else { given };
    let mut axes = given.iter().map(|&axis| node.axis(axis, rank)).collect::<Result<Vec<_>, _>>()?;
    axes.sort_unstable();
    axes.dedup();
    Ok(axes)
}

/// Returns the output shape of a Reshape, Flatten, Squeeze or Unsqueeze node.
pub(in crate::onnx) fn reshaped(
    known: &Known,
    node: Node<'_>,
    from: &[usize],
) -> Result<Vec<usize>, OnnxError> {
    let made = match node.proto.op.as_str() {
        "Flatten" => {
            let axis = node.axis(node.int("axis", 1), from.len() + 1)?;
            let (front, back) = from.split_at(axis);
            vec![front.iter().product(), back.iter().product()]
        }
        "Reshape" => {
            let sizes = known.integers(node, 1)?;
            if node.int("allowzero", 0) != 0 && sizes.contains(&0) {
                return Err(node.error("produces an empty tensor"));
            }
            let shape = resolved_shape(from, &sizes);
            shape.ok_or_else(|| {
                node.error(format!("cannot change the shape {} to {}", Brief(from), Brief(&sizes)))
            })?
        }
        _ => {
            let axes = known.integers_or(node, 1, "axes")?;
            squeezed(node, from, axes.as_deref())?.ok_or_else(|| node.error("has no axes"))?
        }
    };
    if elements_of(&made) == elements_of(from) {
        return Ok(made);
    }
    Err(node.error(match node.proto.op.as_str() {
        "Squeeze" => format!("cannot remove axes of {} that do not have size 1", Brief(from)),
        _ => format!("cannot change the shape {} to {}", Brief(from), Brief(&made)),
    }))
}

/// Returns the shape of a Reshape node: 0 copies a size, -1 follows from the others.
fn resolved_shape(from: &[usize], sizes: &[i64]) -> Option<Vec<usize>> {
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

/// Returns the output shape of a Squeeze or Unsqueeze node.
fn squeezed(node: Node<'_>, shape: &[usize], axes: Option<&[i64]>) -> Result<Option<Vec<usize>>, OnnxError> {
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

/// Returns the permutation of a Transpose node.
pub(in crate::onnx) fn permutation(node: Node<'_>, rank: usize) -> Result<Vec<usize>, OnnxError> {
    let axes = match node.sizes("perm")? {
        Some(axes) => axes,
        None => (0..rank).rev().collect(),
    };
    let mut sorted = axes.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..rank) {
        return Err(node.error(format!("`perm` {} must contain each of {rank} axes once", Brief(&axes))));
    }
    Ok(axes)
}
