//! Addition as ONNX Runtime computes it on codes.

use super::{Monotonicity, Operands, Operator, elementwise};
use crate::effort::{CLAMP, Effort};
use crate::float32::half_even;
use crate::{Activation, GraphError};

/// `a + b` with NumPy's broadcasting, in float32.
///
/// With `A = sa/sy`, `B = sb/sy` and `z = zy - fma(A, za, B * zb)`, `y = round_half_even(fma(A, a, fma(B, b, z)))`,
/// clamped. Source: ONNX Runtime `QLinearAdd` on x86-64 (MLAS with fused multiply-add), measured against version
/// 1.31.1.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct QLinearAdd {
    /// The fused activation.
    pub activation: Activation,
}

impl Operator for QLinearAdd {
    const NAME: &'static str = "qlinear_add";
    /// Counts two conversions, two products with additions and a rounding.
    const EFFORT: Effort = Effort::per_output(2 + 2 + 1 + CLAMP);
    const MONOTONICITY: Monotonicity = Monotonicity::Increasing;

    super::activated!();

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(2, 2)?;
        let shape = elementwise::shape(operands)?;
        self.sum(operands)?;
        Ok(shape)
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let Ok(Sum { ratios: [first, second], zero_points, clamp: (low, high) }) = self.sum(operands) else {
            return Vec::new();
        };
        elementwise::zip(operands, inputs, |a, b| {
            let sum = first.mul_add(a as f32, second.mul_add(b as f32, zero_points));
            (half_even(sum) as i64).clamp(low.into(), high.into()) as i32
        })
    }
}

struct Sum {
    /// Scales of the inputs divided by that of the output.
    ratios: [f32; 2],
    zero_points: f32,
    clamp: (i32, i32),
}

impl QLinearAdd {
    fn sum(&self, operands: &Operands<'_>) -> Result<Sum, GraphError> {
        let (a, b, y) = (operands.activation(0)?, operands.activation(1)?, operands.output_activation()?);
        let ratios = [a, b].map(|q| q.scale(0) / y.scale(0));
        let [za, zb, zy] = [a, b, y].map(|q| q.zero_point(0) as f32);
        Ok(Sum {
            ratios,
            zero_points: zy - ratios[0].mul_add(za, ratios[1] * zb),
            clamp: self.activation.clamp(operands.output_dtype, y),
        })
    }
}
