//! Output stationary: rows hold pixels, columns hold channels, activations stream from the left and weights
//! from above.
//!
//! Unless tiles are larger, folds walk all pixels of a row of channels, then the next channels. The element
//! in row `r` and column `c` takes step `t` in cycle `t + r + c` of its fold, and every level adds there. The
//! sums of a fold leave through its columns, row by row, while the next fold computes.

use super::layer::{Layer, Pass, Slot};
use super::sizes::{Runs, product};

pub(super) fn pass(layer: &Layer) -> Pass {
    let (rows, cols) = (layer.array.rows, layer.array.cols);
    Pass {
        grid: [layer.pixel_tiles(rows), layer.channel_tiles(cols), 1],
        unit: [rows, cols, layer.gemm.terms],
        preload: 0,
        steps: steps(layer),
        skew: rows + cols - 2,
        drain: rows,
    }
}

/// Returns the steps of a fold: the steps of a dot product, for every group whose products take turns.
fn steps(layer: &Layer) -> usize {
    layer.steps() * if layer.groups.in_turn { layer.groups.abreast } else { 1 }
}

/// Returns the distance from the start of a fold to the start of the next one: the steps of a dot product, or
/// the cycles in which sums leave, whichever is longer.
pub(super) fn intervals(layer: &Layer) -> Runs {
    Runs::cut(layer.gemm.pixels, layer.array.rows).map(|rows| rows.max(steps(layer)))
}

/// Returns the elements read, over all groups: activations for every row of channels, weights for every row
/// of pixels. Sums stay.
pub(super) fn reads(layer: &Layer) -> [u64; 3] {
    let gemm = layer.gemm;
    [
        product([gemm.pixels, gemm.terms, layer.touched(layer.array.cols)]),
        product([gemm.groups, gemm.channels, gemm.terms, layer.pixel_tiles(layer.array.rows)]),
        0,
    ]
}

pub(super) fn slot(layer: &Layer, pixel: usize, channel: usize, k: usize) -> Slot {
    let (rows, cols) = (layer.array.rows, layer.array.cols);
    let (time, group, channel) = layer.group(channel);
    let (row, col) = (pixel % rows, channel % cols);
    let before = if layer.groups.in_turn { group * layer.steps() } else { 0 };
    Slot {
        group: time,
        at: [pixel / rows, channel / cols, 0],
        offset: before + k / layer.array.dot_width + row + col,
        row,
        col,
    }
}
