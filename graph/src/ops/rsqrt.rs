//! Reciprocal of the square root.

use guardbit_num::fixed_point::inverse_square_root;
use guardbit_num::{Multiplier, Scheme};

use super::lut::Table;
use super::scaled::scale;
use super::{Operands, Operator};
use crate::effort::{Effort, LOOKUP};
use crate::{DType, GraphError};

/// `1 / sqrt(x)` on int8 codes whose zero point is the least code, because only positive numbers have a root.
///
/// The root of the code is computed in fixed point with 20 more bits, then multiplied by `1/(sqrt(sx)*sy)`. The zero
/// point itself becomes the greatest code. Source: TensorFlow Lite `RSQRT`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Rsqrt;

impl Operator for Rsqrt {
    const NAME: &'static str = "rsqrt";
    const EFFORT: Effort = Effort::per_output(LOOKUP);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_dtype(0, &[DType::Int8])?;
        operands.expect_output_dtype(&[DType::Int8])?;
        if operands.activation(0)?.zero_point(0) != DType::Int8.min() {
            let problem = "must have zero point -128: negative numbers have no root".into();
            return Err(operands.operand_error(&operands.input(0).name, problem));
        }
        self.table(operands)?;
        Ok(operands.input(0).ty.shape.clone())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        self.table(operands).map_or_else(|_| Vec::new(), |table| table.evaluate(inputs[0]))
    }
}

const MORE_BITS: i32 = 20;

impl Rsqrt {
    fn table(&self, operands: &Operands<'_>) -> Result<Table, GraphError> {
        let (x, y) = (operands.activation(0)?, operands.output_activation()?);
        // The root of the scale is computed in float32.
        let real = 1.0 / f64::from(x.scale(0).sqrt() * y.scale(0));
        let multiplier = Multiplier::new(real).map_err(|e| operands.multiplier_error(e))?;
        Ok(Table::each(operands.output_dtype, |code| {
            let centred = code - x.zero_point(0);
            if centred == 0 {
                return operands.output_dtype.max();
            }
            let (root, shift) = inverse_square_root(centred);
            let root = scale(Scheme::Double, 1, root, shift + MORE_BITS) as i32;
            let scaled =
                scale(Scheme::Double, root, multiplier.fraction(), multiplier.exponent() - MORE_BITS);
            operands.output_dtype.saturate(scaled + i128::from(y.zero_point(0)))
        }))
    }
}
