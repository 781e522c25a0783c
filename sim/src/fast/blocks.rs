//! Blocks of output channels that share lanes.

use guardbit_graph::IntegerSlice;
use guardbit_hwmodels::{MacLayer, Packing, Weights};

use super::kernels::{LANES, Lanes, Pair, Row};

/// Up to [`LANES`] output channels.
#[derive(Debug)]
pub(super) struct Block {
    /// First channel and number of channels.
    pub first: usize,
    pub count: usize,
    pub reads: Reads,
    /// Whether a lane shares an adder with the lane before it, which is the low one.
    pub high: [bool; LANES],
    weights: Weights,
}

/// Source of a block's activations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reads {
    /// All channels read one window, whose first input channel is this.
    Window(usize),
    /// Every channel reads an input channel of its own; they are adjacent, and this is the first one.
    Neighbours(usize),
    /// Every channel reads an input channel of its own, given by this list.
    Lanes(Vec<usize>),
}

impl Reads {
    /// Returns the first input channel that the lanes read; 0 if each lane has an index of its own.
    pub fn first(&self) -> usize {
        match *self {
            Self::Window(first) | Self::Neighbours(first) => first,
            Self::Lanes(_) => 0,
        }
    }

    /// Returns reads of one input channel per lane.
    pub fn lanes(channels: Vec<usize>) -> Self {
        match channels.first() {
            Some(&first) if channels.iter().enumerate().all(|(i, &c)| c == first + i) => {
                Self::Neighbours(first)
            }
            _ => Self::Lanes(channels),
        }
    }

    /// Returns the input channel that each lane reads first.
    pub fn channels(&self) -> [usize; LANES] {
        std::array::from_fn(|lane| match self {
            Self::Window(first) => *first,
            Self::Neighbours(first) => first + lane,
            Self::Lanes(channels) => channels.get(lane).copied().unwrap_or(0),
        })
    }
}

impl Block {
    /// Returns the blocks of `layer`.
    pub fn all(layer: &MacLayer) -> Vec<Self> {
        let window = &layer.dots.window;
        let of_channels = |(first, count): (usize, usize)| Self {
            first,
            count,
            reads: match is_lane_wise(layer) {
                true => Reads::lanes((first..first + count).map(|c| window.group(c)).collect()),
                false => Reads::Window(window.group(first) * window.kernel[2]),
            },
            high: std::array::from_fn(|lane| lane < count && layer.low_lane(first + lane).is_some()),
            weights: layer.weights.clone(),
        };
        channels_of_blocks(layer).into_iter().map(of_channels).collect()
    }

    /// Returns the weights, indexed `[k][lane]`; 0 where there is no channel.
    pub fn rows(&self) -> Vec<Row> {
        rows(&self.weights, self.first, self.count)
    }

    /// Returns whether all channels read one window.
    pub fn reads_window(&self) -> bool {
        matches!(self.reads, Reads::Window(_))
    }

    /// Returns the weights like [`Self::rows`], on 32 bits.
    pub fn wide_rows(&self) -> Vec<Lanes> {
        let channels: Vec<_> =
            (self.first..self.first + self.count).map(|channel| self.weights.channel(channel)).collect();
        let terms = channels.first().map_or(0, |channel| channel.len());
        let row = |k: usize| std::array::from_fn(|lane| channels.get(lane).map_or(0, |channel| channel[k]));
        (0..terms).map(row).collect()
    }
}

/// Returns whether groups share lanes. Groups of one input channel do, unless blocks could separate channels that
/// share an adder; larger groups have blocks of their own.
pub(super) fn is_lane_wise(layer: &MacLayer) -> bool {
    let window = &layer.dots.window;
    let alone = layer.packing == Packing::None || window.channels() == window.groups;
    window.kernel[2] == 1 && window.groups > 1 && alone
}

/// Returns the first channel and the number of channels of each block.
pub(super) fn channels_of_blocks(layer: &MacLayer) -> Vec<(usize, usize)> {
    let window = &layer.dots.window;
    let channels = window.channels();
    let together = if is_lane_wise(layer) { channels } else { channels / window.groups };
    let starts = (0..channels).step_by(together.max(1));
    let of_group =
        |start| (start..start + together).step_by(LANES).map(move |first| (first, start + together));
    starts.flat_map(of_group).map(|(first, end)| (first, LANES.min(end - first))).collect()
}

/// Returns the weights of a block, `[k][lane]`; 0 where there is no channel. They fit 16 bits.
fn rows(weights: &Weights, first: usize, count: usize) -> Vec<Row> {
    fn transposed<T: Copy + Into<i32>>(values: &[T], count: usize) -> Vec<Row> {
        let terms = values.len() / count;
        let mut rows = vec![[0; LANES]; terms];
        // Rows at a time that stay in the fastest cache.
        for (part, rows) in rows.chunks_mut(64).enumerate() {
            for lane in 0..count {
                let values = &values[lane * terms + 64 * part..][..rows.len()];
                rows.iter_mut().zip(values).for_each(|(row, &weight)| row[lane] = weight.into() as i16);
            }
        }
        rows
    }
    match weights.slice(first..first + count) {
        IntegerSlice::I8(values) => transposed(values, count),
        IntegerSlice::U8(values) => transposed(values, count),
        IntegerSlice::I16(values) => transposed(values, count),
        IntegerSlice::I32(values) => transposed(values, count),
    }
}

/// Combines two rows each, lane by lane; a row of zeros completes an odd number of rows.
pub(super) fn pairs(rows: &[Row]) -> Vec<Pair> {
    let pair = |rows: &[Row]| {
        let row = |i: usize| rows.get(i).copied().unwrap_or([0; LANES]);
        let (first, second) = (row(0), row(1));
        let mut pair = [0; 2 * LANES];
        for (pair, (first, second)) in pair.as_chunks_mut::<2>().0.iter_mut().zip(first.iter().zip(&second)) {
            *pair = [*first, *second];
        }
        pair
    };
    rows.chunks(2).map(pair).collect()
}
