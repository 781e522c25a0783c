//! Conversion between floating-point formats.

use crate::effort::Effort;
use crate::ops::{Operands, Operator};
use crate::{DType, GraphError, RealCodes};

/// The real values in another floating-point format, rounded to the nearest code, ties to even.
///
/// A value beyond the largest finite one, infinity included, becomes the largest one if `saturate` is true. Otherwise
/// it becomes infinity, or NaN in a format without infinity. float4_e2m1 has neither: it always saturates, and NaN
/// becomes -0. Otherwise NaN keeps its sign, if the format has one for NaN.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FloatCast {
    /// Whether values beyond the largest one become the largest one.
    pub saturate: bool,
}

impl Operator for FloatCast {
    const NAME: &'static str = "float_cast";
    const EFFORT: Effort = Effort::per_output(1);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        let floats: Vec<DType> = DType::ALL.into_iter().filter(|dtype| dtype.is_float()).collect();
        operands.expect_inputs(1, 1)?;
        operands.expect_dtype(0, &floats)?;
        operands.expect_output_dtype(&floats)?;
        Ok(operands.input(0).ty.shape.clone())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let codes = RealCodes::of(operands.input(0).ty.dtype).zip(RealCodes::of(operands.output_dtype));
        let Some((from, to)) = codes else { return Vec::new() };
        inputs[0].iter().map(|&code| to.code(from.real(code), self.saturate)).collect()
    }
}
