//! Softmax.

use guardbit_num::fixed_point::{
    exp_on_negative_values, one_over_one_plus_x, rounding_divide_by_power_of_two,
    saturating_rounding_doubling_high_mul,
};
use guardbit_num::{Multiplier, Requantizer, Scheme};

use fixed::FixedI32;
use fixed::types::I1F31;

use super::{Operands, Operator};
use crate::{CodeRange, DType, GraphError};

/// `exp(beta * x) / sum of exp(beta * x)` along the last axis, in gemmlowp's fixed point.
///
/// TensorFlow Lite `reference_ops::Softmax` on 8-bit codes. The output has scale 1/256 and the least code as zero
/// point.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Softmax {
    /// Factor of the exponent.
    pub beta: f32,
}

impl Operator for Softmax {
    const NAME: &'static str = "softmax";

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_dtype(0, &[DType::Int8, DType::UInt8])?;
        operands.expect_output_dtype(&[operands.input(0).ty.dtype])?;
        let output = operands.output_activation()?;
        if output.scale(0) != 1.0 / 256.0 || output.zero_point(0) != operands.output_dtype.min() {
            let problem = format!("must have scale 1/256 and zero point {}", operands.output_dtype.min());
            return Err(operands.operand_error(operands.output_name, problem));
        }
        let shape = &operands.input(0).ty.shape;
        if shape.is_empty() {
            return Err(operands.shape_error(operands.input(0), "one axis at least".into()));
        }
        self.exponent(operands)?;
        Ok(shape.clone())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let (Ok(exponent), Some(&size)) = (self.exponent(operands), operands.input(0).ty.shape.last()) else {
            return Vec::new();
        };
        inputs[0].chunks(size).flat_map(|row| exponent.row(row, operands.output_dtype, operands.output_range())).collect()
    }
}

/// Integer bits of the argument of `exp`.
const ARGUMENT_BITS: u32 = 5;
/// Integer bits of the sum.
const SUM_BITS: u32 = 12;

impl Softmax {
    fn exponent(&self, operands: &Operands<'_>) -> Result<Exponent, GraphError> {
        let unit = f64::from(1 << (31 - ARGUMENT_BITS));
        let real = f64::from(self.beta) * f64::from(operands.activation(0)?.scale(0)) * unit;
        if real <= 1.0 || real.is_nan() {
            let problem = format!("{} times the input scale must be above 2^-26", self.beta);
            return Err(operands.attribute_error("beta", problem));
        }
        // Far above what any difference of codes can reach without exp being 0.
        let multiplier = Multiplier::new(real.min(f64::from((1 << 30) - 1)));
        let multiplier = multiplier.map_err(|e| operands.multiplier_error(e))?;
        let reach = ((1i64 << ARGUMENT_BITS) - 1) << (31 - ARGUMENT_BITS);
        Ok(Exponent {
            // Both TensorFlow Lite schemes are equal here: the exponent is not negative.
            to_argument: Requantizer::new(Scheme::Double, multiplier),
            least_difference: -((reach >> multiplier.exponent()) as i32),
        })
    }
}

/// From differences of codes to powers of e.
struct Exponent {
    to_argument: Requantizer,
    /// Below it the power counts as 0.
    least_difference: i32,
}

impl Exponent {
    fn row(&self, row: &[i32], dtype: DType, range: CodeRange) -> Vec<i32> {
        let greatest = row.iter().copied().max().unwrap_or_default();
        let powers: Vec<_> = row.iter().map(|code| self.power(code - greatest)).collect();
        // The sum is Q12.19. It cannot overflow below 4096 elements; the runtime's then does.
        let sum = powers.iter().flatten().fold(0i32, |sum, power| {
            sum.saturating_add(rounding_divide_by_power_of_two(power.to_bits(), SUM_BITS))
        });
        let headroom = sum.leading_zeros();
        let fraction = ((sum as u32) << headroom) ^ (1 << 31);
        let reciprocal = one_over_one_plus_x(I1F31::from_bits(fraction as i32)).to_bits();
        let shift = SUM_BITS - headroom + 31 - dtype.bits();
        let code = |power: Option<I1F31>| {
            let Some(power) = power else { return range.clamp(dtype.min().into()) };
            let product = saturating_rounding_doubling_high_mul(reciprocal, power.to_bits());
            let code = rounding_divide_by_power_of_two(product, shift);
            range.clamp(i128::from(code) + i128::from(dtype.min()))
        };
        powers.into_iter().map(code).collect()
    }

    fn power(&self, difference: i32) -> Option<I1F31> {
        (difference >= self.least_difference)
            .then(|| exp_on_negative_values(FixedI32::from_bits(self.to_argument.scale(difference.into()) as i32)))
    }
}
