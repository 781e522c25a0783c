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
        let (input, output) = match activation {
            Activation::None => operands.moved_codes(index)?,
            _ => (operands.activation(index)?, operands.output_activation()?),
        };
        Ok(Self {
            requantizer: operands.requantizer(requantize, input.scale(0), 1.0, output.scale(0))?,
            input_zero_point: input.zero_point(0),
            output_zero_point: output.zero_point(0),
            clamp: activation.clamp(operands.output_dtype, output),
        })
    }

    /// The requantizer.
    pub fn requantizer(&self) -> Requantizer {
        self.requantizer
    }

    /// The output code.
    pub fn code(&self, code: i32) -> i32 {
        let centred = i128::from(code) - i128::from(self.input_zero_point);
        let code = self.requantizer.requantize(centred, self.output_zero_point.into());
        code.clamp(self.clamp.0.into(), self.clamp.1.into()) as i32
    }
}

/// Writes an operation that moves its only input to the quantization of the output, under an activation: its attributes
/// and [`Operator`](super::Operator).
macro_rules! rescale {
    ($(#[$doc:meta])* $ty:ident, $name:literal, $activation:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        pub struct $ty {
            /// From input to output codes.
            pub requantize: $crate::Requantize,
        }

        impl $crate::ops::Operator for $ty {
            const NAME: &'static str = $name;
            const MONOTONICITY: $crate::ops::Monotonicity = $crate::ops::Monotonicity::Increasing;

            $crate::ops::requantized!();

            fn requantizers(&self, operands: &Operands<'_>) -> Vec<guardbit_num::Requantizer> {
                self.rescale(operands).map(|rescale| rescale.requantizer()).into_iter().collect()
            }

            fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
                operands.expect_inputs(1, 1)?;
                self.rescale(operands)?;
                Ok(operands.input(0).ty.shape.clone())
            }

            fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
                let Ok(rescale) = self.rescale(operands) else { return Vec::new() };
                inputs[0].iter().map(|&code| rescale.code(code)).collect()
            }
        }

        impl $ty {
            fn rescale(&self, operands: &Operands<'_>) -> Result<Rescale, GraphError> {
                Rescale::new(operands, 0, self.requantize, $activation)
            }
        }
    };
}

pub(super) use rescale;
