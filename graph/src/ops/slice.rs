//! A part of a tensor.

use super::strides::{each_index, flat, row_major};
use super::{Monotonicity, Operands, Operator};
use crate::effort::Effort;
use crate::{Brief, GraphError};

/// Along each axis, `size` elements from `begin` on, `strides` apart. A negative stride goes backwards.
///
/// The output has the dtype, scale and zero point of the input.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Slice {
    /// The first element along each axis.
    pub begin: Vec<usize>,
    /// Number of elements along each axis.
    pub size: Vec<usize>,
    /// Step along each axis, not 0.
    pub strides: Vec<i64>,
    /// The shape of the output if axes of size 1 are removed or added. If absent, it is `size`.
    pub shape: Option<Vec<usize>>,
}

impl Operator for Slice {
    const NAME: &'static str = "slice";
    const EFFORT: Effort = Effort::COPY;
    const MONOTONICITY: Monotonicity = Monotonicity::Increasing;

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_output_like(0)?;
        let shape = &operands.input(0).ty.shape;
        let lengths = [self.begin.len(), self.size.len(), self.strides.len()];
        for (name, length) in ["begin", "size", "strides"].into_iter().zip(lengths) {
            if length != shape.len() {
                let problem = format!("has entries for {length} axes; the input has {} axes", shape.len());
                return Err(operands.attribute_error(name, problem));
            }
        }
        for (axis, &full) in shape.iter().enumerate() {
            if !self.fits(axis, full) {
                let problem = format!(
                    "{} elements from {} with step {} exceed the {full} elements of axis {axis}",
                    self.size[axis], self.begin[axis], self.strides[axis]
                );
                return Err(operands.attribute_error("size", problem));
            }
        }
        match &self.shape {
            Some(seen) if elements(seen) != elements(&self.size) => {
                let problem =
                    format!("{} does not match the {} selected elements", Brief(seen), Brief(&self.size));
                Err(operands.attribute_error("shape", problem))
            }
            Some(seen) => Ok(seen.clone()),
            None => Ok(self.size.clone()),
        }
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let strides = row_major(&operands.input(0).ty.shape);
        let place =
            |axis: usize, i: usize| (self.begin[axis] as i64 + i as i64 * self.strides[axis]) as usize;
        each_index(&self.size, |index| {
            inputs[0][flat(index.iter().enumerate().map(|(axis, &i)| place(axis, i)), &strides)]
        })
    }
}

impl Slice {
    /// Returns a slice of the whole tensor.
    pub fn whole(shape: &[usize]) -> Self {
        Self { begin: vec![0; shape.len()], size: shape.to_vec(), strides: vec![1; shape.len()], shape: None }
    }

    fn fits(&self, axis: usize, full: usize) -> bool {
        let (begin, step) = (self.begin[axis] as i128, i128::from(self.strides[axis]));
        let last = begin + (self.size[axis] as i128 - 1) * step;
        let inside = 0..full as i128;
        step != 0 && self.size[axis] > 0 && inside.contains(&begin) && inside.contains(&last)
    }
}

fn elements(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |n, &size| n.checked_mul(size))
}
