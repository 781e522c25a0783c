//! Hard swish.

use guardbit_num::{Multiplier, Rounding};

use super::lut::Table;
use super::{Operands, Operator};
use crate::effort::{CENTRE, CLAMP, Effort, REQUANTIZE};
use crate::{DType, GraphError};

/// `x * min(max(x + 3, 0), 6) / 6` in 16-bit fixed point, on codes of 8 bits.
///
/// Source: TensorFlow Lite `reference_ops::HardSwish`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct HardSwish;

impl Operator for HardSwish {
    const NAME: &'static str = "hard_swish";
    /// Counts, between centring and requantization, two shifts, two products, a saturating shift, a sum, a halving
    /// and a product.
    const EFFORT: Effort = Effort::per_output(CENTRE + 8 + REQUANTIZE + CLAMP);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_dtype(0, &[DType::Int8, DType::UInt8])?;
        operands.expect_output_dtype(&[operands.input(0).ty.dtype])?;
        Parts::new(operands)?;
        Ok(operands.input(0).ty.shape.clone())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let Ok(parts) = Parts::new(operands) else { return Vec::new() };
        Table::each(operands.output_dtype, |code| operands.output_dtype.saturate(parts.code(code).into()))
            .evaluate(inputs[0])
    }
}

struct Parts {
    input_zero_point: i32,
    output_zero_point: i32,
    /// 15-bit significands with exponents: to the scale of the output, and to the scale at which 16 bits saturate at
    /// 3.
    output: (i32, i32),
    reluish: (i32, i32),
}

impl Parts {
    fn new(operands: &Operands<'_>) -> Result<Self, GraphError> {
        let (x, y) = (operands.activation(0)?, operands.output_activation()?);
        // Both quotients are computed in float32.
        let fine = 1.0 / 128.0 * x.scale(0);
        let multiplier = |real: f32| Multiplier::new(real.into()).map_err(|e| operands.multiplier_error(e));
        let sixteen = |m: Multiplier| {
            let significand = m.significand();
            let rounded =
                if significand >= i32::MAX - (1 << 15) { 0x7FFF } else { (significand + (1 << 15)) >> 16 };
            (rounded, m.exponent())
        };
        let parts = Self {
            input_zero_point: x.zero_point(0),
            output_zero_point: y.zero_point(0),
            output: sixteen(multiplier(fine / y.scale(0))?),
            reluish: sixteen(multiplier(fine / (3.0 / 32768.0))?),
        };
        // The runtime does not shift outputs left, and shifts beyond the width of 16 bits have no meaning.
        if (-15..=0).contains(&parts.output.1) && (-15..=15).contains(&parts.reluish.1) {
            return Ok(parts);
        }
        let problem = format!(
            "the scales {:e} of the input and {:e} of the output are too far apart",
            x.scale(0),
            y.scale(0)
        );
        Err(operands.operand_error(operands.output_name, problem))
    }

    fn code(&self, code: i32) -> i32 {
        let fine = (code - self.input_zero_point) * 128;
        let in_output_steps = rounding_high_mul(fine, self.output.0);
        let (multiplier, exponent) = self.reluish;
        let mut reluish = if exponent > 0 { saturating_shift(fine, exponent as u32 - 1) } else { fine };
        reluish = rounding_high_mul(reluish, multiplier);
        if exponent > 0 {
            reluish = saturating_shift(reluish, 1);
        }
        if exponent < 0 {
            reluish = rounding_divide(reluish, exponent.unsigned_abs());
        }
        // Maps -1..1 to 0..1.
        reluish = (reluish + (1 << 15)) >> 1;
        let product = if (reluish, in_output_steps) == (-32768, -32768) {
            32767
        } else {
            reluish * in_output_steps / (1 << 15)
        };
        rounding_divide(product, self.output.1.unsigned_abs()) + self.output_zero_point
    }
}

/// Returns the high half of `2ab` in 16 bits, rounded to nearest with ties toward plus infinity.
///
/// The product of -32768 and -32768 saturates (gemmlowp's `SaturatingRoundingDoublingHighMul` of int16).
fn rounding_high_mul(a: i32, b: i32) -> i32 {
    if (a, b) == (-32768, -32768) {
        return 32767;
    }
    let product = a * b;
    let nudge = if product >= 0 { 1 << 14 } else { 1 - (1 << 14) };
    (product + nudge) / (1 << 15)
}

fn saturating_shift(value: i32, left: u32) -> i32 {
    (i64::from(value) << left).clamp(-32768, 32767) as i32
}

/// Returns `value / 2^exponent`, rounded half away from zero.
fn rounding_divide(value: i32, exponent: u32) -> i32 {
    Rounding::HalfAway.shift_right(value.into(), exponent) as i32
}
