//! The codes that a tensor is to have, and the parameters that follow from a range of real values.

use guardbit_graph::CodeRange;

/// Real values that codes are to cover: `low <= high`, both finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
}

/// Whether the zero point may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symmetry {
    /// Real 0 is the middle code: 0 of signed codes, `2^(bits-1)` of unsigned ones.
    Symmetric,
    /// Real 0 is any code.
    Asymmetric,
}

/// Which scales are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scales {
    /// Every positive float32.
    Any,
    /// Powers of two: the least that covers the range.
    PowersOfTwo,
}

/// The codes that a tensor is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The least and the greatest code.
    pub codes: CodeRange,
    /// Whether the zero point may be chosen.
    pub symmetry: Symmetry,
    /// Which scales are allowed.
    pub scales: Scales,
}

/// Scale and zero point: `real = scale * (code - zero point)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// The scale: finite, at least the least normal float32.
    pub scale: f32,
    /// The zero point: one of the codes.
    pub zero_point: i32,
}

impl Target {
    /// The parameters with which the codes cover `range`, 0 always among it.
    ///
    /// With the range joined with 0, and where the target is symmetric made `[-m, m]` with the greater magnitude m:
    /// `scale = (high - low) / (max - min)` in float64, then rounded to float32, and
    /// `zero point = round_half_even(min - low / scale)` with the float64 scale, for symmetric targets
    /// `round_half_even((min + max) / 2)`. Where the scale is below the least normal float32, it is 1 and the zero point the
    /// code nearest to 0. This is the rule of ONNX Runtime's static quantizer (`compute_scale_zp` of
    /// onnxruntime.quantization 1.31).
    ///
    /// A scale that has to be a power of two is the least one that is not below that scale.
    pub fn parameters(&self, range: Range) -> Parameters {
        let (low, high) = (range.low.min(0.0), range.high.max(0.0));
        let (low, high) = match self.symmetry {
            Symmetry::Symmetric => (-high.max(-low), high.max(-low)),
            Symmetry::Asymmetric => (low, high),
        };
        let (min, max) = (f64::from(self.codes.min()), f64::from(self.codes.max()));
        let exact = (high - low) / (max - min);
        let Some(exact) = self.allowed(exact) else {
            return Parameters { scale: 1.0, zero_point: self.codes.clamp(0) };
        };
        let zero_point = match self.symmetry {
            Symmetry::Symmetric => ((min + max) / 2.0).round_ties_even(),
            Symmetry::Asymmetric => (min - low / exact).round_ties_even(),
        };
        Parameters { scale: exact as f32, zero_point: self.codes.clamp(zero_point as i128) }
    }

    /// The scale that is used for one of `exact`; `None` where that is too small for a float32, or none at all.
    fn allowed(&self, exact: f64) -> Option<f64> {
        if !exact.is_finite() || exact < f64::from(f32::MIN_POSITIVE) {
            return None;
        }
        Some(match self.scales {
            Scales::Any => exact.min(f32::MAX.into()),
            Scales::PowersOfTwo => power_of_two(exact).min(f64::from(127).exp2()),
        })
    }
}

impl Parameters {
    /// The code of a real value as ONNX `QuantizeLinear` has it, `round_half_even(x / scale) + zero point` in float32, made
    /// one of `codes`; what is no number becomes the zero point.
    pub fn code(&self, value: f32, codes: CodeRange) -> i32 {
        codes.clamp(guardbit_num::Quantizing::HalfEven.code(value, self.scale, self.zero_point))
    }

    /// The real value of a code.
    pub fn real(&self, code: i32) -> f64 {
        f64::from(self.scale) * (f64::from(code) - f64::from(self.zero_point))
    }
}

/// The least power of two that is not below a normal number above 0.
fn power_of_two(value: f64) -> f64 {
    let mantissa = value.to_bits() & ((1 << 52) - 1);
    let below = f64::from_bits(value.to_bits() & !((1 << 52) - 1));
    if mantissa == 0 { below } else { 2.0 * below }
}
