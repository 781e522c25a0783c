//! Activations stay: rows hold products, columns hold pixels; sums move down the columns, channel after channel.
//!
//! Folds walk all products of a row of pixels, then the next pixels; channels are cut where the SRAMs demand it. After
//! `rows` cycles of loading activations, the element in row `r` and column `c` serves channel `n` of the fold in
//! cycle `n + r + c`. The innermost level adds there; outer levels add below the bottom row, when the sum arrives.

use super::mapping::{Layer, Pass, Slot};

pub(super) fn pass(layer: &Layer) -> Pass {
    let (rows, cols) = (layer.array.rows, layer.array.cols);
    let channels = layer.stream;
    let lanes = rows * layer.array.dot_width;
    Pass {
        grid: [layer.pixel_tiles(cols), layer.channel_tiles(channels), layer.steps().div_ceil(rows)],
        unit: [cols, channels, lanes],
        preload: rows,
        steps: channels,
        skew: rows + cols - 2,
        // The activations of a fold are loaded while the one before computes.
        interval: channels.max(rows),
        drain: 0,
        reads: [lanes * cols, lanes * channels],
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
        at: [pixel / cols, channel / layer.stream, step / rows],
        offset: rows + channel % layer.stream + row + col,
        row,
        col,
    }
}
