//! Code shared by operations on windows.

use super::Operands;
use crate::dot::Window;
use crate::limits::check_extents;
use crate::padding::WindowAxis;
use crate::{GraphError, Padding};

/// The sliding part of a window. Sizes are in cells, rows first.
pub(super) struct Sliding {
    pub kernel: [usize; 2],
    pub stride: [usize; 2],
    pub dilation: [usize; 2],
    pub padding: Padding,
}

impl Sliding {
    /// Returns the geometry over an input of `[n, h, w, c]`.
    pub fn over(
        &self,
        operands: &Operands<'_>,
        [batch, rows, cols, channels]: [usize; 4],
        out_channels: usize,
        depth: usize,
        groups: usize,
    ) -> Result<Window, GraphError> {
        for (name, values) in [("kernel", self.kernel), ("stride", self.stride), ("dilation", self.dilation)]
        {
            check_extents(operands, name, values)?;
        }
        let axis = |i: usize, input| WindowAxis {
            input,
            kernel: self.kernel[i],
            stride: self.stride[i],
            dilation: self.dilation[i],
        };
        let too_small =
            || operands.shape_error(operands.input(0), format!("at least one window of {:?}", self.kernel));
        let (pad_rows, out_rows) = self.padding.rows(axis(0, rows)).ok_or_else(too_small)?;
        let (pad_cols, out_cols) = self.padding.cols(axis(1, cols)).ok_or_else(too_small)?;
        Ok(Window {
            batch,
            input: [rows, cols, channels],
            output: [out_rows, out_cols, out_channels],
            kernel: [self.kernel[0], self.kernel[1], depth],
            stride: self.stride,
            dilation: self.dilation,
            pad: [pad_rows, pad_cols],
            groups,
        })
    }
}

/// Returns `[n, h, w, c]` of the output.
pub(super) fn output_shape(window: &Window) -> Vec<usize> {
    let [rows, cols, channels] = window.output;
    vec![window.batch, rows, cols, channels]
}
