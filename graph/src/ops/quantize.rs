//! Change of quantization.

use super::{Operands, Operator, rescale};
use crate::{Activation, GraphError, Requantize};

/// `y = round((x - zx) * sx/sy) + zy`, clamped to the dtype of the output.
///
/// Under equal scales this only moves the zero point, exactly.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Quantize {
    /// From input to output codes.
    pub requantize: Requantize,
}

impl Operator for Quantize {
    const NAME: &'static str = "quantize";

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        rescale::output_shape(operands, self.requantize, Activation::None)
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        rescale::evaluate(operands, self.requantize, Activation::None, inputs[0])
    }
}
