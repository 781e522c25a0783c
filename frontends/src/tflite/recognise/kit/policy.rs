//! The rounding of runtimes: the profiles, and the behaviour of each per operator and type.
//!
//! A TFLite file fixes scales, not arithmetic: each kernel of each runtime computes its multipliers and rounds in its
//! own way. `litert-ref` is the set of reference kernels of LiteRT 2.3.0 (`OpResolverType.BUILTIN_REF`), measured on
//! models of one operator with sums at which the candidates differ. The functions here define how the other profiles
//! differ from it.
//!
//! One kernel is wrong and is not followed: SUM of `litert-ref` reads int8 codes as uint8.

use std::fmt;
use std::str::FromStr;

use guardbit_graph::{Arithmetic, DType, MultiplierRule, Requantize, TensorType};
use guardbit_num::Scheme;

/// Name of the default rounding policy for TFLite networks.
pub const TFLITE_POLICY: &str = "litert-2.3-ref";

/// A runtime of TFLite files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Profile {
    /// LiteRT 2.3.0 with its reference kernels.
    #[default]
    LitertRef,
    /// TensorFlow Lite Micro.
    Tflm,
    /// TensorFlow Lite Micro, compiled with `TFLITE_SINGLE_ROUNDING`.
    TfliteSingle,
    /// LiteRT 2.3.0 with the XNNPACK delegate, its default.
    Xnnpack,
}

/// Error for an unknown name of a profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown runtime profile `{0}`; the profiles are {all}", all = Profile::ALL.map(Profile::name).join(", "))]
pub struct UnknownProfile(String);

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 4] = [Self::LitertRef, Self::Tflm, Self::TfliteSingle, Self::Xnnpack];

    /// Returns the name used on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::LitertRef => "litert-ref",
            Self::Tflm => "tflm",
            Self::TfliteSingle => "tflite-single",
            Self::Xnnpack => "xnnpack",
        }
    }

    /// Returns whether its kernels are those of TensorFlow Lite Micro.
    pub(crate) fn is_micro(self) -> bool {
        matches!(self, Self::Tflm | Self::TfliteSingle)
    }

    /// Returns the profile's form of a requantization that rounds twice in other profiles.
    fn rounded(self, requantize: Requantize) -> Requantize {
        match (self, requantize.scheme) {
            (Self::TfliteSingle, Scheme::Double) => Requantize { scheme: Scheme::Single, ..requantize },
            _ => requantize,
        }
    }

    /// Returns the requantization of FULLY_CONNECTED for activations of type `x` and an accumulator.
    pub(crate) fn fully_connected(self, x: &TensorType, accumulator: Accumulator) -> Requantize {
        match self {
            Self::LitertRef => Requantize { scheme: Scheme::Float64Away, rule: MultiplierRule::Float64 },
            Self::Xnnpack => XNNPACK,
            _ if x.dtype == DType::Int16 && accumulator == Accumulator::Bits64 => {
                Requantize { scheme: Scheme::Q48, rule: MultiplierRule::Float64 }
            }
            Self::Tflm | Self::TfliteSingle => self.rounded(DOUBLE),
        }
    }

    /// Returns the scheme of ADD and SUB. Their operations compute the multipliers.
    pub(crate) fn additive(self) -> Scheme {
        if self == Self::Xnnpack { Scheme::Even } else { self.rounded(DOUBLE).scheme }
    }

    /// Returns the requantization of MUL.
    pub(crate) fn mul(self) -> Requantize {
        if self == Self::Xnnpack { XNNPACK } else { self.rounded(DOUBLE_FLOAT32) }
    }

    /// Returns the requantization of RELU and similar operators.
    pub(crate) fn relu(self) -> Requantize {
        self.rounded(DOUBLE_FLOAT32)
    }

    /// Returns the requantization of LEAKY_RELU and ABS.
    pub(crate) fn absolute(self) -> Requantize {
        self.rounded(if self.is_micro() { DOUBLE } else { DOUBLE_FLOAT32 })
    }

    /// Returns the requantization of PRELU.
    pub(crate) fn prelu(self) -> Requantize {
        self.rounded(DOUBLE)
    }

    /// Returns the arithmetic of LOGISTIC and TANH on 8 bits.
    pub(crate) fn curves(self) -> Arithmetic {
        if self.is_micro() { Arithmetic::FixedPoint } else { Arithmetic::Table }
    }

    /// Returns the requantization of MEAN and SUM.
    pub(crate) fn reduction(self) -> Requantize {
        self.rounded(DOUBLE)
    }

    /// Returns the requantization of QUANTIZE.
    pub(crate) fn quantize(self) -> Requantize {
        self.rounded(DOUBLE)
    }

    /// Returns the requantization of CONCATENATION. Its inputs have the quantization of the output, or are
    /// requantized first.
    pub(crate) fn concatenation(self) -> Requantize {
        self.rounded(DOUBLE)
    }

    /// Returns the scheme of SQUARED_DIFFERENCE.
    pub(crate) fn squared_difference(self) -> Scheme {
        self.rounded(DOUBLE).scheme
    }

    /// Returns whether RESIZE_BILINEAR computes in float32. Legacy networks have a separate kernel.
    pub(crate) fn resizes_in_float32(self, dtype: DType) -> bool {
        dtype == DType::UInt8
    }

    /// Returns the requantization of BATCH_MATMUL. Sums of 16-bit activations have 64 bits.
    pub(crate) fn batch_matmul(self, output: &TensorType) -> Requantize {
        match (output.dtype, self) {
            (DType::Int16, _) if self.is_micro() => {
                Requantize { scheme: Scheme::Q48, rule: MultiplierRule::Float64 }
            }
            (DType::Int16, _) => Requantize { scheme: Scheme::Q48, rule: MultiplierRule::ProductInFloat32 },
            _ => self.rounded(DOUBLE_PRODUCT),
        }
    }

    /// Returns the requantization of CONV_2D, DEPTHWISE_CONV_2D and TRANSPOSE_CONV for activations of type `x`.
    ///
    /// With 16-bit activations it depends on the accumulator: sums of 64 bits are scaled by 15 bits of the
    /// multiplier.
    pub(crate) fn convolution(self, x: &TensorType, accumulator: Accumulator) -> Requantize {
        match x.dtype {
            DType::Int16 if accumulator == Accumulator::Bits64 => {
                Requantize { scheme: Scheme::Q48, rule: MultiplierRule::Float64 }
            }
            DType::Int16 => self.rounded(DOUBLE),
            _ if self == Self::Xnnpack => XNNPACK,
            DType::UInt8 => self.rounded(DOUBLE_PRODUCT),
            _ => self.rounded(DOUBLE),
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|profile| profile.name() == name)
            .ok_or_else(|| UnknownProfile(name.into()))
    }
}

const DOUBLE: Requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 };
const DOUBLE_FLOAT32: Requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float32 };
const DOUBLE_PRODUCT: Requantize =
    Requantize { scheme: Scheme::Double, rule: MultiplierRule::ProductInFloat32 };

/// The float32 requantization of XNNPACK's 8-bit kernels.
const XNNPACK: Requantize = Requantize { scheme: Scheme::Even, rule: MultiplierRule::Float32 };

/// The reason for rejecting an operator that requantizes in other runtimes.
pub(crate) const MICRO_MOVES_NOTHING: &str = "TensorFlow Lite Micro does not requantize here";

/// The accumulator of CONV_2D with 16-bit activations. Its other kernels have 32 bits, and the kernel of
/// DEPTHWISE_CONV_2D with 16-bit activations has 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accumulator {
    Bits32,
    Bits64,
}

impl Accumulator {
    /// Returns the accumulator with the width of the bias.
    pub fn of_bias(bias: &TensorType) -> Self {
        if bias.dtype == DType::Int64 { Self::Bits64 } else { Self::Bits32 }
    }

    /// Returns the accumulator without a bias, as declared by `quantized_bias_type`, or 64 bits by default.
    ///
    /// This is the behaviour of TensorFlow Lite Micro. LiteRT rejects a CONV_2D without a bias.
    pub fn declared(quantized_bias_type: i8) -> Self {
        const INT32: i8 = 2;
        if quantized_bias_type == INT32 { Self::Bits32 } else { Self::Bits64 }
    }
}

/// Operators whose results under a profile are unknown or invalid, by name in the schema and types of the output.
const REFUSED: &[(Profile, &str, &[DType])] = {
    const ALL: &[DType] = &[DType::Int8, DType::UInt8, DType::Int16];
    const SIXTEEN: &[DType] = &[DType::Int16];
    const EIGHT: &[DType] = &[DType::Int8, DType::UInt8];
    use Profile::{TfliteSingle, Xnnpack};
    &[
        (TfliteSingle, "L2_NORMALIZATION", ALL),
        (TfliteSingle, "RESIZE_BILINEAR", ALL),
        (TfliteSingle, "SOFTMAX", SIXTEEN),
        (TfliteSingle, "RSQRT", ALL),
        (Xnnpack, "ADD", SIXTEEN),
        (Xnnpack, "CONV_2D", SIXTEEN),
        (Xnnpack, "DEPTHWISE_CONV_2D", SIXTEEN),
        (Xnnpack, "FULLY_CONNECTED", SIXTEEN),
        (Xnnpack, "LOGISTIC", SIXTEEN),
        (Xnnpack, "MUL", SIXTEEN),
        (Xnnpack, "RESIZE_BILINEAR", ALL),
        (Xnnpack, "SOFTMAX", SIXTEEN),
        (Xnnpack, "TANH", SIXTEEN),
        (Xnnpack, "MEAN", ALL),
        (Xnnpack, "SUB", SIXTEEN),
        (Xnnpack, "TRANSPOSE_CONV", ALL),
        (Xnnpack, "SUM", ALL),
        (Xnnpack, "SQRT", &[DType::Float32]),
        (Xnnpack, "LEAKY_RELU", EIGHT),
        (Xnnpack, "BATCH_MATMUL", ALL),
    ]
};

impl Profile {
    /// Rejects operators whose results are proved equal only for the reference kernels.
    pub(crate) fn check(self, operator: &str, output: &TensorType) -> Result<(), String> {
        let refused = |row: &&(Self, &str, &[DType])| {
            (row.0, row.1) == (self, operator) && row.2.contains(&output.dtype)
        };
        match REFUSED.iter().find(refused) {
            Some(_) => Err(format!("the results of profile {self} on {} are unknown", output.dtype)),
            None => Ok(()),
        }
    }

    /// Rejects weights of less than 8 bits if the profile is only verified for wider ones.
    pub(crate) fn check_weights(self, weights: &TensorType) -> Result<(), String> {
        if self != Self::Xnnpack || weights.dtype.bits() == 8 {
            return Ok(());
        }
        Err(format!("the results of profile {self} with {} weights are unknown", weights.dtype))
    }
}
