//! Fused activations as clamps of output codes.

use crate::{DType, Quantization};

/// An activation fused into an operation. It clamps the output codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize)]
pub enum Activation {
    /// No clamp: the whole range of the codes.
    #[default]
    None,
    /// Real values below 0 become 0.
    Relu,
    /// Real values are clamped to `[0, 6]`.
    Relu6,
    /// Real values are clamped to `[-1, 1]`.
    ReluN1To1,
    /// Real values are clamped to `[0, 1]`.
    Relu0To1,
}

impl Activation {
    /// Every activation.
    pub const ALL: [Self; 5] = [Self::None, Self::Relu, Self::Relu6, Self::ReluN1To1, Self::Relu0To1];

    /// Returns the name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Relu => "relu",
            Self::Relu6 => "relu6",
            Self::ReluN1To1 => "relu_n1_to_1",
            Self::Relu0To1 => "relu_0_to_1",
        }
    }

    /// Returns whether the activation clips values that are too small, and values that are too large.
    pub fn clips(self) -> (bool, bool) {
        (self != Self::None, !matches!(self, Self::None | Self::Relu))
    }

    /// Returns the least and the greatest output code.
    ///
    /// A real bound `r` is the code `zero_point + round_half_away(r / scale)`, clamped to the codes of the output.
    /// Source: TensorFlow Lite, `CalculateActivationRangeQuantized`.
    pub fn clamp(self, dtype: DType, quantization: &Quantization) -> (i32, i32) {
        let range = quantization.codes_of(dtype);
        let code = |real: f32| {
            let steps = (real / quantization.scale(0)).round();
            // A quotient beyond 128 bits, including infinity, saturates. The limit is far outside any dtype.
            range.clamp((steps as i128).saturating_add(quantization.zero_point(0).into()))
        };
        match self {
            Self::None => range.ends(),
            Self::Relu => (code(0.0), range.max()),
            Self::Relu6 => (code(0.0), code(6.0)),
            Self::ReluN1To1 => (code(-1.0), code(1.0)),
            Self::Relu0To1 => (code(0.0), code(1.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Real bounds beyond every code are clamped to the dtype, whatever the scale.
    #[test]
    fn bounds_beyond_the_codes_are_their_ends() {
        for (scale, zero_point, expected) in [
            (f32::from_bits(1), 3, (-128, 127)),
            (1e-38, -3, (-128, 127)),
            (0.5, 3, (1, 5)),
            (1e38, 3, (3, 3)),
        ] {
            let quantization = Quantization::per_tensor(scale, zero_point).unwrap();
            assert_eq!(Activation::ReluN1To1.clamp(DType::Int8, &quantization), expected, "{scale:e}");
        }
    }
}
