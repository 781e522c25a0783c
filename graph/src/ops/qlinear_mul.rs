//! Multiplication as ONNX Runtime computes it on codes.

use super::{Monotonicity, Operands, Operator, elementwise};
use crate::effort::{CENTRE, CLAMP, Effort};
use crate::{Activation, GraphError};

/// `a * b` with NumPy's broadcasting, in float32.
///
/// `y = round_half_even((a - za) * (b - zb) * (sa * sb / sy) + zy)`, clamped. The zero point is added before
/// rounding. Source: ONNX Runtime `QLinearMul`, measured against version 1.31.1.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct QLinearMul {
    /// The fused activation.
    pub activation: Activation,
}

impl Operator for QLinearMul {
    const NAME: &'static str = "qlinear_mul";
    /// Counts two conversions, two products, a rounding and the zero point.
    const EFFORT: Effort = Effort::per_output(2 * CENTRE + 2 + 2 + 2 + CLAMP);
    const MONOTONICITY: Monotonicity = Monotonicity::Bilinear;

    super::activated!();

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(2, 2)?;
        let shape = elementwise::shape(operands)?;
        operands.activation(0).and(operands.activation(1)).and(operands.output_activation())?;
        Ok(shape)
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let (Ok(a), Ok(b), Ok(y)) =
            (operands.activation(0), operands.activation(1), operands.output_activation())
        else {
            return Vec::new();
        };
        let multiplier = a.scale(0) * b.scale(0) / y.scale(0);
        let [za, zb] = [a, b].map(|q| i64::from(q.zero_point(0)));
        let (low, high) = self.activation.clamp(operands.output_dtype, y);
        elementwise::zip(operands, inputs, |a, b| {
            let product = (i64::from(a) - za) * (i64::from(b) - zb);
            let code = (product as f32 * multiplier + y.zero_point(0) as f32).round_ties_even();
            (code as i64).clamp(low.into(), high.into()) as i32
        })
    }
}
