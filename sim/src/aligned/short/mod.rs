//! Aligned additions of products of codes of at most 8 bits, in lanes of 32 bits.
//!
//! Weights of a block are integers in units of their least exponent. Their product with the significand of an activation
//! is exact in 32 bits, and one shift aligns it. Whether a product loses bits, or all of them, follows from sums of bytes
//! or short integers of both codes. Activations of zero are left out: their exponents lie below those of all other terms.

mod adding;
mod code;
mod lanes;
mod rows;
mod walk;
mod window;

pub(super) use adding::most;
pub(super) use lanes::ShortLanes;
pub(super) use rows::{ShortRow, ShortRows};
pub(super) use walk::{ShortSums, TILE};
pub(super) use window::{Addition, Nonzero, ShortWindow};
