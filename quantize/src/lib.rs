//! Float networks to quantized ones, with the accelerator in the loop.
//!
//! A [`Target`] says which codes a tensor is to have, a [`method::Method`] which real values they are to cover, from
//! what was [`Observed`] of the tensor; a [`LayerMethod`] chooses for a whole layer on its accelerator. No I/O happens
//! here.

mod error;
mod layer;
pub mod method;
mod observed;
pub mod statistics;
mod target;

pub use error::QuantizeError;
pub use layer::{
    LayerClass, LayerInput, LayerMethod, LayerOutcome, LayerParameters, LayerProblem, Targets, WeightCodes,
};
pub use observed::{Histogram, Observed, ObservedChannels, Uniform};
pub use target::{Parameters, Range, Scales, Symmetry, Target};
