//! A vector engine: `rows * cols` lanes, each with one output, take `dot_width` products per cycle.
//!
//! What the lanes hold at a time is the array's kind:
//!
//! - `outputs`: any outputs, dealt in the order of the output tensor, over all groups;
//! - `channels`: channels of one pixel, groups one after the other. A dot product takes
//!   `taps * ceil(depth / dot_width)` steps, since a step serves one cell of the window (NVDLA's atomic operation).
//!   Each step serves a stripe of at least `stripe` pixels before the next one;
//! - `folded`: channels of one pixel, of all groups, in `ceil(K / dot_width)` steps (FINN's PE and SIMD);
//! - `block`: rows hold pixels, columns hold channels of all groups.
//!
//! Every level adds in its lane. Nothing has to be filled or drained.

use super::mapping::{Layer, Pass, Slot, product};
use crate::ArrayKind;

pub(super) fn pass(layer: &Layer) -> Pass {
    let engine = Engine::new(layer);
    let terms = layer.gemm.terms;
    // A fold serves at most as many different channels as there are lanes, of as many pixels as they cover.
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

/// Activations and weights that the lanes in use take, of all groups; sums stay.
pub(super) fn reads(layer: &Layer) -> [u64; 3] {
    let Engine { kind, lanes, rows, cols, pixels, channels, groups, stripe, .. } = Engine::new(layer);
    let (terms, of_group) = (layer.gemm.terms, layer.gemm.channels);
    match kind {
        ArrayKind::Outputs => {
            // A fold reads the activations of every pixel and group that it touches, and the weights of its channels.
            let outputs = pixels * channels;
            let weights = outputs / lanes * lanes.min(channels) + (outputs % lanes).min(channels);
            [product([terms, touched(outputs, lanes, of_group)]), product([terms, weights]), 0]
        }
        ArrayKind::Channels => {
            let stripes = (pixels / stripe).max(1);
            let activations = product([groups, pixels, terms, channels.div_ceil(lanes)]);
            [activations, product([groups, stripes, terms, channels]), 0]
        }
        ArrayKind::Folded => {
            let activations = product([pixels, terms, touched(channels, lanes, of_group)]);
            [activations, product([pixels, terms, channels]), 0]
        }
        ArrayKind::Block => {
            let activations = product([pixels, terms, touched(channels, cols, of_group)]);
            [activations, product([pixels.div_ceil(rows), terms, channels]), 0]
        }
    }
}

/// Pairs of a fold and a group that it touches, of `all` values in folds of `fold` and groups of `group`: a fold
/// touches one group more than there are borders of groups inside it.
fn touched(all: usize, fold: usize, group: usize) -> usize {
    if all == 0 {
        return 0;
    }
    let inside = |length: usize| (all - 1) / length.max(1);
    let both = match lcm(fold, group.max(1)) {
        Some(length) => inside(length),
        None => 0,
    };
    all.div_ceil(fold) + inside(group) - both
}

fn lcm(a: usize, b: usize) -> Option<usize> {
    let (mut gcd, mut rest) = (a, b);
    while rest != 0 {
        (gcd, rest) = (rest, gcd % rest);
    }
    (a / gcd).checked_mul(b)
}

/// Groups that run one after the other.
pub(super) fn serial_groups(layer: &Layer) -> usize {
    Engine::new(layer).groups
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
            // The steps of a stripe follow each other, each for all of its pixels; the last stripe takes the rest.
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

/// A layer as the engine sees it.
struct Engine {
    kind: ArrayKind,
    lanes: usize,
    rows: usize,
    cols: usize,
    pixels: usize,
    /// Of one group, unless groups run side by side.
    channels: usize,
    /// Groups that run one after the other.
    groups: usize,
    /// Steps of a dot product.
    steps: usize,
    stripe: usize,
}

impl Engine {
    fn new(layer: &Layer) -> Self {
        let (array, gemm) = (layer.array, layer.gemm);
        let serial_groups = array.kind == ArrayKind::Channels;
        let cells = gemm.terms / gemm.depth.max(1);
        Self {
            kind: array.kind,
            lanes: array.rows * array.cols,
            rows: array.rows,
            cols: array.cols,
            pixels: gemm.pixels,
            channels: (if serial_groups { gemm.channels } else { gemm.channels * gemm.groups }).max(1),
            groups: if serial_groups { gemm.groups } else { 1 },
            steps: if serial_groups { cells * gemm.depth.div_ceil(array.dot_width) } else { layer.steps() }
                .max(1),
            stripe: if serial_groups { array.stripe } else { 1 },
        }
    }

    /// Stretches of the channels.
    fn tiles(&self) -> usize {
        match self.kind {
            ArrayKind::Outputs => 1,
            ArrayKind::Channels | ArrayKind::Folded => self.channels.div_ceil(self.lanes),
            ArrayKind::Block => self.channels.div_ceil(self.cols),
        }
    }

    /// Dot products that a lane makes in one tile, idle ones included.
    fn turns(&self) -> usize {
        match self.kind {
            ArrayKind::Outputs => (self.pixels * self.channels).div_ceil(self.lanes),
            ArrayKind::Channels | ArrayKind::Folded => self.pixels.max(self.stripe),
            ArrayKind::Block => self.pixels.div_ceil(self.rows),
        }
    }
}
