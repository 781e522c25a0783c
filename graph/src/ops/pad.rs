//! Padding.

use super::strides::{offsets, row_major};
use super::{Monotonicity, Operands, Operator};
use crate::GraphError;
use crate::effort::Effort;

/// The input, surrounded by cells of one value.
///
/// The output has the dtype, scale and zero point of the input.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Pad {
    /// Cells before and after, per axis.
    pub paddings: Vec<[usize; 2]>,
    /// The code of the cells. If absent, it is the zero point (real 0). For real values, it is their word.
    pub value: Option<i32>,
}

impl Operator for Pad {
    const NAME: &'static str = "pad";
    const EFFORT: Effort = Effort::COPY;
    const MONOTONICITY: Monotonicity = Monotonicity::Increasing;

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_output_like(0)?;
        let ty = operands.input(0).ty.code_type();
        let value = self.value(operands)?;
        if !ty.range.contains(value) {
            return Err(operands.attribute_error("value", format!("{value} is outside {ty}")));
        }
        let shape = &operands.input(0).ty.shape;
        if self.paddings.len() != shape.len() {
            let problem =
                format!("has entries for {} axes; the input has {} axes", self.paddings.len(), shape.len());
            return Err(operands.attribute_error("paddings", problem));
        }
        let padded = |(&size, [before, after]): (&usize, &[usize; 2])| {
            size.saturating_add(*before).saturating_add(*after)
        };
        Ok(shape.iter().zip(&self.paddings).map(padded).collect())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let (Ok(shape), Ok(value)) = (self.output_shape(operands), self.value(operands)) else {
            return Vec::new();
        };
        let strides = row_major(&shape);
        let start: usize =
            strides.iter().zip(&self.paddings).map(|(stride, [before, _])| stride * before).sum();
        let mut output = vec![value; shape.iter().product()];
        for (&code, at) in inputs[0].iter().zip(offsets(&operands.input(0).ty.shape, &strides)) {
            output[start + at] = code;
        }
        output
    }
}

impl Pad {
    fn value(&self, operands: &Operands<'_>) -> Result<i32, GraphError> {
        if operands.output_dtype.is_float() {
            // The word of 0.
            return Ok(self.value.unwrap_or(0));
        }
        self.value.map_or_else(|| operands.per_tensor(0).map(|q| q.zero_point(0)), Ok)
    }
}
