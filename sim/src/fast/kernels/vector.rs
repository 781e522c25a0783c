//! Lanes aligned for vector registers.

use std::fmt::Debug;
use std::ops::{Deref, DerefMut};

use super::LANES;

/// Integer type of vector lanes.
pub(crate) trait InVector: Copy {
    /// Zero-sized type with the alignment of a vector. Loads and stores that cross a cache line take twice as
    /// long, and those that cross a page many times as long.
    type Begin: Copy + Eq + Debug;
}

/// Alignment to 32 bytes, half a cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(32))]
pub(crate) struct HalfLine;

/// Alignment to a cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Line;

impl InVector for i16 {
    type Begin = HalfLine;
}

impl InVector for i32 {
    type Begin = Line;
}

impl InVector for i128 {
    type Begin = Line;
}

impl InVector for i64 {
    type Begin = Line;
}

/// One value per lane, aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Vector<V: InVector> {
    begin: [V::Begin; 0],
    lanes: [V; LANES],
}

impl<V: InVector> Vector<V> {
    pub const fn new(lanes: [V; LANES]) -> Self {
        Self { begin: [], lanes }
    }
}

impl<V: InVector> Deref for Vector<V> {
    type Target = [V; LANES];

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.lanes
    }
}

impl<V: InVector> DerefMut for Vector<V> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.lanes
    }
}
