//! Bit-exact integers of a run-time width.
//!
//! What hardware does to an integer that is too wide for its register ([`Overflow`], [`Format`],
//! [`Accumulator`]), how bits are dropped ([`Rounding`]), and how a sum becomes a code again
//! ([`Requantizer`], [`Scheme`]). Everything here is a pure function of its arguments; values travel as
//! `i128`, so that no intermediate result of a 64-bit datapath can be lost.

mod accumulator;
pub mod fixed_point;
mod format;
mod multiplier;
mod overflow;
mod philox;
mod quantize;
mod requantize;
mod rounding;

pub use accumulator::Accumulator;
pub use format::{Format, MAX_BITS, MIN_BITS, WidthError, required_bits};
pub use multiplier::{Multiplier, MultiplierError};
pub use overflow::{Beyond, Direction, Fit, Overflow, Rails};
pub use philox::philox4x64;
pub use quantize::{Quantizing, UnknownQuantizing};
pub use requantize::{Requantizer, Scale32, Scheme};
pub use rounding::{Rounding, stochastic_shift_right};
