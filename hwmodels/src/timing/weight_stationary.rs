//! Weights stay: rows hold products, columns hold channels; sums move down the columns, pixel after pixel.
//!
//! Folds walk all products of a row of channels, then the next channels; pixels are cut where the SRAMs demand it. After
//! `rows` cycles of loading weights, the element in row `r` and column `c` serves pixel `m` of the fold in cycle
//! `m + r + c`. The chain and the levels below it add there; outer levels add below the bottom row, when the sum
//! arrives. The weights of a fold are loaded, row by row, while the one before computes.

use super::mapping::{Layer, Pass, Runs, Slot, product};

pub(super) fn pass(layer: &Layer) -> Pass {
    let (rows, cols) = (layer.array.rows, layer.array.cols);
    let pixels = layer.stream;
    let passes = layer.chain.passes();
    Pass {
        grid: [layer.pixel_tiles(pixels), layer.channel_tiles(cols), passes.count()],
        unit: [pixels, cols, layer.chain.terms_of_pass()],
        preload: rows,
        steps: pixels,
        skew: rows + cols - 2,
        drain: 0,
    }
}

/// From the start of a fold to that of the next one: pixel after pixel, or row after row.
pub(super) fn intervals(layer: &Layer) -> Runs {
    layer.chain.intervals(layer.stream)
}

/// Activations for every row of channels, weights for every part of the pixels, and sums written and read in every
/// pass, of all groups.
pub(super) fn reads(layer: &Layer) -> [u64; 3] {
    let gemm = layer.gemm;
    [
        product([gemm.groups, gemm.pixels, gemm.terms, layer.channel_tiles(layer.array.cols)]),
        product([gemm.groups, gemm.channels, gemm.terms, layer.pixel_tiles(layer.stream)]),
        product([gemm.groups, gemm.pixels, gemm.channels, 2 * layer.chain.sums()]),
    ]
}

pub(super) fn slot(layer: &Layer, pixel: usize, channel: usize, k: usize, level: usize) -> Slot {
    let cols = layer.array.cols;
    let (group, channel) = layer.group(channel);
    let (pass, row) = layer.chain.place(k, level);
    let col = channel % cols;
    Slot {
        group,
        at: [pixel / layer.stream, channel / cols, pass],
        offset: layer.array.rows + pixel % layer.stream + row + col,
        row,
        col,
    }
}
