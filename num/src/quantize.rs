//! From a real value to a code: `round(x / scale) + zero_point`, with the variants of real runtimes.

use std::fmt;
use std::str::FromStr;

/// Registers the variants: name, file name, and the formula in float32.
macro_rules! quantizings {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, |$x:ident, $scale:ident, $zero:ident| $formula:expr;)*) => {
        /// The rule by which a runtime turns float32 values into codes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Quantizing {
            $($(#[$doc])* $variant,)*
        }

        impl Quantizing {
            /// Every rule.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the name used in files.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the code of `x`, not clamped to the type of the tensor.
            ///
            /// A value beyond 128 bits, including infinity, saturates to 128 bits. NaN becomes the zero point.
            pub fn code(self, x: f32, scale: f32, zero_point: i32) -> i128 {
                if x.is_nan() {
                    return zero_point.into();
                }
                match self {
                    $(Self::$variant => {
                        let ($x, $scale, $zero) = (x, scale, zero_point);
                        $formula
                    })*
                }
            }
        }
    };
}

quantizings! {
    /// `round_half_away(x / s) + z`: TensorFlow Lite `AffineQuantize`, TVM `qnn.quantize`.
    HalfAway = "half_away", |x, s, z| moved((x / s).round(), z);
    /// `round_half_even(x / s) + z`: ONNX `QuantizeLinear`, ONNX Runtime.
    HalfEven = "half_even", |x, s, z| moved((x / s).round_ties_even(), z);
    /// `round_half_even(x / s + z)`, the sum in float32: XNNPACK `qs8_quantize`.
    HalfEvenLast = "half_even_last", |x, s, z| moved((x / s + z as f32).round_ties_even(), 0);
    /// `z + round_half_even(x * (1 / s))`: FBGEMM, PyTorch on x86.
    Reciprocal = "reciprocal", |x, s, z| moved((x * (1.0 / s)).round_ties_even(), z);
    /// `round_half_even(z + x * (1 / s))`, the sum in float32: FBGEMM's legacy mode.
    ReciprocalLast = "reciprocal_last", |x, s, z| moved((z as f32 + x * (1.0 / s)).round_ties_even(), 0);
}

/// Adds the zero point to rounded steps. Saturation is harmless, because the ends of `i128` are far outside any code.
fn moved(steps: f32, zero_point: i32) -> i128 {
    // Few steps, which is the usual case, need no conversion to 128 bits, which takes ten times as long.
    if steps.abs() < (1u64 << 62) as f32 {
        return i128::from(steps as i64 + i64::from(zero_point));
    }
    (steps as i128).saturating_add(zero_point.into())
}

impl fmt::Display for Quantizing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Quantizing {
    type Err = UnknownQuantizing;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|way| way.name() == name).ok_or_else(|| UnknownQuantizing(name.into()))
    }
}

/// Error for an unknown name of a quantizing rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown quantizing rule `{0}`; the rules are {names}",
    names = Quantizing::ALL.iter().map(|way| way.name()).collect::<Vec<_>>().join(", ")
)]
pub struct UnknownQuantizing(String);
