//! Input and output of a dataflow: a layer on an array, and its use of the array.

use super::chain::Chain;
use super::gemm::Gemm;
use super::groups::Groups;
use super::sizes::{times, touched};
use crate::Array;

/// Input of a dataflow: the matrix product and the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layer {
    /// Array whose products per step are whole runs.
    pub array: Array,
    pub gemm: Gemm,
    /// Placement of dot products in the rows of an array through which sums move.
    pub chain: Chain,
    pub groups: Groups,
    /// Number of pixels (weight stationary) or channels (input stationary) that stream through one fold.
    pub stream: usize,
}

/// Use of the array by a dataflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pass {
    /// Folds along pixels, channels and terms.
    pub grid: [usize; 3],
    /// Pixels, channels and terms of a fold that uses the whole array.
    pub unit: [usize; 3],
    pub preload: usize,
    pub steps: usize,
    pub skew: usize,
    pub drain: usize,
}

/// Place of an addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub group: usize,
    /// Index of the fold along pixels, channels and terms.
    pub at: [usize; 3],
    /// Cycles since the start of the fold.
    pub offset: usize,
    pub row: usize,
    pub col: usize,
}

impl Layer {
    /// Returns the number of channels of the groups that run at the same time.
    pub fn channels(&self) -> usize {
        times([self.gemm.channels, self.groups.abreast])
    }

    /// Returns the steps of a dot product; each processing element takes `dot_width` products per step.
    pub fn steps(&self) -> usize {
        self.gemm.terms.div_ceil(self.array.dot_width)
    }

    /// Returns the number of tiles of `size` pixels.
    pub fn pixel_tiles(&self, size: usize) -> usize {
        self.gemm.pixels.div_ceil(size)
    }

    /// Returns the number of tiles of `size` channels, among the channels of groups that run at the same
    /// time.
    pub fn channel_tiles(&self, size: usize) -> usize {
        self.channels().div_ceil(size)
    }

    /// Returns the position of a channel: how many times groups run before it, its group among those that run
    /// with it, and its index among their channels.
    pub fn group(&self, channel: usize) -> (usize, usize, usize) {
        let place = channel % self.channels();
        (channel / self.channels(), place / self.gemm.channels, place)
    }

    /// Returns the number of pairs of a stretch of `size` channels and a group that it touches, over all
    /// groups.
    pub fn touched(&self, size: usize) -> usize {
        let Self { gemm, groups, .. } = self;
        let of = |groups: usize| touched(times([gemm.channels, groups]), size, gemm.channels);
        let others = groups.times - 1;
        times([others, of(groups.abreast)]).saturating_add(of(gemm.groups - others * groups.abreast))
    }
}
