//! Code shared by pools.

use super::{Operands, window};
use crate::dot::Window;
use crate::{GraphError, Padding};

/// Returns the checked window of a pool. Every window reads at least one element.
pub(super) fn window(
    operands: &Operands<'_>,
    kernel: [usize; 2],
    stride: [usize; 2],
    padding: Padding,
) -> Result<Window, GraphError> {
    operands.expect_inputs(1, 1)?;
    operands.activation(0)?;
    operands.expect_output_like(0)?;
    let input @ [_, _, _, channels] = operands.shape(0)?;
    if let Padding::Explicit { rows, cols } = padding {
        for (sides, size) in [(rows, kernel[0]), (cols, kernel[1])] {
            if sides.iter().any(|&side| side >= size) {
                let problem = format!("{sides:?} must be below the size {size} of the window");
                return Err(operands.attribute_error("padding", problem));
            }
        }
    }
    window::Sliding { kernel, stride, dilation: [1, 1], padding }.over(operands, input, channels, 1, channels)
}
