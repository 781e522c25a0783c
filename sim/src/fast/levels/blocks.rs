//! Output channels that share lanes.

use guardbit_hwmodels::{MacLayer, Packing};

use super::super::finish::Channels;
use super::super::kernels::{LANES, Lanes, Pair, Row};
use super::super::prepare::{self, Reads};
use super::super::span::Span;

/// Up to [`LANES`] output channels.
#[derive(Debug)]
pub(super) struct Block {
    /// First channel and number of channels.
    pub first: usize,
    pub count: usize,
    pub reads: Reads,
    /// Whether a lane shares an adder with the lane before it, which is the low one.
    pub high: [bool; LANES],
    /// Weights, indexed `[k][lane]`; 0 where there is no channel. Empty if operands are wide.
    pub weights: Vec<Row>,
    /// Weights on 32 bits, `[k][lane]`, and every lane's distance from the window's first cell; only if operands are wide.
    pub wide: Option<(Vec<Lanes>, [usize; LANES])>,
    /// Weights of two steps at a time.
    pub pairs: Vec<Pair>,
}

impl Block {
    /// Returns the input of the output stage if no sum exceeds `reach`.
    pub(super) fn delivered(&self, reach: i64) -> Channels {
        Channels { first: self.first, count: self.count, bounds: [Span::within(reach); LANES] }
    }
}

/// Returns the blocks of channels that share lanes. `wide` states whether operands exceed 16 bits.
pub(super) fn blocks(layer: &MacLayer, wide: bool) -> Vec<Block> {
    let window = &layer.dots.window;
    let channels = window.channels();
    let per_group = channels / window.groups;
    // Groups that would leave lanes empty share blocks, unless these could separate channels with one adder.
    let alone = layer.packing == Packing::None || per_group == 1;
    let shared = window.groups > 1 && per_group < LANES && alone;
    let together = if shared { channels } else { per_group };
    let mut blocks = Vec::new();
    for start in (0..channels).step_by(together) {
        for first in (start..start + together).step_by(LANES) {
            let count = LANES.min(start + together - first);
            let read = |channel: usize| window.group(channel) * window.kernel[2];
            let reads = if shared {
                Reads::lanes((first..first + count).map(read).collect())
            } else {
                Reads::Window(read(first))
            };
            let own: Vec<_> = (first..first + count).map(|channel| layer.weights.channel(channel)).collect();
            let weight = |k: usize, lane: usize| if lane < count { own[lane][k] } else { 0 };
            let row = |k| std::array::from_fn(|lane| weight(k, lane));
            let rows = (0..layer.order.len()).map(row);
            let wide = wide.then(|| (rows.clone().collect(), distances(&reads)));
            let narrow = |row: Lanes| row.map(|weight| weight as i16);
            let weights: Vec<Row> = if wide.is_some() { Vec::new() } else { rows.map(narrow).collect() };
            let pairs = prepare::pairs(&weights);
            let is_high = |lane| lane < count && layer.low_lane(first + lane).is_some();
            let high = std::array::from_fn(is_high);
            blocks.push(Block { first, count, reads, high, weights, wide, pairs });
        }
    }
    blocks
}

/// Returns the distance of the input channel that each lane reads first.
fn distances(reads: &Reads) -> [usize; LANES] {
    std::array::from_fn(|lane| match reads {
        Reads::Window(first) => *first,
        Reads::Neighbours(first) => first + lane,
        Reads::Lanes(channels) => channels.get(lane).copied().unwrap_or(0),
    })
}
