//! Permutation of axes.

use super::strides::{offsets, row_major};
use super::{Monotonicity, Operands, Operator};
use crate::effort::Effort;
use crate::{Brief, GraphError};

/// Axis `i` of the output is axis `permutation[i]` of the input.
///
/// The output has the dtype, scale and zero point of the input.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Transpose {
    /// A permutation of the axes of the input.
    pub permutation: Vec<usize>,
}

impl Operator for Transpose {
    const NAME: &'static str = "transpose";
    const EFFORT: Effort = Effort::COPY;
    const MONOTONICITY: Monotonicity = Monotonicity::Increasing;

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_output_like(0)?;
        let shape = &operands.input(0).ty.shape;
        let mut sorted = self.permutation.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..shape.len()) {
            let problem = format!("{} must contain every axis of {shape:?} once", Brief(&self.permutation));
            return Err(operands.attribute_error("permutation", problem));
        }
        Ok(self.permuted(shape))
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let shape = &operands.input(0).ty.shape;
        let strides = self.permuted(&row_major(shape));
        offsets(&self.permuted(shape), &strides).map(|at| inputs[0][at]).collect()
    }
}

impl Transpose {
    /// Returns whether the elements of a tensor of this shape keep their order because only axes of size 1 move.
    pub fn keeps_order(&self, shape: &[usize]) -> bool {
        let moved = self.permutation.iter().filter(|&&axis| shape.get(axis) != Some(&1));
        moved.is_sorted()
    }

    fn permuted(&self, sizes: &[usize]) -> Vec<usize> {
        self.permutation.iter().map(|&axis| sizes[axis]).collect()
    }
}
