//! Output channels that share lanes.

use guardbit_hwmodels::{MacLayer, Packing};

use super::super::finish::Channels;
use super::super::kernels::{LANES, Pair, Row};
use super::super::prepare::{self, Reads};

/// Up to [`LANES`] output channels.
#[derive(Debug)]
pub(super) struct Block {
    /// First channel and number of channels.
    pub first: usize,
    pub count: usize,
    pub reads: Reads,
    /// Whether a lane shares an adder with the lane before it, which is the low one.
    pub high: [bool; LANES],
    /// Weights, indexed `[k][lane]`; 0 where there is no channel.
    pub weights: Vec<Row>,
    /// Weights of two steps at a time.
    pub pairs: Vec<Pair>,
}

impl Block {
    /// Returns the input of the output stage if no sum exceeds `reach`.
    pub(super) fn delivered(&self, reach: i64) -> Channels {
        Channels { first: self.first, count: self.count, bounds: [(-reach, reach); LANES] }
    }
}

/// Returns the blocks of channels that share lanes; `None` if a weight does not fit.
pub(super) fn blocks(layer: &MacLayer) -> Option<Vec<Block>> {
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
            let mut weights = vec![[0; LANES]; layer.order.len()];
            for lane in 0..count {
                for (row, &weight) in weights.iter_mut().zip(&layer.weights[first + lane]) {
                    row[lane] = i16::try_from(weight).ok()?;
                }
            }
            let pairs = prepare::pairs(&weights);
            let is_high = |lane| lane < count && layer.low_lane(first + lane).is_some();
            let high = std::array::from_fn(is_high);
            blocks.push(Block { first, count, reads, high, weights, pairs });
        }
    }
    Some(blocks)
}
