//! Sums stay: rows hold pixels, columns hold channels; activations stream from the left, weights from above.
//!
//! Folds walk all pixel tiles of a channel tile, then the next channel tile. The element in row `r` and column
//! `c` takes step `t` in cycle `t + r + c` of its fold; every level adds there.

use super::mapping::{Fold, Layer, Slot};

pub(super) fn fold(layer: &Layer) -> Fold {
    let (rows, cols) = (layer.array.rows, layer.array.cols);
    let channel_tiles = layer.channel_tiles(cols);
    Fold {
        count: layer.pixel_tiles(rows) * channel_tiles,
        groups: layer.gemm.groups,
        preload: 0,
        steps: layer.steps(),
        skew: rows + cols - 2,
        // The sums of a fold leave through its columns while the next fold computes.
        interval: layer.steps().max(rows),
        drain: rows,
        reads: [rows * layer.gemm.terms, cols * layer.gemm.terms],
        passes: [channel_tiles, 1],
    }
}

pub(super) fn slot(layer: &Layer, pixel: usize, channel: usize, k: usize) -> Slot {
    let (rows, cols) = (layer.array.rows, layer.array.cols);
    let (group, channel) = layer.group(channel);
    let (row, col) = (pixel % rows, channel % cols);
    Slot {
        group,
        fold: channel / cols * layer.pixel_tiles(rows) + pixel / rows,
        offset: k / layer.array.dot_width + row + col,
        row,
        col,
    }
}
