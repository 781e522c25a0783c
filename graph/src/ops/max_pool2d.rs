//! Max pool.

use super::{Monotonicity, Operands, Operator, pool, window};
use crate::dot::{Tap, Window};
use crate::effort::{CLAMP, Effort};
use crate::{Activation, GraphError, Padding};

/// The greatest code in a window without padding.
///
/// The input is `[n, h, w, c]`. The output has its dtype, scale and zero point.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct MaxPool2d {
    /// Size of the window along rows and columns.
    pub kernel: [usize; 2],
    /// Step of the window along rows and columns.
    pub stride: [usize; 2],
    /// Padding.
    pub padding: Padding,
    /// The fused activation.
    pub activation: Activation,
}

impl Operator for MaxPool2d {
    const NAME: &'static str = "max_pool2d";
    const EFFORT: Effort = Effort::per_cell(1).and_output(CLAMP);
    const MONOTONICITY: Monotonicity = Monotonicity::Increasing;

    super::activated!();

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        self.geometry(operands).map(|window| window::output_shape(&window))
    }

    fn window(&self, operands: &Operands<'_>) -> Option<Window> {
        self.geometry(operands).ok()
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let (Ok(window), Ok(output)) = (self.geometry(operands), operands.output_activation()) else {
            return Vec::new();
        };
        let (low, high) = self.activation.clamp(operands.output_dtype, output);
        let greatest = |index| {
            let out = window.output_position(index);
            let codes =
                (0..window.terms()).filter_map(|k| match window.tap(out, window.kernel_position(k)) {
                    Tap::Input(at) => Some(inputs[0][at]),
                    Tap::Padding => None,
                });
            codes.fold(low, i32::max).min(high)
        };
        (0..window.dots()).map(greatest).collect()
    }
}

impl MaxPool2d {
    fn geometry(&self, operands: &Operands<'_>) -> Result<Window, GraphError> {
        pool::window(operands, self.kernel, self.stride, self.padding)
    }
}
