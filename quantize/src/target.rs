//! Requirements on the codes of a tensor, and the parameters that follow from a range of real values.

use guardbit_graph::CodeRange;

/// Range of real values that codes must cover: `low <= high`, both finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
}

/// Freedom of the zero point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symmetry {
    /// Real 0 has the middle code: 0 for signed codes, `2^(bits-1)` for unsigned ones.
    Symmetric,
    /// Real 0 may have any code.
    Asymmetric,
}

/// Allowed scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scales {
    /// Any positive float32.
    Any,
    /// Powers of two; the least one that covers the range is used.
    PowersOfTwo,
}

/// Requirements on the codes of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Range of the codes.
    pub codes: CodeRange,
    /// Freedom of the zero point.
    pub symmetry: Symmetry,
    /// Allowed scales.
    pub scales: Scales,
}

/// Scale and zero point: `real = scale * (code - zero point)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// Scale: finite, and at least the least normal float32.
    pub scale: f32,
    /// Zero point, which is one of the codes.
    pub zero_point: i32,
}

impl Target {
    /// Returns the parameters with which the codes cover `range`, which is extended to include 0.
    ///
    /// For a symmetric target the range is also extended to `[-m, m]` with the greater magnitude m. Then
    /// `scale = (high - low) / (max - min)` in float64, rounded to float32. The zero point is
    /// `round_half_even(min - low / scale)` with the float64 scale; for symmetric targets it is
    /// `round_half_even((min + max) / 2)`. If the scale is below the least normal float32, the scale is 1 and
    /// the zero point is the code nearest to 0. This is the rule of ONNX Runtime's static quantizer
    /// (`compute_scale_zp` of onnxruntime.quantization 1.31).
    ///
    /// If the scale must be a power of two, it is the least one that is not below this scale.
    pub fn parameters(&self, range: Range) -> Parameters {
        let (low, high) = (range.low.min(0.0), range.high.max(0.0));
        let (low, high) = match self.symmetry {
            Symmetry::Symmetric => (-high.max(-low), high.max(-low)),
            Symmetry::Asymmetric => (low, high),
        };
        let (min, max) = (f64::from(self.codes.min()), f64::from(self.codes.max()));
        let exact = (high - low) / (max - min);
        let Some(exact) = allowed(exact, self.scales) else {
            return Parameters { scale: 1.0, zero_point: self.codes.clamp(0) };
        };
        let zero_point = match self.symmetry {
            Symmetry::Symmetric => ((min + max) / 2.0).round_ties_even(),
            Symmetry::Asymmetric => (min - low / exact).round_ties_even(),
        };
        Parameters { scale: exact as f32, zero_point: self.codes.clamp(zero_point as i128) }
    }
}

impl Parameters {
    /// Returns the code of a real value like ONNX `QuantizeLinear`: `round_half_even(x / scale) + zero point`
    /// in float32, clamped to `codes`. NaN becomes the zero point.
    pub fn code(&self, value: f32, codes: CodeRange) -> i32 {
        codes.clamp(guardbit_num::Quantizing::HalfEven.code(value, self.scale, self.zero_point))
    }

    /// Returns the real value of a code.
    pub fn real(&self, code: i32) -> f64 {
        f64::from(self.scale) * (f64::from(code) - f64::from(self.zero_point))
    }
}

/// Returns the scale that is used for `exact`; `None` if `exact` is not finite, or too small for a float32.
pub(crate) fn allowed(exact: f64, scales: Scales) -> Option<f64> {
    if !exact.is_finite() || exact < f64::from(f32::MIN_POSITIVE) {
        return None;
    }
    Some(match scales {
        Scales::Any => exact.min(f32::MAX.into()),
        Scales::PowersOfTwo => power_of_two(exact).min(f64::from(127).exp2()),
    })
}

/// Returns the least power of two that is not below a positive normal number.
fn power_of_two(value: f64) -> f64 {
    let mantissa = value.to_bits() & ((1 << 52) - 1);
    let below = f64::from_bits(value.to_bits() & !((1 << 52) - 1));
    if mantissa == 0 { below } else { 2.0 * below }
}
