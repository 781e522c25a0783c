//! 2-D convolution of real values.

use super::elements::expect;
use crate::dot::{Tap, Window};
use crate::ops::window::{self, Sliding};
use crate::ops::{Operands, Operator};
use crate::{GraphError, Padding, real_of, word_of};

/// `y[n,h,w,o] = sum over kh, kw, i of x[n, h*s+kh*d-p, .., g*I+i] * w[o,kh,kw,i]`, plus bias; padding is 0.
///
/// Inputs: `[n, h, w, c]`, weights `[o, kh, kw, c/groups]`, optional bias `[o]`. Sums are computed in float64.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FloatConv2d {
    /// Step, rows and columns.
    pub stride: [usize; 2],
    /// Distance between cells, rows and columns.
    pub dilation: [usize; 2],
    /// Padding.
    pub padding: Padding,
}

impl Operator for FloatConv2d {
    const NAME: &'static str = "float_conv2d";

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        expect(operands, 2, 3)?;
        let window = self.geometry(operands)?;
        if let Some(bias) = operands.optional(2).filter(|bias| bias.ty.shape != [window.channels()]) {
            return Err(operands.shape_error(bias, format!("[{}]", window.channels())));
        }
        Ok(window::output_shape(&window))
    }

    fn window(&self, operands: &Operands<'_>) -> Option<Window> {
        self.geometry(operands).ok()
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let Ok(window) = self.geometry(operands) else { return Vec::new() };
        let terms = window.terms();
        let bias = inputs.get(2).copied().unwrap_or_default();
        let one = |index| {
            let out = window.output_position(index);
            let products = (0..terms).map(|k| match window.tap(out, window.kernel_position(k)) {
                Tap::Input(at) => {
                    f64::from(real_of(inputs[0][at])) * f64::from(real_of(inputs[1][out.c * terms + k]))
                }
                Tap::Padding => 0.0,
            });
            let sum: f64 = products.sum();
            word_of((sum + bias.get(out.c).map_or(0.0, |&word| real_of(word).into())) as f32)
        };
        (0..window.dots()).map(one).collect()
    }
}

impl FloatConv2d {
    fn geometry(&self, operands: &Operands<'_>) -> Result<Window, GraphError> {
        let input @ [_, _, _, channels] = operands.shape(0)?;
        let [out_channels, rows, cols, depth] = operands.shape(1)?;
        let groups = if depth > 0 && channels % depth == 0 { channels / depth } else { 0 };
        if groups == 0 || out_channels == 0 || out_channels % groups != 0 {
            let expected = format!("[o, kh, kw, {channels} / groups] with o a multiple of groups");
            return Err(operands.shape_error(operands.input(1), expected));
        }
        let (stride, dilation, padding) = (self.stride, self.dilation, self.padding);
        let sliding = Sliding { kernel: [rows, cols], stride, dilation, padding };
        sliding.over(operands, input, out_channels, depth, groups)
    }
}
