//! Selection of elements and slices by computed indices.

use super::strides::row_major;
use super::{Monotonicity, Operands, Operator};
use crate::effort::Effort;
use crate::{DType, GraphError};

/// The slices of `x` that `indices` (int32, `[..., n]`) selects by their first `n` axes.
///
/// The output has the shape of `indices` without its last axis, followed by that of a slice. Its dtype, scale and
/// zero point are those of `x`. An index outside the tensor is clamped to the nearest valid one; runtimes report an
/// error.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GatherNd;

impl Operator for GatherNd {
    const NAME: &'static str = "gather_nd";
    const EFFORT: Effort = Effort::COPY;
    const MONOTONICITY: Monotonicity = Monotonicity::Unknown;

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(2, 2)?;
        operands.expect_output_like(0)?;
        operands.expect_dtype(1, &[DType::Int32])?;
        let (shape, indices) = (&operands.input(0).ty.shape, &operands.input(1).ty.shape);
        match indices.split_last() {
            Some((&named, places)) if named <= shape.len() => {
                if shape[..named].contains(&0) {
                    return Err(operands.shape_error(operands.input(0), "sizes above 0".into()));
                }
                Ok([places, &shape[named..]].concat())
            }
            _ => {
                let expected = format!("a last axis of at most {}", shape.len());
                Err(operands.shape_error(operands.input(1), expected))
            }
        }
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let shape = &operands.input(0).ty.shape;
        let named = operands.input(1).ty.shape.last().copied().unwrap_or(0);
        let slice: usize = shape[named..].iter().product();
        let strides = row_major(shape);
        let places: usize =
            operands.input(1).ty.shape.split_last().map_or(0, |(_, sizes)| sizes.iter().product());
        let start = |place: usize| -> usize {
            let index = &inputs[1][place * named..][..named];
            let inside = |axis: usize| (index[axis].max(0) as usize).min(shape[axis] - 1);
            (0..named).map(|axis| inside(axis) * strides[axis]).sum()
        };
        (0..places).flat_map(|place| &inputs[0][start(place)..][..slice]).copied().collect()
    }
}
