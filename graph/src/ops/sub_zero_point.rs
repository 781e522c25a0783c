//! Subtraction of a computed zero point.

use super::{Operands, Operator};
use crate::effort::Effort;
use crate::{CodeRange, DType, GraphError};

/// `y = x - zero point`: the value that a multiplier receives for codes whose zero point is computed at run time.
///
/// Inputs: x, codes of 8 bits, and the zero point, one element of equal dtype. The output is int16 with zero point 0.
/// Its codes have 9 bits, and its range may be `[-255, 255]`.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct SubZeroPoint {}

impl SubZeroPoint {
    /// Returns the range of all possible differences.
    pub fn range() -> CodeRange {
        CodeRange::new(-255, 255).unwrap_or(CodeRange::of(DType::Int16))
    }
}

impl Operator for SubZeroPoint {
    const NAME: &'static str = "sub_zero_point";
    const EFFORT: Effort = Effort::per_output(1);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(2, 2)?;
        operands.expect_dtype(0, &[DType::Int8, DType::UInt8])?;
        operands.expect_dtype(1, &[operands.input(0).ty.dtype])?;
        operands.expect_one_element(1)?;
        operands.expect_output_dtype(&[DType::Int16])?;
        if operands.output_activation()?.zero_points() != [0] {
            return Err(operands.operand_error(operands.output_name, "must have zero point 0".into()));
        }
        Ok(operands.input(0).ty.shape.clone())
    }

    fn evaluate(&self, _operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let zero_point = inputs[1][0];
        inputs[0].iter().map(|code| code - zero_point).collect()
    }
}
