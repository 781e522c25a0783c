//! Code shared by operations whose output codes are input codes at other positions.

use super::Operands;
use super::strides::{each_index, flat, row_major};
use crate::GraphError;

/// An operation on one input in which every output element is a copy of one input element.
pub(super) trait Moved {
    /// Returns the shape of the output.
    fn shape(&self, operands: &Operands<'_>, input: &[usize]) -> Result<Vec<usize>, GraphError>;

    /// Writes the index of the input element for the position `output`. Returns `None` for cells that hold the zero
    /// point.
    fn source(&self, input: &[usize], output: &[usize], source: &mut [usize]) -> Option<()>;

    /// Checks the operands and returns the shape of the output.
    fn checked(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_output_like(0)?;
        self.shape(operands, &operands.input(0).ty.shape)
    }

    /// Returns the output codes.
    fn codes(&self, operands: &Operands<'_>, codes: &[i32]) -> Vec<i32> {
        let input = &operands.input(0).ty.shape;
        let Ok(shape) = self.shape(operands, input) else { return Vec::new() };
        let strides = row_major(input);
        let fill = operands.per_tensor(0).map_or(0, |quantization| quantization.zero_point(0));
        let mut source = vec![0; input.len()];
        each_index(&shape, |index| {
            let inside = self.source(input, index, &mut source);
            inside.map_or(fill, |()| codes[flat(source.iter().copied(), &strides)])
        })
    }
}

/// Implements [`Operator`](super::Operator) for a [`Moved`] operation.
macro_rules! moved {
    ($ty:ident, $name:literal) => {
        impl $crate::ops::Operator for $ty {
            const NAME: &'static str = $name;
            const EFFORT: $crate::effort::Effort = $crate::effort::Effort::COPY;
            const MONOTONICITY: $crate::ops::Monotonicity = $crate::ops::Monotonicity::Increasing;

            fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
                self.checked(operands)
            }

            fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
                self.codes(operands, inputs[0])
            }
        }
    };
}

pub(super) use moved;

/// Checks that the input has rank 4 and returns its shape.
pub(super) fn image(operands: &Operands<'_>) -> Result<[usize; 4], GraphError> {
    operands.shape(0)
}

/// Checks that `values` has one value per axis.
pub(super) fn per_axis<T>(
    operands: &Operands<'_>,
    name: &'static str,
    values: &[T],
    axes: usize,
) -> Result<(), GraphError> {
    if values.len() == axes {
        return Ok(());
    }
    let problem = format!("has entries for {} axes; the input has {axes} axes", values.len());
    Err(operands.attribute_error(name, problem))
}
