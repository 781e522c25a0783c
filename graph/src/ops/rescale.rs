//! Code shared by operations that change the quantization of an element.

use guardbit_num::Requantizer;

use super::Operands;
use crate::{Activation, DType, GraphError, Requantize};

/// The change of quantization `y = round((x - zx) * sx/sy) + zy`, clamped.
pub(super) struct Rescale {
    requantizer: Requantizer,
    input_zero_point: i32,
    output_zero_point: i32,
    clamp: (i32, i32),
}

impl Rescale {
    /// Returns the change from the quantization of input `index` to that of the output.
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

    /// Returns one change per channel of input 0 if its scales lie along an axis, and the number of elements between
    /// neighbours along it.
    ///
    /// The input of an operation with an activation must have one scale.
    pub fn of_channels(
        operands: &Operands<'_>,
        requantize: Requantize,
        activation: Activation,
    ) -> Result<(Vec<Self>, usize), GraphError> {
        operands.expect_inputs(1, 1)?;
        let ty = &operands.input(0).ty;
        let scaled = ty.quantization.as_ref().and_then(|own| Some((own, own.axis()?)));
        let Some((own, axis)) = scaled.filter(|_| activation == Activation::None && ty.dtype == DType::Int32)
        else {
            return Ok((vec![Self::new(operands, 0, requantize, activation)?], 1));
        };
        let output = operands.output_activation()?;
        let channel = |channel: usize| {
            Ok(Self {
                requantizer: operands.requantizer(requantize, own.scale(channel), 1.0, output.scale(0))?,
                input_zero_point: own.zero_point(channel),
                output_zero_point: output.zero_point(0),
                clamp: activation.clamp(operands.output_dtype, output),
            })
        };
        let all = (0..own.scales().len()).map(channel).collect::<Result<_, GraphError>>()?;
        Ok((all, ty.shape[axis + 1..].iter().product()))
    }

    /// Returns the requantizer.
    pub fn requantizer(&self) -> Requantizer {
        self.requantizer
    }

    /// Returns the output code.
    pub fn code(&self, code: i32) -> i32 {
        let centred = i128::from(code) - i128::from(self.input_zero_point);
        let code = self.requantizer.requantize(centred, self.output_zero_point.into());
        code.clamp(self.clamp.0.into(), self.clamp.1.into()) as i32
    }
}

/// Defines an operation that changes the quantization of its only input, with an activation: its attributes and
/// [`Operator`](super::Operator).
macro_rules! rescale {
    ($(#[$doc:meta])* $ty:ident, $name:literal, $activation:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        pub struct $ty {
            /// Requantization from input to output codes.
            pub requantize: $crate::Requantize,
        }

        impl $crate::ops::Operator for $ty {
            const NAME: &'static str = $name;
            const EFFORT: $crate::effort::Effort = $crate::effort::Effort::per_output($crate::effort::CENTRE + $crate::effort::REQUANTIZE + $crate::effort::CLAMP);
            const MONOTONICITY: $crate::ops::Monotonicity = $crate::ops::Monotonicity::Increasing;

            $crate::ops::requantized!();

            fn requantizers(&self, operands: &Operands<'_>) -> Vec<guardbit_num::Requantizer> {
                let all = self.rescale(operands).map(|(all, _)| all).unwrap_or_default();
                all.iter().map(Rescale::requantizer).collect()
            }

            fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
                operands.expect_inputs(1, 1)?;
                self.rescale(operands)?;
                Ok(operands.input(0).ty.shape.clone())
            }

            fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
                let Ok((all, inner)) = self.rescale(operands) else { return Vec::new() };
                let one = |(index, &code): (usize, &i32)| all[index / inner % all.len()].code(code);
                inputs[0].iter().enumerate().map(one).collect()
            }
        }

        impl $ty {
            fn rescale(&self, operands: &Operands<'_>) -> Result<(Vec<Rescale>, usize), GraphError> {
                Rescale::of_channels(operands, self.requantize, $activation)
            }
        }
    };
}

pub(super) use rescale;
