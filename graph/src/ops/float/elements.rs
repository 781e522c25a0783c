//! What operations on real values share.

use crate::ops::Operands;
use crate::{DType, GraphError, real_of};

/// Fails unless there are `min..=max` inputs, and they and the output are real values.
pub(super) fn expect(operands: &Operands<'_>, min: usize, max: usize) -> Result<(), GraphError> {
    operands.expect_inputs(min, max)?;
    operands.expect_output_dtype(&[DType::Float32])?;
    (0..operands.inputs.len())
        .filter(|&index| operands.optional(index).is_some())
        .try_for_each(|index| operands.expect_dtype(index, &[DType::Float32]))
}

/// Adds the products of one value and several weights to as many sums, in float64.
pub(super) fn add_products(sums: &mut [f64], word: i32, weights: &[f64]) {
    let value = f64::from(real_of(word));
    sums.iter_mut().zip(weights).for_each(|(sum, &weight)| *sum += value * weight);
}
