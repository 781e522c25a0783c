//! How a dataflow cuts a matrix product into folds, and where an addition lies in its fold.

use super::gemm::Gemm;
use super::{input_stationary, output_stationary, vector, weight_stationary};
use crate::{Array, Dataflow};

/// A layer on an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mapping {
    dataflow: Dataflow,
    /// What one core does; the last one may do less.
    layer: Layer,
}

/// What a dataflow looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layer {
    pub array: Array,
    pub gemm: Gemm,
}

/// One filling of the array. All folds of a layer take the same time, edge tiles too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fold {
    /// How many there are in a group.
    pub count: usize,
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
    /// How often each operand passes through the array in a layer: activations and weights.
    pub passes: [usize; 2],
}

/// Where an addition lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub group: usize,
    /// Fold within the group.
    pub fold: usize,
    /// Cycles from the start of the fold.
    pub offset: usize,
    pub row: usize,
    pub col: usize,
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
        Self { dataflow, layer: Layer { array, gemm } }
    }

    pub fn dataflow(&self) -> Dataflow {
        self.dataflow
    }

    pub fn layer(&self) -> &Layer {
        &self.layer
    }

    pub fn fold(&self) -> Fold {
        match self.dataflow {
            Dataflow::OutputStationary => output_stationary::fold(&self.layer),
            Dataflow::WeightStationary => weight_stationary::fold(&self.layer),
            Dataflow::InputStationary => input_stationary::fold(&self.layer),
            Dataflow::Vector => vector::fold(&self.layer),
        }
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
