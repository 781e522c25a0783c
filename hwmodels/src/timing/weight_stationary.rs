//! Weights stay: rows hold products, columns hold channels; sums move down the columns, pixel after pixel.
//!
//! Folds walk all row tiles of the products of a channel tile, then the next channel tile. After `rows` cycles of
//! loading weights, the element in row `r` and column `c` serves pixel `m` in cycle `m + r + c`. The innermost
//! level adds there; outer levels add below the bottom row, when the sum arrives.

use super::mapping::{Fold, Layer, Slot};

pub(super) fn fold(layer: &Layer) -> Fold {
    let (rows, cols) = (layer.array.rows, layer.array.cols);
    let channel_tiles = layer.channel_tiles(cols);
    let pixels = layer.gemm.pixels;
    let lanes = rows * layer.array.dot_width;
    Fold {
        count: layer.steps().div_ceil(rows) * channel_tiles,
        groups: layer.gemm.groups,
        preload: rows,
        steps: pixels,
        skew: rows + cols - 2,
        // The weights of a fold are loaded while the one before computes.
        interval: pixels.max(rows),
        drain: 0,
        reads: [lanes * pixels, lanes * cols],
        passes: [channel_tiles, 1],
    }
}

pub(super) fn slot(layer: &Layer, pixel: usize, channel: usize, k: usize, level: usize) -> Slot {
    let (rows, cols) = (layer.array.rows, layer.array.cols);
    let (group, channel) = layer.group(channel);
    let step = k / layer.array.dot_width;
    let row = if level == 0 { step % rows } else { rows - 1 };
    let col = channel % cols;
    Slot {
        group,
        fold: channel / cols * layer.steps().div_ceil(rows) + step / rows,
        offset: rows + pixel + row + col,
        row,
        col,
    }
}
