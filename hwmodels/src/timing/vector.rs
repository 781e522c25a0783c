//! A vector engine: `rows * cols` lanes, each with one output, take `dot_width` products per cycle.
//!
//! Outputs are dealt to the lanes in the order of the output tensor, over all groups; every level adds in its
//! lane. Nothing has to be filled or drained.

use super::mapping::{Fold, Layer, Slot};

pub(super) fn fold(layer: &Layer) -> Fold {
    let lanes = lanes(layer);
    let channels = channels(layer);
    let outputs = layer.gemm.pixels * channels;
    // A fold serves at most `lanes` different channels, of as many pixels as they cover.
    let shared = channels.clamp(1, lanes);
    Fold {
        count: outputs.div_ceil(lanes),
        groups: 1,
        preload: 0,
        steps: layer.steps(),
        skew: 0,
        interval: layer.steps(),
        drain: 0,
        reads: [lanes.div_ceil(shared) * layer.gemm.terms, shared * layer.gemm.terms],
        passes: [channels.div_ceil(lanes), layer.gemm.pixels.div_ceil(lanes.div_ceil(shared))],
    }
}

pub(super) fn slot(layer: &Layer, pixel: usize, channel: usize, k: usize) -> Slot {
    let output = pixel * channels(layer) + channel;
    let lane = output % lanes(layer);
    Slot {
        group: 0,
        fold: output / lanes(layer),
        offset: k / layer.array.dot_width,
        row: lane / layer.array.cols,
        col: lane % layer.array.cols,
    }
}

fn lanes(layer: &Layer) -> usize {
    layer.array.rows * layer.array.cols
}

fn channels(layer: &Layer) -> usize {
    layer.gemm.channels * layer.gemm.groups
}
