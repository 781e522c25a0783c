//! Code shared by operations on real values.

use crate::ops::Operands;
use crate::{DType, GraphError, real_of};

/// Checks that there are `min..=max` inputs, and that they and the output are real values.
pub(super) fn expect(operands: &Operands<'_>, min: usize, max: usize) -> Result<(), GraphError> {
    operands.expect_inputs(min, max)?;
    operands.expect_output_dtype(&[DType::Float32])?;
    (0..operands.inputs.len())
        .filter(|&index| operands.optional(index).is_some())
        .try_for_each(|index| operands.expect_dtype(index, &[DType::Float32]))
}

/// Adds the products of one value and each of several weights to one sum each, in float64.
pub(super) fn add_products(sums: &mut [f64], word: i32, weights: &[f64]) {
    let value = f64::from(real_of(word));
    sums.iter_mut().zip(weights).for_each(|(sum, &weight)| *sum += value * weight);
}
