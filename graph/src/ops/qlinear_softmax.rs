//! Softmax as ONNX Runtime computes it on codes.

use super::{Operands, Operator};
use crate::{DType, GraphError};

/// `exp(x) / sum of exp(x)` along an axis, in integers.
///
/// ONNX Runtime `QLinearSoftmax` for codes of 8 bits: with `d` elements along the axis and `m` the greatest code,
/// `e(x) = round(min((2^32 - 1) / d, 2^23 - 1) * exp((x - m) * sx))`, and
/// `y = (e(x) * floor(1 / sy) + sum / 2) / sum + zy`, divided without remainder and clamped. Measured against
/// ONNX Runtime 1.31.1.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct QLinearSoftmax {
    /// The axis.
    pub axis: usize,
}

impl Operator for QLinearSoftmax {
    const NAME: &'static str = "qlinear_softmax";

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_dtype(0, CODES)?;
        operands.expect_output_dtype(CODES)?;
        operands.activation(0)?;
        let output = operands.output_activation()?;
        // Beyond this the kernel's results leave the codes and wrap.
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
        let most = (f64::from(u32::MAX) / size as f64).min(f64::from((1 << 23) - 1));
        let power = |below: i32| {
            (most * libm::exp(-f64::from(below) * f64::from(input.scale(0)))).round_ties_even() as u64
        };
        let powers: Vec<u64> = (0..256).map(power).collect();
        let steps = (1.0 / output.scale(0)).floor() as u64;
        let mut made = vec![0; inputs[0].len()];
        for first in (0..made.len()).filter(|at| at / inner % size == 0) {
            let at = |i: usize| first + i * inner;
            let greatest = (0..size).map(|i| inputs[0][at(i)]).max().unwrap_or_default();
            let power = |i: usize| powers[(greatest - inputs[0][at(i)]) as usize];
            let sum: u64 = (0..size).map(power).sum();
            for i in 0..size {
                let code = (u128::from(power(i)) * u128::from(steps) + u128::from(sum / 2)) / u128::from(sum);
                made[at(i)] = operands.output_dtype.saturate(code as i128 + i128::from(output.zero_point(0)));
            }
        }
        made
    }
}

/// The dtypes that the kernel works on, and those that codes of it can be narrowed to.
const CODES: &[DType] = &[DType::Int8, DType::UInt8, DType::Int4, DType::UInt4];
