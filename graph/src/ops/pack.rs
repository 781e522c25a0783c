//! Stacking of tensors along a new axis.

use super::strides::row_major;
use super::{Monotonicity, Operands, Operator};
use crate::GraphError;
use crate::effort::Effort;

/// One or more tensors of equal type, stacked along a new axis.
///
/// The output has their dtype, scale and zero point.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Pack {
    /// The new axis of the output.
    pub axis: usize,
}

impl Operator for Pack {
    const NAME: &'static str = "pack";
    const EFFORT: Effort = Effort::COPY;
    const MONOTONICITY: Monotonicity = Monotonicity::Increasing;

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_some_inputs()?;
        let mut shape = operands.input(0).ty.shape.clone();
        if self.axis > shape.len() {
            let problem = format!("{} is not an axis of a stack of {shape:?}", self.axis);
            return Err(operands.attribute_error("axis", problem));
        }
        for index in 0..operands.inputs.len() {
            operands.expect_output_like(index)?;
            if operands.input(index).ty.shape != shape {
                return Err(operands.shape_error(operands.input(index), format!("{shape:?}")));
            }
        }
        shape.insert(self.axis, operands.inputs.len());
        Ok(shape)
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let shape = &operands.input(0).ty.shape;
        let block = match self.axis {
            0 => shape.iter().product(),
            axis => row_major(shape)[axis - 1],
        };
        let blocks = (0..inputs[0].len()).step_by(block.max(1));
        blocks
            .flat_map(|at| inputs.iter().flat_map(move |input| input[at..at + block].iter().copied()))
            .collect()
    }
}
