//! Searches over the settings of a whole network, by what its outputs are on the accelerator.
//!
//! - [`Judge`]: how far a quantized network's outputs are from the float one's, overflow of every layer propagated.
//! - [`quantize_aimed`]: a network quantized by a method for layers, with the widths of activations chosen, and never worse
//!   than without that method.
//! - [`mixed`]: widths per layer under a budget, with all trade-offs that were met on the way.

mod aimed;
mod judge;
pub mod mixed;
mod paired;
mod some_layers;

pub use aimed::{Aimed, quantize_aimed, quantize_watched};
pub use judge::{Judge, SampleScore, Score};
pub use paired::is_significant;
pub use some_layers::SomeLayers;
