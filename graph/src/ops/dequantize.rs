//! From codes to real values.

use super::{Operands, Operator};
use crate::effort::{CENTRE, Effort};
use crate::{DType, GraphError, word_of};

/// `y = scale * (x - zero point)` in float32, with the scales and zero points of the input, one or along an axis.
///
/// ONNX Runtime runs `DequantizeLinear` in this way: the difference is exact, then rounded to float32 if it has more
/// than 24 bits, then multiplied. TensorFlow Lite `DEQUANTIZE` gives equal results for codes of at most 16 bits.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Dequantize {}

impl Operator for Dequantize {
    const NAME: &'static str = "dequantize";
    /// Counts a subtraction, a conversion and a product.
    const EFFORT: Effort = Effort::per_output(CENTRE + 2);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_output_dtype(&[DType::Float32])?;
        let input = operands.input(0);
        if input.ty.dtype == DType::Int64 || input.ty.quantization.is_none() {
            return Err(operands.operand_error(&input.name, "must be codes with a scale".into()));
        }
        Ok(input.ty.shape.clone())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let ty = &operands.input(0).ty;
        let Some(quantization) = &ty.quantization else { return Vec::new() };
        let (inner, size) = match quantization.axis() {
            Some(axis) => (ty.shape[axis + 1..].iter().product(), ty.shape[axis]),
            None => (usize::MAX, 1),
        };
        let real = |(index, &code): (usize, &i32)| {
            let channel = index / inner % size;
            let steps = i64::from(code) - i64::from(quantization.zero_point(channel));
            word_of(steps as f32 * quantization.scale(channel))
        };
        inputs[0].iter().enumerate().map(real).collect()
    }
}
