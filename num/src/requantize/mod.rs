//! From a sum to a code: `round(M * x) + zero point`, in the ways that real runtimes and devices round.
//!
//! One file per scheme. To add one: write its file, add its line to `schemes!`.

mod scale32;

use std::fmt;
use std::str::FromStr;

use crate::{Multiplier, MultiplierError};

pub use scale32::Scale32;

/// Registers the schemes: variant, file, identifier and name.
macro_rules! schemes {
    ($($(#[$doc:meta])* $variant:ident = $file:ident, $id:literal, $name:literal;)*) => {
        $(mod $file;)*

        /// How a sum is multiplied by a real number and rounded.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Scheme {
            $($(#[$doc])* $variant,)*
        }

        impl Scheme {
            /// Every scheme.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The short identifier of the reference tables.
            pub fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)* }
            }

            /// The name used in files.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The number used for it in the RTL.
            pub fn code(self) -> u32 {
                self as u32
            }

            /// Bits of one multiplier as a device stores it, with its shift where it has one.
            pub fn constant_bits(self) -> u32 {
                match self { $(Self::$variant => $file::CONSTANT_BITS,)* }
            }

            /// `round(M * x) + zero_point`.
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
    /// TVM with float64 compute, upward.
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
    /// TVM with float64 compute, to nearest.
    Float64Nearest = float64_nearest, "V64N", "float64_nearest";
}

impl Scheme {
    /// Whether the runtimes that use this scheme form `M` in float32 throughout.
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

    /// Reads a name (`single`) or an identifier (`S`).
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|s| s.name() == name || s.id() == name);
        found.copied().ok_or_else(|| UnknownScheme(name.into()))
    }
}

/// A name that is no requantization scheme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownScheme(String);

impl std::error::Error for UnknownScheme {}

impl fmt::Display for UnknownScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = Scheme::ALL.iter().map(|s| format!("{} ({})", s.name(), s.id())).collect();
        write!(f, "unknown requantization scheme `{}`; the schemes are {}", self.0, names.join(", "))
    }
}

/// A scheme with its multiplier: turns sums into scaled integers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Requantizer {
    scheme: Scheme,
    multiplier: Multiplier,
}

impl Requantizer {
    /// A requantizer that multiplies by `multiplier` under `scheme`.
    pub fn new(scheme: Scheme, multiplier: Multiplier) -> Self {
        Self { scheme, multiplier }
    }

    /// The scheme.
    pub fn scheme(self) -> Scheme {
        self.scheme
    }

    /// The multiplier.
    pub fn multiplier(self) -> Multiplier {
        self.multiplier
    }

    /// The same for sums kept in the unit `2^shift`: the multiplier gives the shift back.
    ///
    /// # Errors
    /// [`MultiplierError`] if the multiplier becomes `2^30` or more.
    pub fn scaled_up(self, shift: u32) -> Result<Self, MultiplierError> {
        Ok(Self { multiplier: self.multiplier.scaled_up(shift)?, ..self })
    }

    /// The same for a mean over `count` elements: see [`Multiplier::divided_by`].
    pub fn divided_by(self, count: u64) -> Self {
        Self { multiplier: self.multiplier.divided_by(count), ..self }
    }

    /// `round(M * x)`.
    pub fn scale(self, x: i128) -> i128 {
        self.scheme.requantize(x, self.multiplier, 0)
    }

    /// `round(M * x) + zero_point`, not clamped. The TVM float schemes add the zero point before they round.
    pub fn requantize(self, x: i128, zero_point: i128) -> i128 {
        self.scheme.requantize(x, self.multiplier, zero_point)
    }
}
