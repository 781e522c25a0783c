//! One operand stays: rows hold products, columns hold channels (weights stay) or pixels (activations stay); sums move
//! down the columns, one pixel or one channel after the other.
//!
//! With weights that stay, folds walk all products of a row of channels, then the next channels; pixels are cut where the
//! SRAMs demand it. After `rows` cycles of loading weights, the element in row `r` and column `c` serves pixel `m` of the
//! fold in cycle `m + r + c`. The chain and the levels below it add there; outer levels add below the bottom row, when the
//! sum arrives. The weights of a fold are loaded, row by row, while the one before computes. With activations that stay,
//! pixels and channels change places.

use super::mapping::{Layer, Pass, Runs, Slot, product};

/// The operand that stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stationary {
    Weights,
    Activations,
}

impl Stationary {
    /// Of what streams and what the columns hold: what is of pixels and what is of channels. And back.
    fn swap<T>(self, [streamed, stays]: [T; 2]) -> [T; 2] {
        match self {
            Self::Weights => [streamed, stays],
            Self::Activations => [stays, streamed],
        }
    }

    /// Pixels and channels of a fold that uses the whole array.
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

/// From the start of a fold to that of the next one: what streams, one after the other, or row after row.
pub(super) fn intervals(layer: &Layer) -> Runs {
    layer.chain.intervals(layer.stream)
}

/// Activations for every part of the channels, weights for every part of the pixels, and sums written and read in every
/// pass, of all groups.
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
    (pixel, channel): (usize, usize),
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
