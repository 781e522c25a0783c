//! 2-D convolution of every channel on its own.

use super::operands::{Operands, WEIGHTS};
use super::{Operator, window};
use crate::dot::{DotProducts, DotWeights, Finish, Window};
use crate::{Activation, GraphError, Padding, Requantize};

/// As [`Conv2d`](super::Conv2d), but output channel `i*m + j` reads input channel `i` alone.
///
/// Inputs: activations `[n, h, w, c]`, constant weights `[1, kh, kw, c*m]` (scales per tensor or along axis 3),
/// optional bias `[c*m]`. The multiplier `m` follows from the shapes.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct DepthwiseConv2d {
    /// Step, rows and columns.
    pub stride: [usize; 2],
    /// Distance between cells, rows and columns.
    pub dilation: [usize; 2],
    /// Padding.
    pub padding: Padding,
    /// Fused activation.
    pub activation: Activation,
    /// From sums to codes.
    pub requantize: Requantize,
}

impl Operator for DepthwiseConv2d {
    const NAME: &'static str = "depthwise_conv2d";

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(2, 3)?;
        self.parts(operands).map(|parts| window::output_shape(&parts.window))
    }

    fn dot_products(&self, operands: &Operands<'_>) -> Option<DotProducts> {
        self.parts(operands).ok()
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        window::evaluate(self.dot_products(operands), inputs)
    }
}

impl DepthwiseConv2d {
    fn parts(&self, operands: &Operands<'_>) -> Result<DotProducts, GraphError> {
        operands.expect_dtype(1, WEIGHTS)?;
        let window = self.window(operands)?;
        let channels = window.channels();
        let (weight_scales, zero_points) = operands.weight_channels(1, 3, channels)?;
        let strides = [1, window.kernel[1] * channels, channels, 0];
        let stage = window::output_stage(operands, self.requantize, self.activation, weight_scales)?;
        Ok(DotProducts {
            window,
            input_zero_point: operands.activation(0)?.zero_point(0),
            weights: Some(DotWeights { codes: operands.constant(1)?, zero_points, strides }),
            bias: operands.bias(2, channels)?,
            finish: Finish::Requantize(stage),
        })
    }

    fn window(&self, operands: &Operands<'_>) -> Result<Window, GraphError> {
        let input @ [_, _, _, channels] = operands.shape(0)?;
        let [one, kernel_rows, kernel_cols, out_channels] = operands.shape(1)?;
        if one != 1 || channels == 0 || out_channels == 0 || out_channels % channels != 0 {
            let expected = format!("[1, kh, kw, {channels} * multiplier]");
            return Err(operands.shape_error(operands.input(1), expected));
        }
        window::Sliding {
            kernel: [kernel_rows, kernel_cols],
            stride: self.stride,
            dilation: self.dilation,
            padding: self.padding,
        }
        .over(operands, input, out_channels, 1, channels)
    }
}
