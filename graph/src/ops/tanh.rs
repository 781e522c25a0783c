//! Hyperbolic tangent. The frame of checks is that of `logistic`, with other scales, tables and roundings: TFLite has
//! two kernels as well.

use fixed::types::extra::U7;
use guardbit_num::fixed_point::{rescale, tanh};

use super::lut::{Arithmetic, Sigmoid, Table, in_float64};
use super::quarter::Quarter;
use super::{Monotonicity, Operands, Operator};
use crate::effort::{CENTRE, CLAMP, Effort, FIXED_EXP, FIXED_RECIPROCAL, INTERPOLATE, LOOKUP};
use crate::{DType, GraphError};

/// `tanh(x)`, with the arithmetic of [`Logistic`](super::Logistic).
///
/// The output has scale 1/128 and the middle of the codes as zero point, or 1/32768 and 0.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Tanh {
    /// The arithmetic for codes of 8 bits.
    pub arithmetic: Arithmetic,
}

impl Operator for Tanh {
    const NAME: &'static str = "tanh";
    /// Counts, in fixed point, the comparison with the radius, the argument, the curve and its sign.
    const EFFORT: Effort = Effort::per_output(CENTRE + 3 + 2 + FIXED_EXP + FIXED_RECIPROCAL + 4 + CLAMP);
    const MONOTONICITY: Monotonicity = Monotonicity::Increasing;

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        let dtype = operands.input(0).ty.dtype;
        operands.expect_output_dtype(&[dtype])?;
        if dtype == DType::Int16 {
            Sigmoid::new(operands, true)?;
        } else {
            let output = operands.output_activation()?;
            let zero_point = if dtype.is_signed() { 0 } else { 128 };
            if output.scale(0) != 1.0 / 128.0 || output.zero_point(0) != zero_point {
                let problem = format!("must have scale 1/128 and zero point {zero_point}");
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
            let Ok(sigmoid) = Sigmoid::new(operands, true) else { return Vec::new() };
            return inputs[0].iter().map(|&code| sixteen_bits(&sigmoid, code)).collect();
        }
        self.table(operands).map_or_else(|_| Vec::new(), |table| table.evaluate(inputs[0]))
    }
}

impl Tanh {
    fn table(&self, operands: &Operands<'_>) -> Result<Table, GraphError> {
        if self.arithmetic == Arithmetic::Table {
            return Table::of(operands, in_float64(libm::tanh));
        }
        let (quarter, dtype) = (Quarter::new(operands)?, operands.output_dtype);
        let fraction = |x| rescale::<_, U7>(tanh(x)).to_bits();
        let zero_point = operands.output_activation()?.zero_point(0);
        Ok(Table::each(dtype, |code| match quarter.argument(code) {
            Ok(x) => dtype.saturate(i128::from(fraction(x)) + i128::from(zero_point)),
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
    let value = sigmoid.at(argument, 8, 0xFFFF << 8);
    // 2 * sigmoid(2x) - 1. Its argument has one bit less between entries.
    let rounded = if argument >= 0 { value - (1 << 23) + (1 << 7) } else { (1 << 23) - value + (1 << 7) - 1 };
    i32::from((rounded >> 8) as i16)
}
