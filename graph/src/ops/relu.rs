//! Rectifier.

use super::{Operands, Operator, rescale};
use crate::{Activation, GraphError, Requantize};

/// `max(x, 0)`, moved to the scale and zero point of the output.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Relu {
    /// From input to output codes.
    pub requantize: Requantize,
}

impl Operator for Relu {
    const NAME: &'static str = "relu";

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        rescale::output_shape(operands, self.requantize, Activation::Relu)
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        rescale::evaluate(operands, self.requantize, Activation::Relu, inputs[0])
    }
}
