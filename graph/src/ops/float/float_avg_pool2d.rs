//! Average pool of real values.

use super::elements::expect;
use super::float_max_pool2d::{taps, window};
use crate::dot::Window;
use crate::effort::Effort;
use crate::ops::window::output_shape;
use crate::ops::{Operands, Operator};
use crate::{GraphError, Padding, real_of, word_of};

/// The mean of a window of `[n, h, w, c]`, summed in float32 row by row, then divided.
///
/// ONNX Runtime's `QLinearAveragePool` computes dequantized codes in this way.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FloatAvgPool2d {
    /// Size of the window along rows and columns.
    pub kernel: [usize; 2],
    /// Step of the window along rows and columns.
    pub stride: [usize; 2],
    /// Padding.
    pub padding: Padding,
    /// Whether padding cells count as zeros of the mean.
    pub count_padding: bool,
}

impl Operator for FloatAvgPool2d {
    const NAME: &'static str = "float_avg_pool2d";
    const EFFORT: Effort = Effort::per_cell(1).and_output(1);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        expect(operands, 1, 1)?;
        self.geometry(operands).map(|window| output_shape(&window))
    }

    fn window(&self, operands: &Operands<'_>) -> Option<Window> {
        self.geometry(operands).ok()
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let Ok(window) = self.geometry(operands) else { return Vec::new() };
        let mean = |index| {
            let (mut sum, mut count) = (0.0f32, 0);
            for at in taps(&window, index) {
                sum += real_of(inputs[0][at]);
                count += 1;
            }
            let count = if self.count_padding { window.terms() } else { count };
            word_of(sum / count as f32)
        };
        (0..window.dots()).map(mean).collect()
    }
}

impl FloatAvgPool2d {
    fn geometry(&self, operands: &Operands<'_>) -> Result<Window, GraphError> {
        window(operands, self.kernel, self.stride, self.padding)
    }
}
