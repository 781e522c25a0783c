//! Requantization schemes: from a sum to a code, `round(M * x) + zero_point`, rounded as real runtimes and devices
//! do.
//!
//! Each scheme is one file. To add a scheme, write its file, its `mod` line and its line in `schemes!`.

mod away;
mod double;
mod even;
mod float32_nearest;
mod float32_upward;
mod float64_away;
mod float64_nearest;
mod float64_upward;
mod q48;
mod scale32;
mod single;
mod tosa_double;
mod tosa_scale16;

use std::fmt;
use std::str::FromStr;

use crate::{Multiplier, MultiplierError};

pub use scale32::Scale32;

/// Registers the schemes: variant, file, identifier and name.
macro_rules! schemes {
    ($($(#[$doc:meta])* $variant:ident = $file:ident, $id:literal, $name:literal;)*) => {
        /// The scheme by which a sum is multiplied by a real number and rounded.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Scheme {
            $($(#[$doc])* $variant,)*
        }

        impl Scheme {
            /// Every scheme.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the short identifier of the reference tables.
            pub fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)* }
            }

            /// Returns the name used in files.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the number used for the scheme in the RTL.
            pub fn code(self) -> u32 {
                self as u32
            }

            /// Returns the bits of one multiplier as a device stores it, including its shift if it has one.
            pub fn constant_bits(self) -> u32 {
                match self { $(Self::$variant => $file::CONSTANT_BITS,)* }
            }

            /// Returns `round(M * x) + zero_point`.
            fn requantize(self, x: i128, multiplier: Multiplier, zero_point: i128) -> i128 {
                match self { $(Self::$variant => $file::requantize(x, multiplier, zero_point),)* }
            }
        }
    };
}

schemes! {
    /// Two roundings, the default of TFLite, TFLM, CMSIS-NN and gemmlowp.
    Double = double, "D", "double";
    /// One rounding, half up: TFLite's single-rounding build, TVM upward, TOSA single, XNNPACK rndnu.
    Single = single, "S", "single";
    /// One rounding, half away from zero: TVM to-nearest, QNNPACK precise.
    Away = away, "A", "away";
    /// Float32 product rounded half to even: ONNX Runtime, XNNPACK fp32, FBGEMM.
    Even = even, "E", "even";
    /// TVM with float32 compute, upward: `floor(M * x + zero_point + 0.5)`.
    Float32Upward = float32_upward, "V32", "float32_upward";
    /// TVM with float64 compute, upward: `floor(M * x + zero_point + 0.5)`.
    Float64Upward = float64_upward, "V64", "float64_upward";
    /// Float64 product rounded half away from zero: LiteRT's reference FULLY_CONNECTED.
    Float64Away = float64_away, "F64", "float64_away";
    /// TOSA RESCALE with DOUBLE_ROUND.
    TosaDouble = tosa_double, "T", "tosa_double";
    /// TOSA RESCALE with a 16-bit multiplier.
    TosaScale16 = tosa_scale16, "T16", "tosa_scale16";
    /// TFLite's 16x8 kernels: a 15-bit multiplier on a 48-bit sum.
    Q48 = q48, "Q48", "q48";
    /// TVM with float32 compute, to nearest: `M * x + zero_point`, half away from zero.
    Float32Nearest = float32_nearest, "V32N", "float32_nearest";
    /// TVM with float64 compute, to nearest: `M * x + zero_point`, half away from zero.
    Float64Nearest = float64_nearest, "V64N", "float64_nearest";
}

impl Scheme {
    /// Returns whether the runtimes that use this scheme compute `M` in float32 throughout.
    pub fn forms_multiplier_in_float32(self) -> bool {
        self == Self::Even
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scheme {
    type Err = UnknownScheme;

    /// Parses a name (`single`) or an identifier (`S`).
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|s| s.name() == name || s.id() == name);
        found.copied().ok_or_else(|| UnknownScheme(name.into()))
    }
}

/// Error for an unknown name of a requantization scheme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownScheme(String);

impl std::error::Error for UnknownScheme {}

impl fmt::Display for UnknownScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = Scheme::ALL.iter().map(|s| format!("{} ({})", s.name(), s.id())).collect();
        write!(f, "unknown requantization scheme `{}`; the schemes are {}", self.0, names.join(", "))
    }
}

/// A scheme with its multiplier. It turns sums into scaled integers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Requantizer {
    scheme: Scheme,
    multiplier: Multiplier,
}

impl Requantizer {
    /// Creates a requantizer that multiplies by `multiplier` under `scheme`.
    pub fn new(scheme: Scheme, multiplier: Multiplier) -> Self {
        Self { scheme, multiplier }
    }

    /// Returns the scheme.
    pub fn scheme(self) -> Scheme {
        self.scheme
    }

    /// Returns the multiplier.
    pub fn multiplier(self) -> Multiplier {
        self.multiplier
    }

    /// Returns the requantizer for sums in units of `2^shift`. The multiplier makes up for the shift.
    ///
    /// # Errors
    /// [`MultiplierError`] if the multiplier becomes `2^30` or more.
    pub fn scaled_up(self, shift: u32) -> Result<Self, MultiplierError> {
        Ok(Self { multiplier: self.multiplier.scaled_up(shift)?, ..self })
    }

    /// Returns the requantizer of a mean over `count` elements. See [`Multiplier::divided_by`].
    pub fn divided_by(self, count: u64) -> Self {
        Self { multiplier: self.multiplier.divided_by(count), ..self }
    }

    /// Returns `round(M * x)`.
    pub fn scale(self, x: i128) -> i128 {
        self.scheme.requantize(x, self.multiplier, 0)
    }

    /// Returns `round(M * x) + zero_point`, not clamped. The TVM float schemes add the zero point before they round.
    pub fn requantize(self, x: i128, zero_point: i128) -> i128 {
        self.scheme.requantize(x, self.multiplier, zero_point)
    }
}
