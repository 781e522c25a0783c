//! Loops of the fast engine as plain safe code over arrays of lanes.
//!
//! A lane is an output channel. The products of one dot product are added one after the other; those of
//! [`LANES`] channels and of up to `P` pixels are added in parallel. The functions are inlined into the
//! bodies of [`simd`](super::simd), each of which compiles them for another set of vector instructions.

mod activations;
mod codes;
mod counting;
mod lane;
mod runs;
mod sort;
mod stepping;
mod sums;
mod vector;
mod widths;

use std::ops::{Deref, DerefMut};

pub(crate) use activations::*;
pub(crate) use codes::*;
pub(crate) use counting::*;
pub(crate) use lane::*;
pub(crate) use runs::*;
pub(crate) use sort::*;
pub(crate) use stepping::*;
pub(crate) use sums::*;
pub(crate) use vector::*;
pub(crate) use widths::*;

/// Number of output channels that are computed in parallel.
pub(crate) const LANES: usize = 16;

/// Greatest number of pixels that are passed to a kernel at once.
pub(crate) const TILE: usize = 32;

/// One 16-bit operand per lane.
pub(crate) type Row = [i16; LANES];

/// One 32-bit integer per lane.
pub(crate) type Lanes = [i32; LANES];

/// Two operands per lane, of two consecutive steps.
pub(crate) type Pair = [i16; 2 * LANES];

/// Value aligned like a vector, so that no vector crosses a cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Aligned<T>(pub T);

impl<T> Deref for Aligned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// Exact sums of one pixel: their final values and the extremes over their prefixes and the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Walked {
    pub sum: Lanes,
    pub min: Lanes,
    pub max: Lanes,
}

impl Walked {
    pub const ZERO: Self = Self { sum: [0; LANES], min: [0; LANES], max: [0; LANES] };
}

/// Narrow sums of one pixel and its overflows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Stepped {
    pub value: Lanes,
    pub high: Lanes,
    pub low: Lanes,
}

impl Stepped {
    pub const ZERO: Self = Self { value: [0; LANES], high: [0; LANES], low: [0; LANES] };
}
