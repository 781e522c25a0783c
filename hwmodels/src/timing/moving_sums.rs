//! Weight and input stationary dataflows. Rows hold products. Columns hold channels (weights stay) or pixels
//! (activations stay). Sums move down the columns, one pixel or one channel after the other.
//!
//! If weights stay, folds walk all products of a row of channels, then the next channels. Pixels are cut only
//! if the SRAMs require it. After `rows` cycles of loading weights, the element in row `r` and column `c`
//! serves pixel `m` of the fold in cycle `m + r + c`. The chain and the levels inside it add there. Outer
//! levels add below the bottom row when the sum arrives. The weights of a fold are loaded row by row while
//! the previous fold computes. If activations stay, pixels and channels swap roles.

use super::layer::{Layer, Pass, Slot};
use super::sizes::{Runs, product};

/// Stationary operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stationary {
    Weights,
    Activations,
}

impl Stationary {
    /// Maps a pair for (streamed operand, columns) to a pair for (pixels, channels), and back.
    fn swap<T>(self, [streamed, stays]: [T; 2]) -> [T; 2] {
        match self {
            Self::Weights => [streamed, stays],
            Self::Activations => [stays, streamed],
        }
    }

    /// Returns the pixels and channels of a fold that uses the whole array.
    fn unit(self, layer: &Layer) -> [usize; 2] {
        self.swap([layer.stream, layer.array.cols])
    }
}

pub(super) fn pass(layer: &Layer, stationary: Stationary) -> Pass {
    let (rows, cols) = (layer.array.rows, layer.array.cols);
    let [pixels, channels] = stationary.unit(layer);
    let passes = layer.chain.passes();
    Pass {
        grid: [layer.pixel_tiles(pixels), layer.channel_tiles(channels), passes.count()],
        unit: [pixels, channels, layer.chain.terms_of_pass()],
        preload: rows,
        steps: layer.stream,
        skew: rows + cols - 2,
        drain: 0,
    }
}

/// Returns the distance from the start of a fold to the start of the next one: the length of the stream, or
/// the rows to load.
pub(super) fn intervals(layer: &Layer) -> Runs {
    layer.chain.intervals(layer.stream)
}

/// Returns the elements read, over all groups: activations for every part of the channels, weights for every
/// part of the pixels, and sums written and read in every pass.
pub(super) fn reads(layer: &Layer, stationary: Stationary) -> [u64; 3] {
    let gemm = layer.gemm;
    let [pixels, channels] = stationary.unit(layer);
    [
        product([gemm.groups, gemm.pixels, gemm.terms, layer.channel_tiles(channels)]),
        product([gemm.groups, gemm.channels, gemm.terms, layer.pixel_tiles(pixels)]),
        product([gemm.groups, gemm.pixels, gemm.channels, 2 * layer.chain.sums()]),
    ]
}

pub(super) fn slot(
    layer: &Layer,
    stationary: Stationary,
    pixel: usize,
    channel: usize,
    k: usize,
    level: usize,
) -> Slot {
    let [pixels, channels] = stationary.unit(layer);
    let (time, group, channel) = layer.group(channel);
    let (pass, row) = layer.chain.place(group, k, level);
    let [step, col] = stationary.swap([pixel % pixels, channel % channels]);
    Slot {
        group: time,
        at: [pixel / pixels, channel / channels, pass],
        offset: layer.array.rows + step + row + col,
        row,
        col,
    }
}
