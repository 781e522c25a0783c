//! 2-D convolution of each channel by itself.

use super::convolution::convolution;
use super::operands::Operands;
use super::weighted::Geometry;
use super::window::Sliding;
use crate::{GraphError, Padding};

convolution! {
    /// A convolution like [`Conv2d`](super::Conv2d) in which output channel `i*m + j` reads only input channel `i`.
    ///
    /// Inputs: activations `[n, h, w, c]`, constant weights `[1, kh, kw, c*m]` (scales per tensor or along axis 3),
    /// optional bias `[c*m]`. The multiplier `m` follows from the shapes.
    DepthwiseConv2d, "depthwise_conv2d", geometry
}

fn geometry(
    operands: &Operands<'_>,
    stride: [usize; 2],
    dilation: [usize; 2],
    padding: Padding,
) -> Result<Geometry, GraphError> {
    let input @ [_, _, _, channels] = operands.shape(0)?;
    let [one, rows, cols, out_channels] = operands.shape(1)?;
    if one != 1 || channels == 0 || out_channels == 0 || out_channels % channels != 0 {
        let expected = format!("[1, kh, kw, {channels} * multiplier]");
        return Err(operands.shape_error(operands.input(1), expected));
    }
    let window = Sliding { kernel: [rows, cols], stride, dilation, padding };
    let window = window.over(operands, input, out_channels, 1, channels)?;
    Ok(Geometry { window, axis: 3, strides: [1, cols * out_channels, out_channels, 0] })
}
