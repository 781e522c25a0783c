//! Sums stay: rows hold pixels, columns hold channels; activations stream from the left, weights from above.
//!
//! Unless tiles are larger, folds walk all pixels of a row of channels, then the next channels. The element in row `r` and column
//! `c` takes step `t` in cycle `t + r + c` of its fold; every level adds there.

use super::mapping::{Layer, Pass, Slot};

pub(super) fn pass(layer: &Layer) -> Pass {
    let (rows, cols) = (layer.array.rows, layer.array.cols);
    Pass {
        grid: [layer.pixel_tiles(rows), layer.channel_tiles(cols), 1],
        unit: [rows, cols, layer.gemm.terms],
        preload: 0,
        steps: layer.steps(),
        skew: rows + cols - 2,
        // The sums of a fold leave through its columns while the next fold computes.
        interval: layer.steps().max(rows),
        drain: rows,
        reads: [rows * layer.gemm.terms, cols * layer.gemm.terms],
    }
}

pub(super) fn slot(layer: &Layer, pixel: usize, channel: usize, k: usize) -> Slot {
    let (rows, cols) = (layer.array.rows, layer.array.cols);
    let (group, channel) = layer.group(channel);
    let (row, col) = (pixel % rows, channel % cols);
    Slot {
        group,
        at: [pixel / rows, channel / cols, 0],
        offset: k / layer.array.dot_width + row + col,
        row,
        col,
    }
}
