//! What operations that move one element to another quantization share.

use guardbit_num::Requantizer;

use super::Operands;
use crate::{Activation, GraphError, Requantize};

/// `y = round((x - zx) * sx/sy) + zy`, clamped.
pub(super) struct Rescale {
    requantizer: Requantizer,
    input_zero_point: i32,
    output_zero_point: i32,
    clamp: (i32, i32),
}

impl Rescale {
    /// From the quantization of input `index` to that of the output.
    pub fn new(
        operands: &Operands<'_>,
        index: usize,
        requantize: Requantize,
        activation: Activation,
    ) -> Result<Self, GraphError> {
        let (input, output) = (operands.activation(index)?, operands.output_activation()?);
        Ok(Self {
            requantizer: operands.requantizer(requantize, input.scale(0), 1.0, output.scale(0))?,
            input_zero_point: input.zero_point(0),
            output_zero_point: output.zero_point(0),
            clamp: activation.clamp(operands.output_dtype, output),
        })
    }

    /// The output code.
    pub fn code(&self, code: i32) -> i32 {
        let centred = i128::from(code) - i128::from(self.input_zero_point);
        let code = self.requantizer.requantize(centred, self.output_zero_point.into());
        code.clamp(self.clamp.0.into(), self.clamp.1.into()) as i32
    }
}

/// The shape of an operation that rescales its only input.
pub(super) fn output_shape(
    operands: &Operands<'_>,
    requantize: Requantize,
    activation: Activation,
) -> Result<Vec<usize>, GraphError> {
    operands.expect_inputs(1, 1)?;
    Rescale::new(operands, 0, requantize, activation)?;
    Ok(operands.input(0).ty.shape.clone())
}

/// The codes of an operation that rescales its only input.
pub(super) fn evaluate(
    operands: &Operands<'_>,
    requantize: Requantize,
    activation: Activation,
    codes: &[i32],
) -> Vec<i32> {
    let rescale = Rescale::new(operands, 0, requantize, activation);
    rescale.map_or_else(|_| Vec::new(), |rescale| codes.iter().map(|&code| rescale.code(code)).collect())
}
