//! Division by the Euclidean norm.

use guardbit_num::Scheme;
use guardbit_num::fixed_point::inverse_square_root;

use super::scaled::scale;
use super::{Operands, Operator};
use crate::effort::{CENTRE, CLAMP, Effort, REQUANTIZE};
use crate::{DType, GraphError};

/// `x / sqrt(sum of x^2)` along the last axis, on codes of 8 bits.
///
/// The result is the reciprocal of the root of the sum in fixed point, times `128 * (x - zx)`. The output has scale
/// 1/128 and the middle of the codes as zero point. Source: TensorFlow Lite `L2_NORMALIZATION`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct L2Normalization;

impl Operator for L2Normalization {
    const NAME: &'static str = "l2_normalization";
    const EFFORT: Effort = Effort::per_input(CENTRE + 1).and_output(CENTRE + REQUANTIZE + CLAMP);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_dtype(0, &[DType::Int8, DType::UInt8])?;
        let dtype = operands.input(0).ty.dtype;
        operands.expect_output_dtype(&[dtype])?;
        operands.activation(0)?;
        let (output, zero_point) = (operands.output_activation()?, middle(dtype));
        if output.scale(0) != 1.0 / 128.0 || output.zero_point(0) != zero_point {
            let problem = format!("must have scale 1/128 and zero point {zero_point}");
            return Err(operands.operand_error(operands.output_name, problem));
        }
        let shape = &operands.input(0).ty.shape;
        // Beyond this size the runtime's sum of squares would overflow.
        if shape.last().is_none_or(|&size| size > 32768) {
            return Err(operands.shape_error(operands.input(0), "a last axis of 1..=32768".into()));
        }
        Ok(shape.clone())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let (Some(&size), Ok(x)) = (operands.input(0).ty.shape.last(), operands.activation(0)) else {
            return Vec::new();
        };
        let dtype = operands.output_dtype;
        let row = |row: &[i32]| {
            let centred: Vec<_> = row.iter().map(|code| code - x.zero_point(0)).collect();
            let squares = centred.iter().fold(0i32, |sum, x| sum.saturating_add(x * x));
            let (root, shift) = inverse_square_root(squares);
            let code = move |x: i32| {
                let scaled = match dtype {
                    DType::UInt8 => scale(Scheme::Double, 128 * x, root, shift),
                    _ => scale(Scheme::Double, x, root, shift + 7),
                };
                dtype.saturate(scaled + i128::from(middle(dtype)))
            };
            centred.into_iter().map(code).collect::<Vec<_>>()
        };
        inputs[0].chunks(size).flat_map(row).collect()
    }
}

fn middle(dtype: DType) -> i32 {
    if dtype.is_signed() { 0 } else { 128 }
}
