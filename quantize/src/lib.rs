//! Quantizes float networks, with the accelerator in the loop.
//!
//! [`quantize()`] takes a float network and unlabelled samples. A [`Plan`] divides the network into units by
//! patterns. [`Simulated`] is its simulated form, whose scales and zero points are variables. Calibration
//! sets them, tensor by tensor in order of execution. [`realize()`] builds the integer network from them, in
//! ONNX Runtime's arithmetic.
//!
//! With [`Config::short_floats`], only operands of convolutions and matrix products become codes, which are
//! floating-point codes of a [`FloatTarget`].
//!
//! A [`Target`] defines the codes of a tensor. A [`method::Method`] chooses the real values that they cover,
//! from what was [`Observed`] of the tensor. A [`LayerMethod`] chooses the parameters of a whole layer on its
//! accelerator. No I/O happens here.

mod calibrate;
mod codes;
mod config;
mod dynamic;
mod emit;
mod error;
mod float_target;
mod floats;
mod layer;
pub mod method;
mod observed;
mod patterns;
mod plan;
mod prepare;
mod quantized;
mod realize;
mod result;
pub mod search;
mod simulated;
pub mod statistics;
mod target;
mod watch;
pub mod weights;

pub use calibrate::{Calibrated, TensorFigures, UnitFigures, calibrate};
pub use codes::{CodeSetting, TensorCodes};
pub use config::{Config, LayerSetting, Rule, Which};
pub use dynamic::code_weights;
pub use error::QuantizeError;
pub use float_target::{BlockScales, FloatTarget, ShortFloats};
pub use layer::{
    ChannelOutcome, LAYER_METHODS, LayerClass, LayerInput, LayerMethod, LayerOutcome, LayerParameters,
    LayerProblem, Targets, WeightCodes,
};
pub use observed::{Histogram, Observed, ObservedChannels, Uniform};
pub use plan::{Plan, Unit};
pub use prepare::prepare;
pub use quantized::quantize;
pub use realize::realize;
pub use result::Quantized;
pub use simulated::{Sample, Simulated};
pub use target::{Parameters, Range, Scales, Symmetry, Target};
pub use watch::Watch;
