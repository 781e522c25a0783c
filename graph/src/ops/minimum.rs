//! Elementwise minimum. It repeats the declarations of `maximum`, because each operation is a file of its own.

use super::{Monotonicity, Operands, Operator, elementwise};
use crate::GraphError;
use crate::effort::Effort;

/// The lesser code of `a` and `b`, with NumPy's broadcasting.
///
/// Both inputs and the output have equal dtypes, scales and zero points.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Minimum;

impl Operator for Minimum {
    const NAME: &'static str = "minimum";
    const EFFORT: Effort = Effort::per_output(1);
    const MONOTONICITY: Monotonicity = Monotonicity::Increasing;

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        let shape = elementwise::output_shape(operands)?;
        operands.expect_output_like(0)?;
        operands.expect_output_like(1)?;
        Ok(shape)
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        elementwise::zip(operands, inputs, i32::min)
    }
}
