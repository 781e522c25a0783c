//! Operations on real values, for regions of a network that stay in float and run on the host.
//!
//! Elements are added, multiplied and divided in float32. Longer sums and transcendental functions are computed in
//! float64 and rounded once. This is closer to the real value than the float32 kernels of runtimes, which differ from
//! each other.

mod elements;
mod float_avg_pool2d;
mod float_binary;
mod float_block_scale;
mod float_cast;
mod float_conv2d;
mod float_layer_norm;
mod float_matmul;
mod float_max_pool2d;
mod float_mean;
mod float_reduce;
mod float_resize_bilinear;
mod float_softmax;
mod float_unary;

pub use float_avg_pool2d::FloatAvgPool2d;
pub use float_binary::{FloatBinary, RealPair};
pub use float_block_scale::FloatBlockScale;
pub use float_cast::FloatCast;
pub use float_conv2d::FloatConv2d;
pub use float_layer_norm::FloatLayerNorm;
pub use float_matmul::FloatMatMul;
pub use float_max_pool2d::FloatMaxPool2d;
pub use float_mean::FloatMean;
pub use float_reduce::{FloatReduce, RealReduction};
pub use float_resize_bilinear::{FloatResizeBilinear, Places};
pub use float_softmax::FloatSoftmax;
pub use float_unary::{FloatUnary, RealFunction};
