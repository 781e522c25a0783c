//! Searches over the settings of a whole network, judged by its outputs on the accelerator.
//!
//! - [`Judge`]: the distance of a quantized network's outputs from those of the float network, with overflows
//!   of every layer propagated.
//! - [`quantize_aimed`]: a network quantized by a method for layers, with the widths of activations chosen,
//!   and never worse than without that method.
//! - [`mixed`]: widths per layer under a budget, with all trade-offs that were visited.

mod aimed;
mod judge;
pub mod mixed;
mod paired;
mod some_layers;

pub use aimed::{Aimed, quantize_aimed, quantize_watched};
pub use judge::{Judge, SampleScore, Score};
pub use paired::is_significant;
pub use some_layers::SomeLayers;
