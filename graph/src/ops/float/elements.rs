//! Checks that operations on real values share.

use crate::ops::Operands;
use crate::{DType, GraphError};

/// Fails unless there are `min..=max` inputs, and they and the output are real values.
pub(super) fn expect(operands: &Operands<'_>, min: usize, max: usize) -> Result<(), GraphError> {
    operands.expect_inputs(min, max)?;
    operands.expect_output_dtype(&[DType::Float32])?;
    (0..operands.inputs.len())
        .filter(|&index| operands.optional(index).is_some())
        .try_for_each(|index| operands.expect_dtype(index, &[DType::Float32]))
}
