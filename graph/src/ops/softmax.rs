//! Softmax.

use guardbit_num::fixed_point::{
    exp_on_negative_values, one_over_one_plus_x, rescale, rounding_divide_by_power_of_two,
    saturating_rounding_doubling_high_mul,
};
use guardbit_num::{Multiplier, Requantizer, Scheme};

use fixed::FixedI32;
use fixed::types::{I1F31, I13F19};

use super::lut::Table;
use super::{Operands, Operator};
use crate::effort::{CLAMP, Effort, FIXED_EXP, INTERPOLATE};
use crate::{DType, GraphError};

/// `exp(beta * x) / sum of exp(beta * x)` along the last axis.
///
/// On codes of 8 bits it is computed in gemmlowp's fixed point. On codes of 16 bits it interpolates in tables of
/// `exp` and `1/(1 + x)`. The output has scale 1/256 and the least code as zero point, 1/65536 and the least code
/// from int8 to int16, or 1/32768 and 0 from int16 to int16. Source: TensorFlow Lite `reference_ops::Softmax`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Softmax {
    /// Factor of the exponent.
    pub beta: f32,
}

impl Operator for Softmax {
    const NAME: &'static str = "softmax";
    /// Counts the maximum, the exponent twice (difference, clip, product and shift), the sum and the quotient.
    const EFFORT: Effort = Effort::per_output(1 + 2 * (4 + FIXED_EXP) + 2 + 3 + CLAMP);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_dtype(0, &[DType::Int8, DType::UInt8, DType::Int16])?;
        let (input, dtype) = (operands.input(0).ty.dtype, operands.output_dtype);
        if (input, dtype) != (DType::Int8, DType::Int16) {
            operands.expect_output_dtype(&[input])?;
        }
        let output = operands.output_activation()?;
        let (steps, zero_point) = match (input, dtype) {
            (DType::Int16, _) => (32768, 0),
            _ => (1 << dtype.bits(), dtype.min()),
        };
        if output.scale(0) != 1.0 / steps as f32 || output.zero_point(0) != zero_point {
            let problem = format!("must have scale 1/{steps} and zero point {zero_point}");
            return Err(operands.operand_error(operands.output_name, problem));
        }
        let shape = &operands.input(0).ty.shape;
        if shape.is_empty() {
            return Err(operands.shape_error(operands.input(0), "at least one axis".into()));
        }
        if input == DType::Int16 {
            self.sixteen_bits(operands)?;
        } else {
            self.exponent(operands)?;
        }
        Ok(shape.clone())
    }

    fn effort(&self, operands: &Operands<'_>) -> Effort {
        if operands.input(0).ty.dtype == DType::Int16 {
            // Counts the maximum, the argument, the exponent once, the sum and the quotient.
            return Effort::per_output(1 + 3 + INTERPOLATE + 1 + 2 + CLAMP);
        }
        Self::EFFORT
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let Some(&size) = operands.input(0).ty.shape.last() else { return Vec::new() };
        let rows = inputs[0].chunks(size);
        if operands.input(0).ty.dtype == DType::Int16 {
            let Ok(softmax) = self.sixteen_bits(operands) else { return Vec::new() };
            return rows.flat_map(|row| softmax.row(row)).collect();
        }
        let Ok(exponent) = self.exponent(operands) else { return Vec::new() };
        rows.flat_map(|row| exponent.row(row, operands.output_dtype)).collect()
    }
}

/// Integer bits of the argument of `exp`.
const ARGUMENT_BITS: u32 = 5;
/// Integer bits of the sum.
const SUM_BITS: u32 = 12;

impl Softmax {
    fn sixteen_bits(&self, operands: &Operands<'_>) -> Result<SixteenBits, GraphError> {
        let input = operands.activation(0)?;
        if input.zero_point(0) != 0 {
            return Err(operands.operand_error(&operands.input(0).name, "must have zero point 0".into()));
        }
        // 65535 steps extend from -10 to 0. Below -10 the power counts as 0.
        let real = f64::from(input.scale(0) * self.beta) / (10.0 / 65535.0);
        let multiplier = Multiplier::new(real).map_err(|e| operands.multiplier_error(e))?;
        Ok(SixteenBits {
            to_argument: Requantizer::new(Scheme::Double, multiplier),
            exp: Table::interpolated(10.0 / 65535.0 * -65535.0, 0.0, 2.0 / 65535.0, libm::exp),
            reciprocal: Table::interpolated(0.0, 1.0 / 65535.0 * 65535.0, 2.0 / 65535.0, |x: f64| {
                1.0 / (1.0 + x)
            }),
        })
    }

    fn exponent(&self, operands: &Operands<'_>) -> Result<Exponent, GraphError> {
        let unit = f64::from(1 << (31 - ARGUMENT_BITS));
        let real = f64::from(self.beta) * f64::from(operands.activation(0)?.scale(0)) * unit;
        if real <= 1.0 || real.is_nan() {
            let problem = format!("{} times the input scale must be above 2^-26", self.beta);
            return Err(operands.attribute_error("beta", problem));
        }
        // This limit is far above any difference of codes for which exp is not 0.
        let multiplier = Multiplier::new(real.min(f64::from((1 << 30) - 1)));
        let multiplier = multiplier.map_err(|e| operands.multiplier_error(e))?;
        let reach = ((1i64 << ARGUMENT_BITS) - 1) << (31 - ARGUMENT_BITS);
        Ok(Exponent {
            // Both TensorFlow Lite schemes are equal here, because the exponent is not negative.
            to_argument: Requantizer::new(Scheme::Double, multiplier),
            least_difference: -((reach >> multiplier.exponent()) as i32),
        })
    }
}

/// The conversion from differences of codes to powers of e.
struct Exponent {
    to_argument: Requantizer,
    /// For smaller differences the power counts as 0.
    least_difference: i32,
}

impl Exponent {
    fn row(&self, row: &[i32], dtype: DType) -> Vec<i32> {
        let greatest = row.iter().copied().max().unwrap_or_default();
        let powers: Vec<_> = row.iter().map(|code| self.power(code - greatest)).collect();
        // The sum is Q12.19. It cannot overflow below 4096 elements; with more, the runtime's sum overflows.
        let sum =
            powers.iter().flatten().fold(I13F19::ZERO, |sum, &power| sum.saturating_add(rescale(power)));
        let headroom = sum.leading_zeros();
        let fraction = ((sum.to_bits() as u32) << headroom) ^ (1 << 31);
        let reciprocal = one_over_one_plus_x(I1F31::from_bits(fraction as i32));
        let shift = SUM_BITS - headroom + 31 - dtype.bits();
        let code = |power: Option<I1F31>| {
            let Some(power) = power else { return dtype.min() };
            let product = saturating_rounding_doubling_high_mul(reciprocal, power);
            let code = rounding_divide_by_power_of_two(product, shift).to_bits();
            dtype.saturate(i128::from(code) + i128::from(dtype.min()))
        };
        powers.into_iter().map(code).collect()
    }

    fn power(&self, difference: i32) -> Option<I1F31> {
        (difference >= self.least_difference).then(|| {
            exp_on_negative_values(FixedI32::from_bits(self.to_argument.scale(difference.into()) as i32))
        })
    }
}

/// Softmax of codes of 16 bits.
struct SixteenBits {
    to_argument: Requantizer,
    /// `exp` from -10 to 0.
    exp: Table,
    /// `1/(1 + x)` from 0 to 1.
    reciprocal: Table,
}

impl SixteenBits {
    fn row(&self, row: &[i32]) -> Vec<i32> {
        let sixteen = |x: i128| x.clamp(-32768, 32767) as i32;
        let greatest = row.iter().copied().max().unwrap_or_default();
        let power = |&code: &i32| {
            self.exp.code(sixteen(self.to_argument.scale((i128::from(code)) - i128::from(greatest)) + 32767))
        };
        let powers: Vec<_> = row.iter().map(power).collect();
        // The sum is Q16.15. It cannot overflow below 65536 elements; with more, the runtime's sum overflows.
        let sum = powers.iter().fold(0i32, |sum, &power| sum.saturating_add(power));
        let headroom = sum.leading_zeros();
        let shifted = ((i64::from(sum) << (headroom - 1)) + (1 << 13)) >> 14;
        let reciprocal =
            i64::from(self.reciprocal.code(sixteen(i128::from(shifted) - (1 << 15) - (1 << 16))));
        let shift = 31 - headroom;
        let code = |power: i32| {
            (((i64::from(power) * reciprocal + (1 << (shift - 1))) >> shift) as i32).clamp(0, 32767)
        };
        powers.into_iter().map(code).collect()
    }
}
