//! Average pool.

use super::{Mac, Monotonicity, Operands, Operator, pool, window};
use crate::dot::{Division, DotProducts, Finish};
use crate::effort::{CLAMP, Effort, REQUANTIZE};
use crate::{Activation, GraphError, Padding};

/// The mean of the codes in a window without padding, rounded half away from zero on raw codes.
///
/// The input is `[n, h, w, c]`. The output has its dtype, scale and zero point.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AvgPool2d {
    /// Size of the window along rows and columns.
    pub kernel: [usize; 2],
    /// Step of the window along rows and columns.
    pub stride: [usize; 2],
    /// Padding.
    pub padding: Padding,
    /// The fused activation.
    pub activation: Activation,
}

impl Operator for AvgPool2d {
    const NAME: &'static str = "avg_pool2d";
    /// The division is a product with the reciprocal.
    const EFFORT: Effort = Effort::per_cell(1).and_output(REQUANTIZE + CLAMP);
    const MAC: Option<Mac> = Some(Mac::Unweighted);
    const MONOTONICITY: Monotonicity = Monotonicity::Increasing;

    super::activated!();

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        self.parts(operands).map(|parts| window::output_shape(&parts.window))
    }

    fn dot_products(&self, operands: &Operands<'_>) -> Option<DotProducts> {
        self.parts(operands).ok()
    }
}

impl AvgPool2d {
    fn parts(&self, operands: &Operands<'_>) -> Result<DotProducts, GraphError> {
        let window = pool::window(operands, self.kernel, self.stride, self.padding)?;
        let input = operands.activation(0)?;
        let clamp = self.activation.clamp(operands.output_dtype, input);
        Ok(DotProducts {
            window,
            input_zero_point: input.zero_point(0),
            weights: None,
            bias: None,
            finish: Finish::Divide(Division::Average { clamp }),
        })
    }
}
