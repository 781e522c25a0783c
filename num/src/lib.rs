//! Bit-exact integers with a width chosen at run time.
//!
//! The crate defines what hardware does with an integer that is too wide for its register ([`Overflow`], [`Format`],
//! [`Accumulator`]), how low bits are dropped ([`Rounding`]), and how a sum becomes a code ([`Requantizer`],
//! [`Scheme`]). Every function is pure. Values have type `i128`, so that no intermediate result of a 64-bit datapath
//! is lost. [`FloatFormat`] holds the small floating-point formats of matrix units, in integers, too.

mod accumulator;
mod aligned;
pub mod fixed_point;
mod float;
mod format;
mod multiplier;
mod overflow;
mod philox;
mod quantize;
mod requantize;
mod rounding;

pub use accumulator::Accumulator;
pub use aligned::{
    AlignedDot, AlignedRule, AlignedSum, BlockScales, FixedDot, FloatDot, Incoming, MatrixUnit, OrdinaryDot,
    RegisterUse, Term,
};
pub use float::{
    Decoded, Dyadic, FloatFormat, FloatOverflow, FloatRounding, PairwiseDot, RoundedSum, Specials,
    UnknownFloatFormat,
};
pub use format::{Format, MAX_BITS, MIN_BITS, WidthError, required_bits};
pub use multiplier::{Multiplier, MultiplierError};
pub use overflow::{Beyond, Direction, Fit, Overflow, Rails};
pub use philox::{PHILOX_MULTIPLIERS, PHILOX_ROUNDS, PHILOX_STEPS, philox4x32};
pub use quantize::{Quantizing, UnknownQuantizing};
pub use requantize::{Requantizer, Scale32, Scheme};
pub use rounding::{Rounding, stochastic_shift_right};
