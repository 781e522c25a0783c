//! Concatenation of tensors.

use super::rescale::Rescale;
use super::strides::{offsets, row_major};
use super::{Monotonicity, Operands, Operator};
use crate::effort::Effort;
use crate::{Activation, GraphError, Requantize};

/// One or more tensors, concatenated along `axis`.
///
/// An input whose scale and zero point equal those of the output is copied. Other inputs are requantized.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Concat {
    /// The axis.
    pub axis: usize,
    /// Requantization from input to output codes, if they differ.
    pub requantize: Requantize,
}

impl Operator for Concat {
    const NAME: &'static str = "concat";
    const EFFORT: Effort = Effort::COPY;
    const MONOTONICITY: Monotonicity = Monotonicity::Increasing;

    super::requantized!();

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_some_inputs()?;
        let mut shape = operands.input(0).ty.shape.clone();
        if self.axis >= shape.len() {
            let problem = format!("{} is outside the rank of {shape:?}", self.axis);
            return Err(operands.attribute_error("axis", problem));
        }
        shape[self.axis] = 0;
        for index in 0..operands.inputs.len() {
            operands.expect_dtype(index, &[operands.output_dtype])?;
            self.rescale(operands, index)?;
            let tensor = operands.input(index);
            let fits = |axis| axis == self.axis || tensor.ty.shape[axis] == shape[axis];
            if tensor.ty.shape.len() != shape.len() || !(0..shape.len()).all(fits) {
                let first = &operands.input(0).ty.shape;
                let expected = format!("{first:?} except along axis {}", self.axis);
                return Err(operands.shape_error(tensor, expected));
            }
            shape[self.axis] = shape[self.axis].saturating_add(tensor.ty.shape[self.axis]);
        }
        Ok(shape)
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let Ok(shape) = self.output_shape(operands) else { return Vec::new() };
        let strides = row_major(&shape);
        let mut output = vec![0; shape.iter().product()];
        let mut start = 0;
        for (index, codes) in inputs.iter().enumerate() {
            let Ok(rescale) = self.rescale(operands, index) else { return Vec::new() };
            let own = &operands.input(index).ty.shape;
            for (&code, at) in codes.iter().zip(offsets(own, &strides)) {
                output[start + at] = rescale.as_ref().map_or(code, |rescale| rescale.code(code));
            }
            start += own[self.axis] * strides[self.axis];
        }
        output
    }
}

impl Concat {
    /// Returns the change of quantization from input `index` to the output, or `None` if both are equal.
    fn rescale(&self, operands: &Operands<'_>, index: usize) -> Result<Option<Rescale>, GraphError> {
        if operands.input(index).ty.quantization.as_ref() == operands.output_quantization {
            return Ok(None);
        }
        Rescale::new(operands, index, self.requantize, Activation::None).map(Some)
    }
}
