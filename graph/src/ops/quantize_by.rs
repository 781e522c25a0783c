//! From real values to codes with a computed scale.

use super::{Operands, Operator};
use crate::effort::{CLAMP, Effort, real};
use crate::float32::half_even;
use crate::{DType, GraphError, real_of};

/// `y = round(x / scale) + zero point`, ties to even, clamped to the codes of the output.
///
/// The quotient is a float32. NaN becomes the zero point. Inputs: x, the scale (float32) and the zero point, a code
/// of the output's dtype. The network computes both, one element each. The output has scale 1 and zero point 0, the
/// quantization of its codes without scaling. Source: ONNX `QuantizeLinear`.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct QuantizeBy {}

impl Operator for QuantizeBy {
    const NAME: &'static str = "quantize_by";
    const EFFORT: Effort = Effort::per_output(real::DIVIDE + 2 + CLAMP);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(3, 3)?;
        operands.expect_dtype(0, &[DType::Float32])?;
        operands.expect_dtype(1, &[DType::Float32])?;
        operands.expect_output_dtype(&[DType::Int8, DType::UInt8, DType::Int16, DType::UInt16])?;
        operands.expect_dtype(2, &[operands.output_dtype])?;
        operands.expect_one_element(1)?;
        operands.expect_one_element(2)?;
        Ok(operands.input(0).ty.shape.clone())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let (scale, zero_point) = (real_of(inputs[1][0]), inputs[2][0]);
        let code = |&word: &i32| {
            let quotient = real_of(word) / scale;
            if quotient.is_nan() {
                return zero_point;
            }
            let steps = half_even(quotient) as i64;
            operands.output_dtype.saturate(steps.saturating_add(zero_point.into()).into())
        };
        inputs[0].iter().map(code).collect()
    }
}
