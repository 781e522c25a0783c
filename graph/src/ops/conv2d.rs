//! 2-D convolution.

use super::operands::{Operands, WEIGHTS};
use super::{Operator, window};
use crate::dot::{DotProducts, DotWeights, Finish, Window};
use crate::{Activation, GraphError, Padding, Requantize};

/// `y[n,h,w,o] = sum over kh, kw, i of (x[n, h*s+kh*d-p, .., g*I+i] - zx) * (w[o,kh,kw,i] - zw)`, plus bias, requantized.
///
/// Inputs: activations `[n, h, w, c]`, constant weights `[o, kh, kw, c/groups]` (scales per tensor or along
/// axis 0), optional bias `[o]`. The number of groups follows from the shapes.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Conv2d {
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

impl Operator for Conv2d {
    const NAME: &'static str = "conv2d";

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

impl Conv2d {
    fn parts(&self, operands: &Operands<'_>) -> Result<DotProducts, GraphError> {
        operands.expect_dtype(1, WEIGHTS)?;
        let window = self.window(operands)?;
        let channels = window.channels();
        let (weight_scales, zero_points) = operands.weight_channels(1, 0, channels)?;
        let [kernel_rows, kernel_cols, depth] = window.kernel;
        let strides = [kernel_rows * kernel_cols * depth, kernel_cols * depth, depth, 1];
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
        let [out_channels, kernel_rows, kernel_cols, depth] = operands.shape(1)?;
        let fits = depth > 0 && channels % depth == 0 && out_channels > 0;
        let groups = if fits { channels / depth } else { 0 };
        if groups == 0 || out_channels % groups != 0 {
            let expected = format!("[o, kh, kw, {channels} / groups] with o a multiple of groups");
            return Err(operands.shape_error(operands.input(1), expected));
        }
        window::Sliding {
            kernel: [kernel_rows, kernel_cols],
            stride: self.stride,
            dilation: self.dilation,
            padding: self.padding,
        }
        .over(operands, input, out_channels, depth, groups)
    }
}
