//! Logistic function.

use fixed::types::extra::U8;
use guardbit_num::fixed_point::{logistic, rescale};

use super::lut::{Arithmetic, Sigmoid, Table, in_float64};
use super::quarter::Quarter;
use super::{Monotonicity, Operands, Operator};
use crate::effort::{CENTRE, CLAMP, Effort, FIXED_EXP, FIXED_RECIPROCAL, INTERPOLATE, LOOKUP};
use crate::{DType, GraphError};

/// `1 / (1 + exp(-x))`.
///
/// For codes of 8 bits, LiteRT uses a float32 table, and TensorFlow Lite Micro computes in gemmlowp's fixed point.
/// For codes of 16 bits, both interpolate in a table of 256 entries. The output has scale 1/256 and the least code as
/// zero point, or 1/32768 and 0.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Logistic {
    /// The arithmetic for codes of 8 bits.
    pub arithmetic: Arithmetic,
}

impl Operator for Logistic {
    const NAME: &'static str = "logistic";
    /// Counts, in fixed point, the comparison with the radius, the argument, the curve and its sign.
    const EFFORT: Effort = Effort::per_output(CENTRE + 3 + 2 + FIXED_EXP + FIXED_RECIPROCAL + 4 + CLAMP);
    const MONOTONICITY: Monotonicity = Monotonicity::Increasing;

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        let dtype = operands.input(0).ty.dtype;
        operands.expect_output_dtype(&[dtype])?;
        if dtype == DType::Int16 {
            Sigmoid::new(operands, false)?;
        } else {
            let output = operands.output_activation()?;
            if output.scale(0) != 1.0 / 256.0 || output.zero_point(0) != dtype.min() {
                let problem = format!("must have scale 1/256 and zero point {}", dtype.min());
                return Err(operands.operand_error(operands.output_name, problem));
            }
            self.table(operands)?;
        }
        Ok(operands.input(0).ty.shape.clone())
    }

    fn effort(&self, operands: &Operands<'_>) -> Effort {
        match (operands.output_dtype, self.arithmetic) {
            // Counts the argument, the curve and its sign.
            (DType::Int16, _) => Effort::per_output(3 + INTERPOLATE + 2),
            (_, Arithmetic::Table) => Effort::per_output(LOOKUP),
            (_, Arithmetic::FixedPoint) => Self::EFFORT,
        }
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        if operands.output_dtype == DType::Int16 {
            let Ok(sigmoid) = Sigmoid::new(operands, false) else { return Vec::new() };
            return inputs[0].iter().map(|&code| sixteen_bits(&sigmoid, code)).collect();
        }
        self.table(operands).map_or_else(|_| Vec::new(), |table| table.evaluate(inputs[0]))
    }
}

impl Logistic {
    fn table(&self, operands: &Operands<'_>) -> Result<Table, GraphError> {
        if self.arithmetic == Arithmetic::Table {
            let exp = in_float64(libm::exp);
            return Table::of(operands, |x| 1.0 / (1.0 + exp(-x)));
        }
        let (quarter, dtype) = (Quarter::new(operands)?, operands.output_dtype);
        let fraction = |x| rescale::<_, U8>(logistic(x)).to_bits();
        Ok(Table::each(dtype, |code| match quarter.argument(code) {
            Ok(x) => dtype.saturate(i128::from(fraction(x)) + i128::from(dtype.min())),
            Err(positive) => {
                if positive {
                    dtype.max()
                } else {
                    dtype.min()
                }
            }
        }))
    }
}

fn sixteen_bits(sigmoid: &Sigmoid, code: i32) -> i32 {
    let argument = sigmoid.argument(code);
    let value = sigmoid.at(argument, 9, 0x7FFF << 10);
    let rounded = if argument >= 0 { value + (1 << 9) } else { (1 << 25) - value + (1 << 9) - 1 };
    i32::from((rounded >> 10) as i16)
}
