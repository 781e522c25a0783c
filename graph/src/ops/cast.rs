//! Conversion to another dtype.

use super::{Operands, Operator};
use crate::effort::Effort;
use crate::{DType, GraphError, word_of};

/// The codes as codes of another dtype. A code that does not fit loses its high bits. Float32 values are the nearest
/// ones, ties to even.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Cast;

impl Operator for Cast {
    const NAME: &'static str = "cast";
    const EFFORT: Effort = Effort::per_output(1);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_dtype(0, INTEGERS)?;
        operands.expect_output_dtype(&[INTEGERS, &[DType::Float32]].concat())?;
        Ok(operands.input(0).ty.shape.clone())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let dtype = operands.output_dtype;
        if dtype == DType::Float32 {
            return inputs[0].iter().map(|&code| word_of(code as f32)).collect();
        }
        let shift = 32 - dtype.bits().min(32);
        let low = |code: i32| match dtype.is_signed() {
            true => code << shift >> shift,
            false => ((code as u32) << shift >> shift) as i32,
        };
        inputs[0].iter().map(|&code| low(code)).collect()
    }
}

/// The dtypes that have integer codes.
const INTEGERS: &[DType] =
    &[DType::Int4, DType::UInt4, DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int32];
