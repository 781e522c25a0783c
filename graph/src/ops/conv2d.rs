//! 2-D convolution.

use super::convolution::convolution;
use super::operands::Operands;
use super::weighted::Geometry;
use super::window::Sliding;
use crate::{GraphError, Padding};

convolution! {
    /// `y[n,h,w,o] = sum over kh, kw, i of (x[n, h*s+kh*d-p, .., g*I+i] - zx) * (w[o,kh,kw,i] - zw)`, plus bias,
    /// requantized.
    ///
    /// Inputs: activations `[n, h, w, c]`, constant weights `[o, kh, kw, c/groups]` (scales per tensor or along axis
    /// 0), optional bias `[o]`. The number of groups follows from the shapes.
    Conv2d, "conv2d", geometry
}

fn geometry(
    operands: &Operands<'_>,
    stride: [usize; 2],
    dilation: [usize; 2],
    padding: Padding,
) -> Result<Geometry, GraphError> {
    let input @ [_, _, _, channels] = operands.shape(0)?;
    let [out_channels, rows, cols, depth] = operands.shape(1)?;
    let fits = depth > 0 && channels % depth == 0 && out_channels > 0;
    let groups = if fits { channels / depth } else { 0 };
    if groups == 0 || out_channels % groups != 0 {
        let expected = format!("[o, kh, kw, {channels} / groups] with o a multiple of groups");
        return Err(operands.shape_error(operands.input(1), expected));
    }
    let window = Sliding { kernel: [rows, cols], stride, dilation, padding };
    let window = window.over(operands, input, out_channels, depth, groups)?;
    Ok(Geometry { window, axis: 0, strides: [rows * cols * depth, cols * depth, depth, 1] })
}
