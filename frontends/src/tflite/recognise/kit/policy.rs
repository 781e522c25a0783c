//! How a runtime rounds: the profiles, and per operator and type what each of them does.
//!
//! A TFLite file fixes scales, not arithmetic: each kernel of each runtime forms its multipliers and rounds in its
//! own way. `litert-ref` are the reference kernels of LiteRT 2.3.0 (`OpResolverType.BUILTIN_REF`), as measured on models
//! of one operator with sums at which the candidates differ; the others differ from it as the functions here say.
//!
//! One kernel is wrong and is not followed: SUM of `litert-ref` reads int8 codes as if they were uint8.

use std::fmt;
use std::str::FromStr;

use guardbit_graph::{Arithmetic, DType, MultiplierRule, Requantize, TensorType};
use guardbit_num::Scheme;

/// Name of the rounding policy that TFLite networks are read with unless told otherwise.
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

/// A name that is no profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown runtime profile `{0}`; the profiles are {all}", all = Profile::ALL.map(Profile::name).join(", "))]
pub struct UnknownProfile(String);

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 4] = [Self::LitertRef, Self::Tflm, Self::TfliteSingle, Self::Xnnpack];

    /// The name used on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::LitertRef => "litert-ref",
            Self::Tflm => "tflm",
            Self::TfliteSingle => "tflite-single",
            Self::Xnnpack => "xnnpack",
        }
    }

    /// Whether its kernels are those of TensorFlow Lite Micro.
    pub(crate) fn is_micro(self) -> bool {
        matches!(self, Self::Tflm | Self::TfliteSingle)
    }

    /// What its kernels make of a requantization that rounds twice in others.
    fn rounded(self, requantize: Requantize) -> Requantize {
        match (self, requantize.scheme) {
            (Self::TfliteSingle, Scheme::Double) => Requantize { scheme: Scheme::Single, ..requantize },
            _ => requantize,
        }
    }

    /// FULLY_CONNECTED with activations of type `x`, and the accumulator that its bias says.
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

    /// ADD and SUB; their operations form their multipliers.
    pub(crate) fn additive(self) -> Scheme {
        if self == Self::Xnnpack { Scheme::Even } else { self.rounded(DOUBLE).scheme }
    }

    /// MUL.
    pub(crate) fn mul(self) -> Requantize {
        if self == Self::Xnnpack { XNNPACK } else { self.rounded(DOUBLE_FLOAT32) }
    }

    /// RELU and its like.
    pub(crate) fn relu(self) -> Requantize {
        self.rounded(DOUBLE_FLOAT32)
    }

    /// LEAKY_RELU and ABS.
    pub(crate) fn absolute(self) -> Requantize {
        self.rounded(if self.is_micro() { DOUBLE } else { DOUBLE_FLOAT32 })
    }

    /// PRELU.
    pub(crate) fn prelu(self) -> Requantize {
        self.rounded(DOUBLE)
    }

    /// LOGISTIC and TANH on 8 bits.
    pub(crate) fn curves(self) -> Arithmetic {
        if self.is_micro() { Arithmetic::FixedPoint } else { Arithmetic::Table }
    }

    /// MEAN and SUM.
    pub(crate) fn reduction(self) -> Requantize {
        self.rounded(DOUBLE)
    }

    /// QUANTIZE.
    pub(crate) fn quantize(self) -> Requantize {
        self.rounded(DOUBLE)
    }

    /// CONCATENATION, whose inputs have the quantization of the output, or are moved to it before.
    pub(crate) fn concatenation(self) -> Requantize {
        self.rounded(DOUBLE)
    }

    /// SQUARED_DIFFERENCE.
    pub(crate) fn squared_difference(self) -> Scheme {
        self.rounded(DOUBLE).scheme
    }

    /// RESIZE_BILINEAR: legacy networks have a kernel of their own.
    pub(crate) fn resizes_in_float32(self, dtype: DType) -> bool {
        dtype == DType::UInt8
    }

    /// BATCH_MATMUL. Sums of 16-bit activations have 64 bits.
    pub(crate) fn batch_matmul(self, output: &TensorType) -> Requantize {
        match (output.dtype, self) {
            (DType::Int16, _) if self.is_micro() => {
                Requantize { scheme: Scheme::Q48, rule: MultiplierRule::Float64 }
            }
            (DType::Int16, _) => Requantize { scheme: Scheme::Q48, rule: MultiplierRule::ProductInFloat32 },
            _ => self.rounded(DOUBLE_PRODUCT),
        }
    }

    /// CONV_2D, DEPTHWISE_CONV_2D and TRANSPOSE_CONV on activations of type `x`. With those of 16 bits the accumulator
    /// decides: sums of 64 bits are scaled by 15 bits of the multiplier.
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

/// Why an operator is refused that other runtimes move codes in.
pub(crate) const MICRO_MOVES_NOTHING: &str =
    "TensorFlow Lite Micro does not move codes to another scale or zero point here";

/// The accumulator of CONV_2D with activations of 16 bits. Its other kernels have 32 bits, and that of
/// DEPTHWISE_CONV_2D with activations of 16 bits has 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accumulator {
    Bits32,
    Bits64,
}

impl Accumulator {
    /// As wide as the bias.
    pub fn of_bias(bias: &TensorType) -> Self {
        if bias.dtype == DType::Int64 { Self::Bits64 } else { Self::Bits32 }
    }

    /// Without a bias: as `quantized_bias_type` says, 64 bits if it says nothing (TensorFlow Lite Micro; LiteRT
    /// refuses CONV_2D without a bias).
    pub fn declared(quantized_bias_type: i8) -> Self {
        const INT32: i8 = 2;
        if quantized_bias_type == INT32 { Self::Bits32 } else { Self::Bits64 }
    }
}

/// Operators whose results under a profile are not known, or make no sense, by name in the schema and types of the output.
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
    /// Fails for operators that no profile but the reference kernels' has been shown equal for.
    pub(crate) fn check(self, operator: &str, output: &TensorType) -> Result<(), String> {
        let refused =
            |row: &&(Self, &str, &[DType])| (row.0, row.1) == (self, operator) && row.2.contains(&output.dtype);
        match REFUSED.iter().find(refused) {
            Some(_) => Err(format!(
                "what the runtime of profile {self} makes of it on {} is not known",
                output.dtype
            )),
            None => Ok(()),
        }
    }

    /// Fails for weights of less than 8 bits where only wider ones are known.
    pub(crate) fn check_weights(self, weights: &TensorType) -> Result<(), String> {
        if self != Self::Xnnpack || weights.dtype.bits() == 8 {
            return Ok(());
        }
        Err(format!("what the runtime of profile {self} makes of {} weights is not known", weights.dtype))
    }
}
