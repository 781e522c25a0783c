//! Softmax as ONNX Runtime computes it on codes.

use super::{Operands, Operator};
use crate::effort::{CLAMP, Effort, LOOKUP, real};
use crate::{DType, GraphError};

/// `exp(x) / sum of exp(x)` along an axis, on codes of 8 bits, from a float32 table of 256 powers.
///
/// With `d` elements along the axis, `m` the greatest code and `h = max(ln(float32::MAX / d) - 5, 0)`, which keeps
/// the sum finite: `e(x) = exp((x - m + h/sx) * sx)`, computed in float64 and rounded to float32, and `y = round(e(x)
/// * floor(1 / sy) / sum) + zy` in float32, ties to even, then clamped. The elements are summed one after the other.
///
/// Source: ONNX Runtime `QLinearSoftmax` (`contrib_ops/cpu/quantization/qlinear_softmax.cc`). Results equal those of
/// version 1.31.1.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct QLinearSoftmax {
    /// The axis.
    pub axis: usize,
}

impl Operator for QLinearSoftmax {
    const NAME: &'static str = "qlinear_softmax";
    /// Counts the maximum, a table, the sum, the quotient, its rounding and the zero point.
    const EFFORT: Effort = Effort::per_output(1 + LOOKUP + 1 + real::DIVIDE + 2 + CLAMP);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_dtype(0, CODES)?;
        operands.expect_output_dtype(CODES)?;
        operands.activation(0)?;
        let output = operands.output_activation()?;
        // For smaller scales the results of the kernel leave the codes and wrap.
        if !operands.output_dtype.is_signed() && (1.0 / output.scale(0)).floor() > 256.0 {
            let problem = "must have a scale of 1/256 or more".into();
            return Err(operands.operand_error(operands.output_name, problem));
        }
        let shape = &operands.input(0).ty.shape;
        if self.axis >= shape.len() {
            let problem = format!("{} is outside the rank of {shape:?}", self.axis);
            return Err(operands.attribute_error("axis", problem));
        }
        Ok(shape.clone())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let shape = &operands.input(0).ty.shape;
        let (Ok(input), Ok(output)) = (operands.activation(0), operands.output_activation()) else {
            return Vec::new();
        };
        let (size, inner) = (shape[self.axis], shape[self.axis + 1..].iter().product::<usize>());
        let scale = f64::from(input.scale(0));
        let head_room = (f64::from(libm::logf(f32::MAX / size as f32)) - 5.0).max(0.0) / scale;
        let power = |below: i32| libm::exp((head_room - f64::from(below)) * scale) as f32;
        let powers: Vec<f32> = (0..256).map(power).collect();
        let steps = (1.0 / output.scale(0)).floor();
        let dtype = operands.output_dtype;
        let code = |quotient: f32| {
            let zero_point = output.zero_point(0);
            match quotient < 2f32.powi(31) {
                true => dtype.saturate(quotient.round_ties_even() as i128 + i128::from(zero_point)),
                // The result of the conversion on x86, as an int32 or as the low half of an int64.
                false if dtype.is_signed() => dtype.saturate(i32::MIN.wrapping_add(zero_point).into()),
                false => zero_point,
            }
        };
        let mut made = vec![0; inputs[0].len()];
        for first in (0..made.len()).filter(|at| at / inner % size == 0) {
            let at = |i: usize| first + i * inner;
            let greatest = (0..size).map(|i| inputs[0][at(i)]).max().unwrap_or_default();
            let power = |i: usize| powers[(greatest - inputs[0][at(i)]) as usize];
            let sum: f32 = (0..size).map(power).sum();
            for i in 0..size {
                made[at(i)] = code(power(i) * steps / sum);
            }
        }
        made
    }
}

/// The dtypes that the kernel accepts, and those to which its codes can be narrowed.
const CODES: &[DType] = &[DType::Int8, DType::UInt8, DType::Int4, DType::UInt4];
