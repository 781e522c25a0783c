//! Activations stay: rows hold products, columns hold pixels; sums move down the columns, channel after channel.
//!
//! Folds walk all products of a row of pixels, then the next pixels; channels are cut where the SRAMs demand it. After
//! `rows` cycles of loading activations, the element in row `r` and column `c` serves channel `n` of the fold in
//! cycle `n + r + c`. The chain and the levels below it add there; outer levels add below the bottom row, when the sum
//! arrives. The activations of a fold are loaded, row by row, while the one before computes.

use super::mapping::{Layer, Pass, Runs, Slot, product};

pub(super) fn pass(layer: &Layer) -> Pass {
    let (rows, cols) = (layer.array.rows, layer.array.cols);
    let channels = layer.stream;
    let passes = layer.chain.passes();
    Pass {
        grid: [layer.pixel_tiles(cols), layer.channel_tiles(channels), passes.count()],
        unit: [cols, channels, layer.chain.terms_of_pass()],
        preload: rows,
        steps: channels,
        skew: rows + cols - 2,
        drain: 0,
    }
}

/// From the start of a fold to that of the next one: channel after channel, or row after row.
pub(super) fn intervals(layer: &Layer) -> Runs {
    layer.chain.intervals(layer.stream)
}

/// Activations for every part of the channels, weights for every row of pixels, and sums written and read in every
/// pass, of all groups.
pub(super) fn reads(layer: &Layer) -> [u64; 3] {
    let gemm = layer.gemm;
    [
        product([gemm.groups, gemm.pixels, gemm.terms, layer.channel_tiles(layer.stream)]),
        product([gemm.groups, gemm.channels, gemm.terms, layer.pixel_tiles(layer.array.cols)]),
        product([gemm.groups, gemm.pixels, gemm.channels, 2 * layer.chain.sums()]),
    ]
}

pub(super) fn slot(layer: &Layer, pixel: usize, channel: usize, k: usize, level: usize) -> Slot {
    let cols = layer.array.cols;
    let (group, channel) = layer.group(channel);
    let (pass, row) = layer.chain.place(k, level);
    let col = pixel % cols;
    Slot {
        group,
        at: [pixel / cols, channel / layer.stream, pass],
        offset: layer.array.rows + channel % layer.stream + row + col,
        row,
        col,
    }
}
