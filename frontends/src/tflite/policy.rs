//! How the runtime rounds: the policy `litert-2.3-ref`.
//!
//! A TFLite file fixes scales, not arithmetic: each kernel of each runtime forms its multipliers and rounds in its
//! own way. These are the reference kernels of LiteRT 2.3.0 (`OpResolverType.BUILTIN_REF`).

use guardbit_graph::{DType, MultiplierRule, Requantize, TensorType};
use guardbit_num::Scheme;

/// Name of the policy.
pub const TFLITE_POLICY: &str = "litert-2.3-ref";

/// ADD forms its three multipliers in float64.
pub(super) const ADD: Scheme = Scheme::Double;

/// MUL.
pub(super) const MUL: Requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float32 };

/// MEAN.
pub(super) const MEAN: Requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 };

/// SUM.
pub(super) const SUM: Requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 };

/// RELU and RELU6.
pub(super) const RELU: Requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float32 };

/// QUANTIZE.
pub(super) const QUANTIZE: Requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 };

/// CONCATENATION.
pub(super) const CONCATENATION: Requantize =
    Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 };

/// CONV_2D and DEPTHWISE_CONV_2D on activations of type `x`.
pub(super) fn convolution(x: &TensorType) -> Requantize {
    match x.dtype {
        DType::Int16 => Requantize { scheme: Scheme::Q48, rule: MultiplierRule::Float64 },
        DType::UInt8 => Requantize { scheme: Scheme::Double, rule: MultiplierRule::ProductInFloat32 },
        _ => Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 },
    }
}

/// FULLY_CONNECTED on activations of type `x` with weights of type `weights`.
pub(super) fn fully_connected(x: &TensorType, weights: &TensorType) -> Requantize {
    let per_channel = weights.quantization.as_ref().is_some_and(|q| q.axis().is_some());
    let rule = if per_channel { MultiplierRule::Float64 } else { MultiplierRule::ProductInFloat32 };
    match x.dtype {
        DType::Int16 => Requantize { scheme: Scheme::Q48, rule },
        _ => Requantize { scheme: Scheme::Single, rule },
    }
}
