//! How the runtime rounds: the policy `litert-2.3-ref`.
//!
//! A TFLite file fixes scales, not arithmetic: each kernel of each runtime forms its multipliers and rounds in its
//! own way. These are the reference kernels of LiteRT 2.3.0 (`OpResolverType.BUILTIN_REF`), as measured on models
//! of one operator with sums at which the candidates differ. Its optimized kernels and XNNPACK round otherwise.
//!
//! One kernel is wrong and is not followed: SUM reads int8 codes as if they were uint8.

use guardbit_graph::{DType, MultiplierRule, Requantize, TensorType};
use guardbit_num::Scheme;

/// Name of the rounding policy that TFLite networks are read with.
pub const TFLITE_POLICY: &str = "litert-2.3-ref";

const DOUBLE: Requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 };
const DOUBLE_FLOAT32: Requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float32 };

/// FULLY_CONNECTED of any type.
pub(super) const FULLY_CONNECTED: Requantize =
    Requantize { scheme: Scheme::Float64Away, rule: MultiplierRule::Float64 };

/// ADD; its operation forms its three multipliers in float64.
pub(super) const ADD: Scheme = Scheme::Double;

/// MUL.
pub(super) const MUL: Requantize = DOUBLE_FLOAT32;

/// RELU and RELU6.
pub(super) const RELU: Requantize = DOUBLE_FLOAT32;

/// MEAN and SUM.
pub(super) const REDUCTION: Requantize = DOUBLE;

/// QUANTIZE.
pub(super) const QUANTIZE: Requantize = DOUBLE;

/// CONCATENATION, which only copies: other scales than that of the output are refused.
pub(super) const CONCATENATION: Requantize = DOUBLE;

/// CONV_2D and DEPTHWISE_CONV_2D on activations of type `x`.
pub(super) fn convolution(x: &TensorType) -> Requantize {
    match x.dtype {
        DType::UInt8 => Requantize { scheme: Scheme::Double, rule: MultiplierRule::ProductInFloat32 },
        DType::Int16 => Requantize { scheme: Scheme::Q48, rule: MultiplierRule::Float64 },
        _ => DOUBLE,
    }
}
