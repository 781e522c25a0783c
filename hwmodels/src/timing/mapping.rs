//! How a dataflow cuts a matrix product into folds, and where an addition lies in its fold.

use super::gemm::Gemm;
use super::tiling::{TileOrder, Tiling};
use super::{input_stationary, output_stationary, vector, weight_stationary};
use crate::{Array, Dataflow};

/// A layer on an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mapping {
    dataflow: Dataflow,
    /// What one core does; the last one may do less.
    layer: Layer,
    cut: Cut,
}

/// What a dataflow looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layer {
    pub array: Array,
    pub gemm: Gemm,
    /// How many pixels (weight stationary) or channels (input stationary) stream through one fold.
    pub stream: usize,
}

/// What the memories make of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// Parts of equal length of what streams: pixels of weight stationary, channels of input stationary.
    pub parts: usize,
    /// Folds of a tile along pixels, channels and terms.
    pub tile: [usize; 3],
    pub order: TileOrder,
}

/// One filling of the array. All folds of a layer take the same time, edge tiles too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fold {
    /// How many there are in a group.
    pub count: usize,
    /// How many of them a tile has, on average.
    pub of_tile: usize,
    /// Number of groups.
    pub groups: usize,
    /// Cycles in which the stationary operand is loaded.
    pub preload: usize,
    /// Cycles in which operands stream into one processing element.
    pub steps: usize,
    /// Cycles from the first processing element's step to the same step of the last one.
    pub skew: usize,
    /// Least distance between the starts of two folds that follow each other without draining.
    pub interval: usize,
    /// Cycles in which the sums leave the array, unless the next fold hides them.
    pub drain: usize,
    /// Elements that the array reads: activations and weights.
    pub reads: [usize; 2],
}

/// How a dataflow uses the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pass {
    /// Folds along pixels, channels and terms.
    pub grid: [usize; 3],
    /// Pixels, channels and terms of a fold.
    pub unit: [usize; 3],
    pub preload: usize,
    pub steps: usize,
    pub skew: usize,
    pub interval: usize,
    pub drain: usize,
    pub reads: [usize; 2],
}

/// Where an addition lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub group: usize,
    /// Fold along pixels, channels and terms.
    pub at: [usize; 3],
    /// Cycles from the start of the fold.
    pub offset: usize,
    pub row: usize,
    pub col: usize,
}

impl Cut {
    /// Nothing is cut: one fold is a tile, in the dataflow's own order.
    pub const NONE: Self = Self { parts: 1, tile: [1; 3], order: TileOrder::ChannelsOuter };
}

impl Mapping {
    /// The cores share the groups where there are several, else the output channels.
    pub fn new(dataflow: Dataflow, array: Array, gemm: Gemm) -> Self {
        let share = |count: usize| count.div_ceil(array.cores.max(1));
        let gemm = if gemm.groups > 1 {
            Gemm { groups: share(gemm.groups), ..gemm }
        } else {
            Gemm { channels: share(gemm.channels), ..gemm }
        };
        let layer = Layer { array, gemm, stream: 1 };
        Self { dataflow, layer, cut: Cut::NONE }.cut(Cut::NONE)
    }

    /// The same, cut in another way.
    pub fn cut(mut self, cut: Cut) -> Self {
        self.layer.stream = self.streamed().div_ceil(cut.parts).max(1);
        Self { cut, ..self }
    }

    /// How many pixels or channels stream through a stationary operand.
    pub fn streamed(&self) -> usize {
        match self.dataflow {
            Dataflow::OutputStationary | Dataflow::Vector => 1,
            Dataflow::WeightStationary => self.layer.gemm.pixels,
            Dataflow::InputStationary => self.layer.gemm.channels,
        }
    }

    pub fn dataflow(&self) -> Dataflow {
        self.dataflow
    }

    pub fn layer(&self) -> &Layer {
        &self.layer
    }

    /// Whether all additions of a dot product happen in the same processing element.
    pub fn stays_in_place(&self) -> bool {
        matches!(self.dataflow, Dataflow::OutputStationary | Dataflow::Vector)
    }

    pub fn pass(&self) -> Pass {
        match self.dataflow {
            Dataflow::OutputStationary => output_stationary::pass(&self.layer),
            Dataflow::WeightStationary => weight_stationary::pass(&self.layer),
            Dataflow::InputStationary => input_stationary::pass(&self.layer),
            Dataflow::Vector => vector::pass(&self.layer),
        }
    }

    /// Groups that run one after the other.
    pub fn serial_groups(&self) -> usize {
        match self.dataflow {
            Dataflow::Vector => vector::serial_groups(&self.layer),
            _ => self.layer.gemm.groups,
        }
    }

    pub fn tiling(&self) -> Tiling {
        Tiling { grid: self.pass().grid, tile: self.cut.tile, order: self.cut.order }
    }

    pub fn fold(&self) -> Fold {
        let Pass { preload, steps, skew, interval, drain, reads, .. } = self.pass();
        let tiling = self.tiling();
        let count = tiling.folds();
        let of_tile = count.div_ceil(tiling.tiles().max(1)).max(1);
        let groups = self.serial_groups();
        Fold { count, of_tile, groups, preload, steps, skew, interval, drain, reads }
    }

    /// Where level `level` adds the value that ends with product `k` of output `channel` (of all groups) at `pixel`.
    pub fn slot(&self, pixel: usize, channel: usize, k: usize, level: usize) -> Slot {
        let of_core = (self.layer.gemm.channels * self.layer.gemm.groups).max(1);
        let (core, channel) = (channel / of_core, channel % of_core);
        let slot = match self.dataflow {
            Dataflow::OutputStationary => output_stationary::slot(&self.layer, pixel, channel, k),
            Dataflow::WeightStationary => weight_stationary::slot(&self.layer, pixel, channel, k, level),
            Dataflow::InputStationary => input_stationary::slot(&self.layer, pixel, channel, k, level),
            Dataflow::Vector => vector::slot(&self.layer, pixel, channel, k),
        };
        Slot { row: core * self.layer.array.rows + slot.row, ..slot }
    }
}

impl Layer {
    /// Steps of a dot product: each processing element takes `dot_width` products at a time.
    pub fn steps(&self) -> usize {
        self.gemm.terms.div_ceil(self.array.dot_width)
    }

    /// Tiles of as many pixels as `size`.
    pub fn pixel_tiles(&self, size: usize) -> usize {
        self.gemm.pixels.div_ceil(size)
    }

    /// Tiles of as many channels of a group as `size`.
    pub fn channel_tiles(&self, size: usize) -> usize {
        self.gemm.channels.div_ceil(size)
    }

    /// The group of a channel and the channel's place in it.
    pub fn group(&self, channel: usize) -> (usize, usize) {
        (channel / self.gemm.channels, channel % self.gemm.channels)
    }
}

impl Fold {
    /// Cycles from the start of a fold to its last addition.
    pub fn span(&self) -> usize {
        self.preload + self.steps + self.skew
    }
}
