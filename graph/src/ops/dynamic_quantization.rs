//! Scales and zero points computed from activations.

use super::{Operands, Operator};
use crate::effort::Effort;
use crate::{DType, GraphError, real_of, word_of};

/// The quantity that a node computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub enum DynamicPart {
    /// The scale, float32.
    Scale,
    /// The zero point, uint8.
    ZeroPoint,
}

impl DynamicPart {
    /// Both quantities.
    pub const ALL: &[Self] = &[Self::Scale, Self::ZeroPoint];

    /// Returns the name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scale => "scale",
            Self::ZeroPoint => "zero_point",
        }
    }
}

/// The scale or the zero point of uint8 codes that cover all values of a tensor, and 0. The output has one element.
///
/// It equals ONNX `DynamicQuantizeLinear` in ONNX Runtime, in float32. With `low = min(0, least value)` and `high =
/// max(0, greatest value)`, the scale is `(high - low) / 255`, or 1 if all values are 0. The zero point is
/// `round(clamp(-low / scale, 0, 255))`, ties to even.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct DynamicQuantization {
    /// The quantity to compute.
    pub part: DynamicPart,
}

/// Number of steps between the least and the greatest code.
const STEPS: f32 = 255.0;

impl Operator for DynamicQuantization {
    const NAME: &'static str = "dynamic_quantization";
    /// Counts the comparisons for the least and the greatest value.
    const EFFORT: Effort = Effort::per_input(2);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_dtype(0, &[DType::Float32])?;
        operands.expect_output_dtype(&[match self.part {
            DynamicPart::Scale => DType::Float32,
            DynamicPart::ZeroPoint => DType::UInt8,
        }])?;
        Ok(vec![1])
    }

    fn evaluate(&self, _operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let (scale, zero_point) = parameters(inputs[0].iter().map(|&word| real_of(word)));
        vec![match self.part {
            DynamicPart::Scale => word_of(scale),
            DynamicPart::ZeroPoint => zero_point,
        }]
    }
}

/// Returns scale and zero point of codes that cover all these values, and 0.
fn parameters(values: impl Iterator<Item = f32>) -> (f32, i32) {
    let (low, high) = values.fold((0f32, 0f32), |(low, high), value| (low.min(value), high.max(value)));
    let scale = if low == high { 1.0 } else { (high - low) / STEPS };
    let zero_point = (0.0 - low / scale).clamp(0.0, STEPS).round_ties_even();
    (scale, zero_point as i32)
}

#[cfg(test)]
mod tests {
    use super::parameters;

    #[test]
    fn codes_hold_every_value_and_zero() {
        // The first three cases are the examples of the standard (test_dynamicquantizelinear and its two variants).
        for (values, scale, zero_point) in [
            (&[0.0, 2.0, -3.0, -2.5, 1.34, 0.5][..], 0.019_607_844, 153),
            (&[-1.0, -2.1, -1.3, -2.5, -3.34, -4.0], 0.015_686_275, 255),
            (&[1.0, 2.1, 1.3, 2.5, 3.34, 4.0], 0.015_686_275, 0),
            (&[0.0, 0.0], 1.0, 0),
            (&[], 1.0, 0),
            (&[f32::MIN_POSITIVE * -1e-6, 0.0], 0.0, 255),
        ] {
            assert_eq!(parameters(values.iter().copied()), (scale, zero_point), "{values:?}");
        }
    }
}
