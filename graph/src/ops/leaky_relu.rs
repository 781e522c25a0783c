//! Leaky ReLU: a rectifier with a slope below 0.

use guardbit_num::Requantizer;

use super::{Monotonicity, Operands, Operator};
use crate::effort::{CENTRE, CLAMP, Effort, REQUANTIZE};
use crate::{GraphError, Requantize};

/// `x` if it is not negative, otherwise `alpha * x`.
///
/// `y = round((x - zx) * sx/sy) + zy`. The multiplier of negative codes is `sx*alpha/sy`. Source: TensorFlow Lite
/// `reference_ops::QuantizeLeakyRelu`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct LeakyRelu {
    /// The slope below 0.
    pub alpha: f32,
    /// Requantization from input to output codes.
    pub requantize: Requantize,
}

impl Operator for LeakyRelu {
    const NAME: &'static str = "leaky_relu";
    /// Counts both slopes, a comparison and a selection.
    const EFFORT: Effort = Effort::per_output(CENTRE + 2 + 2 + REQUANTIZE + CLAMP);
    const MONOTONICITY: Monotonicity = Monotonicity::Unknown;

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_output_dtype(&[operands.input(0).ty.dtype])?;
        if !self.alpha.is_finite() {
            return Err(operands.attribute_error("alpha", format!("{} is not finite", self.alpha)));
        }
        self.slopes(operands)?;
        Ok(operands.input(0).ty.shape.clone())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let (Ok([above, below]), Ok(x), Ok(y)) =
            (self.slopes(operands), operands.activation(0), operands.output_activation())
        else {
            return Vec::new();
        };
        let sign = if self.alpha < 0.0 { -1 } else { 1 };
        let code = |&code: &i32| {
            let centred = i128::from(code) - i128::from(x.zero_point(0));
            let scaled = if centred >= 0 { above.scale(centred) } else { sign * below.scale(centred) };
            operands.output_dtype.saturate(scaled + i128::from(y.zero_point(0)))
        };
        inputs[0].iter().map(code).collect()
    }
}

impl LeakyRelu {
    /// Returns the requantizers of codes from 0 on, and of negative codes without the sign of the slope.
    fn slopes(&self, operands: &Operands<'_>) -> Result<[Requantizer; 2], GraphError> {
        let (x, y) = (operands.activation(0)?.scale(0), operands.output_activation()?.scale(0));
        Ok([
            operands.requantizer(self.requantize, x, 1.0, y)?,
            operands.requantizer(self.requantize, x, self.alpha.abs(), y)?,
        ])
    }
}
