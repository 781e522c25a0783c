//! Rectifier with a ceiling.

use super::{Operands, Operator, rescale};
use crate::{Activation, GraphError, Requantize};

/// `min(max(x, 0), 6)`, moved to the scale and zero point of the output.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Relu6 {
    /// From input to output codes.
    pub requantize: Requantize,
}

impl Operator for Relu6 {
    const NAME: &'static str = "relu6";

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        rescale::output_shape(operands, self.requantize, Activation::Relu6)
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        rescale::evaluate(operands, self.requantize, Activation::Relu6, inputs[0])
    }
}
