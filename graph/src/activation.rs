//! Fused activations as clamps of output codes.

use crate::{DType, Quantization};

/// An activation fused into an operation: a clamp of the output codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Activation {
    /// The whole range of the dtype.
    #[default]
    None,
    /// Real values below 0 become 0.
    Relu,
    /// Real values are clamped to `[0, 6]`.
    Relu6,
    /// Real values are clamped to `[-1, 1]`.
    ReluN1To1,
}

impl Activation {
    /// Every activation.
    pub const ALL: [Self; 4] = [Self::None, Self::Relu, Self::Relu6, Self::ReluN1To1];

    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Relu => "relu",
            Self::Relu6 => "relu6",
            Self::ReluN1To1 => "relu_n1_to_1",
        }
    }

    /// Whether it clips values that are too small, and values that are too large.
    pub fn clips(self) -> (bool, bool) {
        (self != Self::None, matches!(self, Self::Relu6 | Self::ReluN1To1))
    }

    /// Least and greatest output code.
    ///
    /// TensorFlow Lite, `CalculateActivationRangeQuantized`: a real bound `r` is the code
    /// `zero_point + round_half_away(r / scale)`, clamped to the dtype.
    pub fn clamp(self, dtype: DType, quantization: &Quantization) -> (i32, i32) {
        let code = |real: f32| {
            let steps = (real / quantization.scale(0)).round();
            dtype.saturate(quantization.zero_point(0) as i128 + steps as i128)
        };
        match self {
            Self::None => (dtype.min(), dtype.max()),
            Self::Relu => (code(0.0), dtype.max()),
            Self::Relu6 => (code(0.0), code(6.0)),
            Self::ReluN1To1 => (code(-1.0), code(1.0)),
        }
    }
}
