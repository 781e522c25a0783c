//! The computation of the real multiplier of a requantization, and its rounding scheme.

use guardbit_num::{Multiplier, MultiplierError, Requantizer, Scheme};

/// The precision in which `M = s_x * s_w / s_y` is computed. It affects the last bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub enum MultiplierRule {
    /// All in float64 (TensorFlow Lite: int8 convolutions, fully connected, mean, sum, quantize).
    Float64,
    /// `s_x * s_w` in float32, then a float64 division (TensorFlow Lite: uint8 convolutions).
    ProductInFloat32,
    /// All in float32 (ONNX Runtime, XNNPACK, FBGEMM; TensorFlow Lite: mul, relu, relu6).
    Float32,
}

impl MultiplierRule {
    /// Every rule.
    pub const ALL: [Self; 3] = [Self::Float64, Self::ProductInFloat32, Self::Float32];

    /// Returns the name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Float64 => "float64",
            Self::ProductInFloat32 => "product_in_float32",
            Self::Float32 => "float32",
        }
    }

    /// Returns `input * weight / output`.
    pub fn multiplier(self, input: f32, weight: f32, output: f32) -> f64 {
        match self {
            Self::Float64 => f64::from(input) * f64::from(weight) / f64::from(output),
            Self::ProductInFloat32 => f64::from(input * weight) / f64::from(output),
            Self::Float32 => f64::from(input * weight / output),
        }
    }
}

/// The way in which a runtime turns a sum into a code. The frontend sets it per operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Requantize {
    /// The rounding scheme.
    #[serde(serialize_with = "crate::canonical::scheme")]
    pub scheme: Scheme,
    /// The precision in which the multiplier is computed.
    pub rule: MultiplierRule,
}

/// The default is that of most operations of TensorFlow Lite: double rounding, and multipliers in float64.
impl Default for Requantize {
    fn default() -> Self {
        Self { scheme: Scheme::Double, rule: MultiplierRule::Float64 }
    }
}

impl Requantize {
    /// Returns this requantization with another scheme. The multiplier is computed as before.
    pub fn with_scheme(self, scheme: Scheme) -> Self {
        Self { scheme, ..self }
    }

    /// Returns the requantizer for these scales.
    ///
    /// # Errors
    /// [`MultiplierError`] if the multiplier is out of range.
    pub fn requantizer(self, input: f32, weight: f32, output: f32) -> Result<Requantizer, MultiplierError> {
        let multiplier = Multiplier::new(self.rule.multiplier(input, weight, output))?;
        Ok(Requantizer::new(self.scheme, multiplier))
    }
}
