//! Float networks to quantized ones, with the accumulator in the loop.
//!
//! A [`Target`] says which codes a tensor is to have, a [`method::Method`] which real values they are to cover, from
//! what was [`Observed`] of the tensor. No I/O happens here.

pub mod method;
mod observed;
mod target;
pub mod weights;

pub use observed::{Histogram, Observed, ObservedChannels, Uniform};
pub use target::{Parameters, Range, Scales, Symmetry, Target};
