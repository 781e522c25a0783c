//! Selection of elements along an axis.

use super::strides::{each_index, flat, row_major};
use super::{Monotonicity, Operands, Operator};
use crate::effort::Effort;
use crate::{DType, GraphError};

/// The elements of the first input along `axis` that the second input, an int32 constant, selects.
///
/// Both inputs have equal first `batch_dims` axes, and the indices of a batch select in that batch. The output has
/// the dtype, scale and zero point of the first input.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Gather {
    /// The axis.
    pub axis: usize,
    /// Number of leading axes that both inputs share, at most `axis`.
    pub batch_dims: usize,
}

impl Operator for Gather {
    const NAME: &'static str = "gather";
    const EFFORT: Effort = Effort::COPY;
    const MONOTONICITY: Monotonicity = Monotonicity::Increasing;

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(2, 2)?;
        operands.expect_output_like(0)?;
        operands.expect_dtype(1, &[DType::Int32])?;
        let (shape, chosen) = (&operands.input(0).ty.shape, &operands.input(1).ty.shape);
        if self.axis >= shape.len() || self.batch_dims > self.axis {
            let problem = format!("{} must be in {}..{}", self.axis, self.batch_dims, shape.len());
            return Err(operands.attribute_error("axis", problem));
        }
        if !chosen.starts_with(&shape[..self.batch_dims]) {
            let expected = format!("leading axes {:?}", &shape[..self.batch_dims]);
            return Err(operands.shape_error(operands.input(1), expected));
        }
        let size = shape[self.axis];
        let inside = |index: &i32| usize::try_from(*index).is_ok_and(|index| index < size);
        if let Some(index) = operands.constant(1)?.iter().find(|index| !inside(index)) {
            let problem = format!("selects element {index} of {size}");
            return Err(operands.operand_error(&operands.input(1).name, problem));
        }
        Ok([&shape[..self.axis], &chosen[self.batch_dims..], &shape[self.axis + 1..]].concat())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let Ok(shape) = self.output_shape(operands) else { return Vec::new() };
        let (strides, choosing) =
            (row_major(&operands.input(0).ty.shape), row_major(&operands.input(1).ty.shape));
        let chosen = choosing.len() - self.batch_dims;
        each_index(&shape, |index| {
            let (front, rest) = index.split_at(self.axis);
            let (choice, back) = rest.split_at(chosen);
            let batch = front[..self.batch_dims].iter().chain(choice).copied();
            let element = inputs[1][flat(batch, &choosing)] as usize;
            inputs[0][flat(front.iter().copied().chain([element]).chain(back.iter().copied()), &strides)]
        })
    }
}
