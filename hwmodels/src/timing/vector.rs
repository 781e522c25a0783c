//! A vector engine: `rows * cols` lanes, each with one output, take `dot_width` products per cycle.
//!
//! The outputs that the lanes hold at a time depend on the array's kind:
//!
//! - `outputs`: any outputs, dealt in the order of the output tensor, or as in `folded` if that is faster;
//! - `channels`: channels of one pixel. A dot product takes `taps * ceil(depth / dot_width)` steps, since a
//!   step serves one cell of the window (NVDLA's atomic operation). Each step serves a stripe of at least
//!   `stripe` pixels before the next one;
//! - `folded`: channels of one pixel, in `ceil(K / dot_width)` steps (FINN's PE and SIMD);
//! - `block`: rows hold pixels, columns hold channels.
//!
//! Channels are the channels of the groups that run side by side. All groups do, except in kind `channels`,
//! unless `array.depthwise` states otherwise. Every level adds in its lane. The engine has no fill or drain
//! time.

use super::layer::{Layer, Pass, Slot};
use super::sizes::{product, touched};
use crate::ArrayKind;

pub(super) fn pass(layer: &Layer) -> Pass {
    let engine = Engine::new(layer);
    let terms = layer.gemm.terms;
    // A fold serves at most as many distinct channels as there are lanes, for as many pixels as they cover.
    let shared = engine.channels.clamp(1, engine.lanes);
    let pixels = engine.lanes.div_ceil(shared);
    Pass {
        grid: [engine.turns(), engine.tiles(), 1],
        unit: match engine.kind {
            ArrayKind::Outputs => [pixels, shared, terms],
            ArrayKind::Channels | ArrayKind::Folded => [1, engine.lanes, terms],
            ArrayKind::Block => [engine.rows, engine.cols, terms],
        },
        preload: 0,
        steps: engine.steps,
        skew: 0,
        drain: 0,
    }
}

/// Returns the activations and weights that the lanes in use read, over all groups. Sums stay.
pub(super) fn reads(layer: &Layer) -> [u64; 3] {
    let Engine { kind, lanes, rows, cols, pixels, channels, groups, stripe, .. } = Engine::new(layer);
    let (terms, of_group) = (layer.gemm.terms, layer.gemm.channels);
    let all_channels = of_group * layer.gemm.groups;
    match kind {
        ArrayKind::Outputs => {
            // A fold reads the activations of every pixel and group that it touches, and the weights of its
            // channels.
            let outputs = pixels * channels;
            let weights = outputs / lanes * lanes.min(channels) + (outputs % lanes).min(channels);
            [
                product([groups, terms, touched(outputs, lanes, of_group)]),
                product([groups, terms, weights]),
                0,
            ]
        }
        ArrayKind::Channels => {
            let stripes = (pixels / stripe).max(1);
            let activations = product([pixels, terms, layer.touched(lanes)]);
            [activations, product([stripes, terms, all_channels]), 0]
        }
        ArrayKind::Folded => {
            let activations = product([pixels, terms, layer.touched(lanes)]);
            [activations, product([pixels, terms, all_channels]), 0]
        }
        ArrayKind::Block => {
            let activations = product([pixels, terms, layer.touched(cols)]);
            [activations, product([pixels.div_ceil(rows), terms, all_channels]), 0]
        }
    }
}

pub(super) fn slot(layer: &Layer, pixel: usize, channel: usize, k: usize) -> Slot {
    let engine = Engine::new(layer);
    let step = k / layer.array.dot_width;
    let (group, channel) = (channel / engine.channels, channel % engine.channels);
    let (at, offset, lane) = match layer.array.kind {
        ArrayKind::Outputs => {
            let output = pixel * engine.channels + channel;
            ([output / engine.lanes, 0, 0], step, output % engine.lanes)
        }
        ArrayKind::Channels | ArrayKind::Folded => {
            // The steps of a stripe follow each other, each for all of its pixels. The last stripe takes the
            // remainder.
            let stripes = (engine.pixels / engine.stripe).max(1);
            let start = (pixel / engine.stripe).min(stripes - 1) * engine.stripe;
            let length =
                if start / engine.stripe == stripes - 1 { engine.turns() - start } else { engine.stripe };
            let in_tile = start * engine.steps + step * length + (pixel - start);
            let tile = channel / engine.lanes;
            ([in_tile / engine.steps, tile, 0], in_tile % engine.steps, channel % engine.lanes)
        }
        ArrayKind::Block => {
            let (rows, cols) = (layer.array.rows, layer.array.cols);
            ([pixel / rows, channel / cols, 0], step, pixel % rows * cols + channel % cols)
        }
    };
    Slot { group, at, offset, row: lane / layer.array.cols, col: lane % layer.array.cols }
}

/// Layer as the engine sees it.
struct Engine {
    kind: ArrayKind,
    lanes: usize,
    rows: usize,
    cols: usize,
    pixels: usize,
    /// Channels of the groups that run side by side.
    channels: usize,
    /// Number of times that groups run one after the other.
    groups: usize,
    /// Steps of a dot product.
    steps: usize,
    stripe: usize,
}

impl Engine {
    fn new(layer: &Layer) -> Self {
        let (array, gemm) = (layer.array, layer.gemm);
        let of_channels = array.kind == ArrayKind::Channels;
        let cells = gemm.terms / gemm.depth.max(1);
        Self {
            kind: array.kind,
            lanes: array.rows * array.cols,
            rows: array.rows,
            cols: array.cols,
            pixels: gemm.pixels,
            channels: layer.channels().max(1),
            groups: layer.groups.times,
            steps: if of_channels { cells * gemm.depth.div_ceil(array.dot_width) } else { layer.steps() }
                .max(1),
            stripe: if of_channels { array.stripe } else { 1 },
        }
    }

    /// Returns the number of stretches of channels.
    fn tiles(&self) -> usize {
        match self.kind {
            ArrayKind::Outputs => 1,
            ArrayKind::Channels | ArrayKind::Folded => self.channels.div_ceil(self.lanes),
            ArrayKind::Block => self.channels.div_ceil(self.cols),
        }
    }

    /// Returns the dot products that a lane computes in one tile, including idle ones.
    fn turns(&self) -> usize {
        match self.kind {
            ArrayKind::Outputs => (self.pixels * self.channels).div_ceil(self.lanes),
            ArrayKind::Channels | ArrayKind::Folded => self.pixels.max(self.stripe),
            ArrayKind::Block => self.pixels.div_ceil(self.rows),
        }
    }
}
