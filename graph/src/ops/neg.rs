//! Negation.

use super::{Operands, Operator};
use crate::GraphError;
use crate::effort::{CLAMP, Effort};

/// `-x`: the codes negated in two's complement of their own width, so the least code does not change.
///
/// TensorFlow Lite `NEG` ignores scales and zero points. Scales must be equal, and zero points opposite.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Neg;

impl Operator for Neg {
    const NAME: &'static str = "neg";
    const EFFORT: Effort = Effort::per_output(1 + CLAMP);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        let dtype = operands.input(0).ty.dtype;
        operands.expect_output_dtype(&[dtype])?;
        if !dtype.is_signed() {
            return Err(operands.operand_error(&operands.input(0).name, "must have signed codes".into()));
        }
        let opposite = match (&operands.input(0).ty.quantization, operands.output_quantization) {
            (None, None) => true,
            (Some(x), Some(y)) => {
                x.scales() == y.scales()
                    && x.zero_points().iter().eq(y
                        .zero_points()
                        .iter()
                        .map(|z| -z)
                        .collect::<Vec<_>>()
                        .iter())
            }
            _ => false,
        };
        if !opposite {
            let problem = "must have the scale of the input and the opposite zero point".into();
            return Err(operands.operand_error(operands.output_name, problem));
        }
        Ok(operands.input(0).ty.shape.clone())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let least = operands.output_dtype.min();
        inputs[0].iter().map(|&code| if code == least { least } else { -code }).collect()
    }
}
