//! Code shared by operations on pairs of elements.

use super::Operands;
use super::strides::{offsets, row_major};
use crate::GraphError;

/// Returns the common shape of two inputs under NumPy's broadcasting. Inputs and output must have equal dtypes.
pub(super) fn output_shape(operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
    operands.expect_inputs(2, 2)?;
    let dtype = [operands.input(0).ty.dtype];
    operands.expect_dtype(1, &dtype)?;
    operands.expect_output_dtype(&dtype)?;
    shape(operands)
}

/// Returns the common shape of two inputs under NumPy's broadcasting.
pub(super) fn shape(operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
    broadcast(operands).ok_or_else(|| {
        let expected = format!("one that broadcasts with {:?}", operands.input(0).ty.shape);
        operands.shape_error(operands.input(1), expected)
    })
}

/// Returns `f` of every pair of elements.
pub(super) fn zip(operands: &Operands<'_>, inputs: &[&[i32]], f: impl Fn(i32, i32) -> i32) -> Vec<i32> {
    let Some(shape) = broadcast(operands) else { return Vec::new() };
    if operands.input(0).ty.shape == operands.input(1).ty.shape {
        return inputs[0].iter().zip(inputs[1]).map(|(&a, &b)| f(a, b)).collect();
    }
    let [a, b] = [0, 1].map(|i| broadcast_strides(&operands.input(i).ty.shape, shape.len()));
    let Some((&length, outer)) = shape.split_last() else { return vec![f(inputs[0][0], inputs[1][0])] };
    let ([a, b], ends) = ([&a, &b].map(|strides| &strides[..outer.len()]), [a[outer.len()], b[outer.len()]]);
    let mut made = Vec::with_capacity(shape.iter().product());
    // Rows along the last axis, in which an input repeats one element or has one for each.
    for (a, b) in offsets(outer, a).zip(offsets(outer, b)) {
        let (a, b) = (&inputs[0][a..], &inputs[1][b..]);
        match ends {
            _ if length == 0 => {}
            [0, 0] => made.extend(std::iter::repeat_n(f(a[0], b[0]), length)),
            [0, _] => made.extend(b[..length].iter().map(|&b| f(a[0], b))),
            [_, 0] => made.extend(a[..length].iter().map(|&a| f(a, b[0]))),
            _ => made.extend(a[..length].iter().zip(&b[..length]).map(|(&a, &b)| f(a, b))),
        }
    }
    made
}

fn broadcast(operands: &Operands<'_>) -> Option<Vec<usize>> {
    let (a, b) = (&operands.input(0).ty.shape, &operands.input(1).ty.shape);
    let rank = a.len().max(b.len());
    let size = |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |i| shape[i]);
    let common = |axis| match (size(a, axis), size(b, axis)) {
        (a, b) if a == b => Some(a),
        (1, other) | (other, 1) => Some(other),
        _ => None,
    };
    (0..rank).map(common).collect()
}

/// Returns the row-major strides of `shape`, extended to `rank` axes. The stride is 0 along repeated axes.
fn broadcast_strides(shape: &[usize], rank: usize) -> Vec<usize> {
    let own =
        row_major(shape).into_iter().zip(shape).map(|(stride, &size)| if size == 1 { 0 } else { stride });
    std::iter::repeat_n(0, rank - shape.len()).chain(own).collect()
}
