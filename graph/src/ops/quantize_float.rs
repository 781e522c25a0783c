//! From real values to codes.

use super::{Operands, Operator};
use crate::effort::{CLAMP, Effort, real};
use crate::float32::half_even;
use crate::{GraphError, real_of};
use guardbit_num::Rounding;

/// `y = round(x / scale) + zero point`, clamped to the codes of the output.
///
/// The quotient is a float32. NaN becomes the zero point. ONNX `QuantizeLinear` rounds half to even, TensorFlow Lite
/// `QUANTIZE` half away from zero; QONNX names its rounding. The scales and zero points are those of the output, one
/// or along an axis.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct QuantizeFloat {
    /// The rounding of quotients.
    #[serde(serialize_with = "crate::canonical::rounding")]
    pub rounding: Rounding,
    /// Whether the zero point is added to the quotient in float32 before rounding, as in ONNX Runtime's pools.
    pub zero_point_first: bool,
}

impl Operator for QuantizeFloat {
    const NAME: &'static str = "quantize_float";
    const EFFORT: Effort = Effort::per_output(real::DIVIDE + 2 + CLAMP);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_dtype(0, &[crate::DType::Float32])?;
        let dtype = operands.output_dtype;
        if dtype.is_float() || operands.output_quantization.is_none() {
            let name = operands.output_name;
            return Err(operands.operand_error(name, "must be codes with a scale".into()));
        }
        let shape = operands.input(0).ty.shape.clone();
        let axis = operands.output_quantization.and_then(|q| Some((q.axis()?, q.scales().len())));
        if axis.is_some_and(|(axis, scales)| shape.get(axis) != Some(&scales)) {
            return Err(operands.shape_error(operands.input(0), "the shape of the scales".into()));
        }
        Ok(shape)
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let shape = &operands.input(0).ty.shape;
        let Some(quantization) = operands.output_quantization else { return Vec::new() };
        let (inner, size) = match quantization.axis() {
            Some(axis) => (shape[axis + 1..].iter().product(), shape[axis]),
            None => (inputs[0].len(), 1),
        };
        let dtype = operands.output_dtype;
        let mut codes = Vec::with_capacity(inputs[0].len());
        for (index, words) in inputs[0].chunks(inner.max(1)).enumerate() {
            let (scale, zero_point) =
                (quantization.scale(index % size), quantization.zero_point(index % size));
            let (first, after) = if self.zero_point_first { (zero_point, 0) } else { (0, zero_point) };
            codes.extend(words.iter().map(|&word| {
                let quotient = real_of(word) / scale;
                if quotient.is_nan() {
                    return zero_point;
                }
                let steps = round(self.rounding, quotient + first as f32);
                // A quotient beyond 64 bits, including infinity, saturates. The limit is far outside any dtype.
                let code = (steps as i64).saturating_add(after.into());
                code.clamp(dtype.min().into(), dtype.max().into()) as i32
            }));
        }
        codes
    }
}

/// Returns a real number rounded to an integer.
pub(super) fn round(rounding: Rounding, value: f32) -> f32 {
    let is_tie = || {
        let (floor, ceil) = (value.floor(), value.ceil());
        value - floor == ceil - value && floor != ceil
    };
    match rounding {
        Rounding::Floor => value.floor(),
        Rounding::TowardZero => value.trunc(),
        Rounding::HalfEven => half_even(value),
        Rounding::HalfAway => value.round(),
        _ if !is_tie() => value.round_ties_even(),
        Rounding::HalfUp => value.ceil(),
        Rounding::HalfDown => value.floor(),
        Rounding::HalfToZero => value.trunc(),
        Rounding::HalfOdd => value.floor() + value.ceil() - value.round_ties_even(),
    }
}
