//! Weights stay: rows hold products, columns hold channels; sums move down the columns, pixel after pixel.
//!
//! Folds walk all products of a row of channels, then the next channels; pixels are cut where the SRAMs demand it. After
//! `rows` cycles of loading weights, the element in row `r` and column `c` serves pixel `m` of the fold in cycle
//! `m + r + c`. The innermost level adds there; outer levels add below the bottom row, when the sum arrives.

use super::mapping::{Layer, Pass, Slot};

pub(super) fn pass(layer: &Layer) -> Pass {
    let (rows, cols) = (layer.array.rows, layer.array.cols);
    let pixels = layer.stream;
    let lanes = rows * layer.array.dot_width;
    Pass {
        grid: [layer.pixel_tiles(pixels), layer.channel_tiles(cols), layer.steps().div_ceil(rows)],
        unit: [pixels, cols, lanes],
        preload: rows,
        steps: pixels,
        skew: rows + cols - 2,
        // The weights of a fold are loaded while the one before computes.
        interval: pixels.max(rows),
        drain: 0,
        reads: [lanes * pixels, lanes * cols],
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
        at: [pixel / layer.stream, channel / cols, step / rows],
        offset: rows + pixel % layer.stream + row + col,
        row,
        col,
    }
}
