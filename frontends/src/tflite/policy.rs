//! How the runtime rounds: the policy `litert-2.3-ref`.
//!
//! A TFLite file fixes scales, not arithmetic: each kernel of each runtime forms its multipliers and rounds in its
//! own way. These are the reference kernels of LiteRT 2.3.0 (`OpResolverType.BUILTIN_REF`), as measured on models
//! of one operator with sums at which the candidates differ. Its optimized kernels and XNNPACK round otherwise.
//!
//! One kernel is wrong and is not followed: SUM reads int8 codes as if they were uint8.

use guardbit_graph::{Arithmetic, DType, MultiplierRule, Requantize, TensorType};
use guardbit_num::Scheme;

/// Name of the rounding policy that TFLite networks are read with.
pub const TFLITE_POLICY: &str = "litert-2.3-ref";

const DOUBLE: Requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 };
const DOUBLE_FLOAT32: Requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float32 };

/// FULLY_CONNECTED of any type.
pub(super) const FULLY_CONNECTED: Requantize =
    Requantize { scheme: Scheme::Float64Away, rule: MultiplierRule::Float64 };

/// ADD, SUB and SQUARED_DIFFERENCE; their operations form their three multipliers in float64.
pub(super) const ADD: Scheme = Scheme::Double;

/// MUL.
pub(super) const MUL: Requantize = DOUBLE_FLOAT32;

/// RELU and its like, LEAKY_RELU and ABS.
pub(super) const RELU: Requantize = DOUBLE_FLOAT32;

/// PRELU.
pub(super) const PRELU: Requantize = DOUBLE;

/// LOGISTIC and TANH on 8 bits.
pub(super) const CURVES: Arithmetic = Arithmetic::Table;

/// MEAN and SUM.
pub(super) const REDUCTION: Requantize = DOUBLE;

/// QUANTIZE.
pub(super) const QUANTIZE: Requantize = DOUBLE;

/// CONCATENATION, which only copies: other scales than that of the output are refused.
pub(super) const CONCATENATION: Requantize = DOUBLE;

/// RESIZE_BILINEAR: legacy networks have a kernel of their own.
pub(super) fn resizes_in_float32(dtype: DType) -> bool {
    dtype == DType::UInt8
}

/// The accumulator of CONV_2D with activations of 16 bits. Its other kernels have 32 bits, and that of
/// DEPTHWISE_CONV_2D with activations of 16 bits has 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Accumulator {
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

/// BATCH_MATMUL. Sums of 16-bit activations have 64 bits.
pub(super) fn batch_matmul(output: &TensorType) -> Requantize {
    let scheme = if output.dtype == DType::Int16 { Scheme::Q48 } else { Scheme::Double };
    Requantize { scheme, rule: MultiplierRule::ProductInFloat32 }
}

/// CONV_2D, DEPTHWISE_CONV_2D and TRANSPOSE_CONV on activations of type `x`. With those of 16 bits the accumulator decides: sums of 64
/// bits are scaled by 15 bits of the multiplier.
pub(super) fn convolution(x: &TensorType, accumulator: Accumulator) -> Requantize {
    match x.dtype {
        DType::UInt8 => Requantize { scheme: Scheme::Double, rule: MultiplierRule::ProductInFloat32 },
        DType::Int16 if accumulator == Accumulator::Bits64 => {
            Requantize { scheme: Scheme::Q48, rule: MultiplierRule::Float64 }
        }
        _ => DOUBLE,
    }
}
