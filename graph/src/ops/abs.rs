//! Absolute value.

use super::{Operands, Operator};
use crate::effort::{CENTRE, CLAMP, Effort, REQUANTIZE};
use crate::{GraphError, Requantize};

/// `y = round(|x - zx| * sx/sy) + zy`, clamped (TensorFlow Lite `ABS`).
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Abs {
    /// Requantization from input to output codes.
    pub requantize: Requantize,
}

impl Operator for Abs {
    const NAME: &'static str = "abs";
    const EFFORT: Effort = Effort::per_output(CENTRE + 1 + REQUANTIZE + CLAMP);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_output_dtype(&[operands.input(0).ty.dtype])?;
        let (x, y) = (operands.activation(0)?, operands.output_activation()?);
        operands.requantizer(self.requantize, x.scale(0), 1.0, y.scale(0))?;
        Ok(operands.input(0).ty.shape.clone())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let (Ok(x), Ok(y)) = (operands.activation(0), operands.output_activation()) else {
            return Vec::new();
        };
        let Ok(requantizer) = operands.requantizer(self.requantize, x.scale(0), 1.0, y.scale(0)) else {
            return Vec::new();
        };
        let code = |&code: &i32| {
            let size = (i128::from(code) - i128::from(x.zero_point(0))).abs();
            operands.output_dtype.saturate(requantizer.requantize(size, y.zero_point(0).into()))
        };
        inputs[0].iter().map(code).collect()
    }
}
