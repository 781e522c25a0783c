//! Activations stay: rows hold products, columns hold pixels; sums move down the columns, channel after channel.
//!
//! Folds walk all row tiles of the products of a pixel tile, then the next pixel tile. After `rows` cycles of
//! loading activations, the element in row `r` and column `c` serves channel `n` in cycle `n + r + c`. The
//! innermost level adds there; outer levels add below the bottom row, when the sum arrives.

use super::mapping::{Fold, Layer, Slot};

pub(super) fn fold(layer: &Layer) -> Fold {
    let (rows, cols) = (layer.array.rows, layer.array.cols);
    let pixel_tiles = layer.pixel_tiles(cols);
    let channels = layer.gemm.channels;
    let lanes = rows * layer.array.dot_width;
    Fold {
        count: layer.steps().div_ceil(rows) * pixel_tiles,
        groups: layer.gemm.groups,
        preload: rows,
        steps: channels,
        skew: rows + cols - 2,
        // The activations of a fold are loaded while the one before computes.
        interval: channels.max(rows),
        drain: 0,
        reads: [lanes * cols, lanes * channels],
        passes: [1, pixel_tiles],
    }
}

pub(super) fn slot(layer: &Layer, pixel: usize, channel: usize, k: usize, level: usize) -> Slot {
    let (rows, cols) = (layer.array.rows, layer.array.cols);
    let (group, channel) = layer.group(channel);
    let step = k / layer.array.dot_width;
    let row = if level == 0 { step % rows } else { rows - 1 };
    let col = pixel % cols;
    Slot {
        group,
        fold: pixel / cols * layer.steps().div_ceil(rows) + step / rows,
        offset: rows + channel + row + col,
        row,
        col,
    }
}
