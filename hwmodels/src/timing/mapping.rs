//! Cuts a matrix product into folds by dataflow, and places additions in their fold.

use std::ops::Range;

use super::chain::{Chain, products_per_step};
use super::gemm::Gemm;
use super::groups::Groups;
use super::layer::{Layer, Pass, Slot};
use super::sizes::{Runs, product, times};
use super::tiling::{TileOrder, Tiling};
use super::{input_stationary, moving_sums, output_stationary, vector, weight_stationary};
use crate::{Accelerator, Array, ArrayKind, Dataflow};

/// A layer on an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mapping {
    dataflow: Dataflow,
    /// Kind of the array: the accelerator's, unless a cut chooses another one.
    kind: ArrayKind,
    /// Work of one core; the last core may have less.
    layer: Layer,
    /// Work of the last core.
    last: Layer,
    /// Number of cores with work.
    cores: usize,
    cut: Cut,
}

/// Cut of a layer that makes it fit the memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// Number of pixels (weight stationary) or channels (input stationary) that stream through one fold. The
    /// last fold may have fewer.
    pub stream: usize,
    /// Folds of a tile along pixels, channels and terms.
    pub tile: [usize; 3],
    pub order: TileOrder,
    /// Whether lanes that can hold any outputs hold channels of one pixel, as in kind `folded`. Otherwise
    /// they hold outputs in the order of the tensor.
    pub by_channel: bool,
}

/// Folds of a layer: fillings of the array. Each has an equal share of the total time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Folds {
    /// Number of folds per group.
    pub count: usize,
    /// Average number of folds per tile.
    pub of_tile: usize,
    /// Number of groups.
    pub groups: usize,
    /// Cycles in which the stationary operand is loaded.
    pub preload: usize,
    /// Cycles in which operands stream into one processing element.
    pub steps: usize,
    /// Cycles from the first processing element's step to the same step of the last one.
    pub skew: usize,
    /// Sum over the layer of the distances between starts of folds that follow each other without draining.
    pub intervals: u64,
    /// Largest of these distances.
    pub interval: usize,
    /// Cycles in which the sums leave the array, unless hidden by the next fold.
    pub drain: usize,
}

impl Cut {
    /// No cut: one fold is a tile, in the dataflow's own order.
    pub const NONE: Self =
        Self { stream: usize::MAX, tile: [1; 3], order: TileOrder::ChannelsOuter, by_channel: false };
}

impl Mapping {
    /// Maps `gemm` onto the accelerator. Cores share the groups if there are several, otherwise the output
    /// channels.
    pub fn new(accelerator: &Accelerator, gemm: Gemm) -> Self {
        let Accelerator { array, dataflow, .. } = *accelerator;
        let array = Array { dot_width: products_per_step(accelerator), ..array };
        let shared = if gemm.groups > 1 { gemm.groups } else { gemm.channels };
        let share = shared.div_ceil(array.cores.max(1));
        let cores = shared.div_ceil(share.max(1)).max(1);
        let of = |share: usize| match gemm.groups {
            2.. => Gemm { groups: share, ..gemm },
            _ => Gemm { channels: share, ..gemm },
        };
        let chain = Chain::new(accelerator, gemm.terms);
        let layer = |gemm: Gemm| {
            let groups = Groups::new(accelerator, gemm, &chain);
            let chain = chain.of_groups(if dataflow.moves_sums() { groups.abreast } else { 1 });
            Layer { array, gemm, chain, groups, stream: 1 }
        };
        let last = layer(of(shared - (cores - 1) * share));
        Self { dataflow, kind: array.kind, layer: layer(of(share)), last, cores, cut: Cut::NONE }
            .cut(Cut::NONE)
    }

    /// Returns the mapping with another cut.
    pub fn cut(mut self, cut: Cut) -> Self {
        self.layer.stream = cut.stream.clamp(1, self.streamed().max(1));
        let kind = if cut.by_channel { ArrayKind::Folded } else { self.kind };
        (self.layer.array.kind, self.last.array.kind) = (kind, kind);
        Self { cut, ..self }
    }

    /// Returns how many pixels or channels stream through a stationary operand.
    pub fn streamed(&self) -> usize {
        match self.dataflow {
            Dataflow::OutputStationary | Dataflow::Vector => 1,
            Dataflow::WeightStationary => self.layer.gemm.pixels,
            Dataflow::InputStationary => self.layer.channels(),
        }
    }

    pub fn dataflow(&self) -> Dataflow {
        self.dataflow
    }

    /// Returns whether lanes may hold outputs in the order of the tensor, across all channels.
    pub fn is_free(&self) -> bool {
        self.dataflow == Dataflow::Vector && self.layer.array.kind == ArrayKind::Outputs
    }

    /// Returns whether lanes that can hold any outputs can be restricted to channels of one pixel: the layer
    /// has more channels than there are lanes.
    pub fn can_go_by_channel(&self) -> bool {
        let lanes = times([self.layer.array.rows, self.layer.array.cols]);
        self.dataflow == Dataflow::Vector && self.kind == ArrayKind::Outputs && self.layer.channels() > lanes
    }

    pub fn layer(&self) -> &Layer {
        &self.layer
    }

    /// Returns whether all additions of a dot product happen in one processing element.
    pub fn stays_in_place(&self) -> bool {
        !self.dataflow.moves_sums()
    }

    /// Returns whether the products of a dot product are added in order if folds start at least `fold` cycles
    /// apart.
    pub fn keeps_order(&self, fold: u64) -> bool {
        let passes = self.layer.chain.passes();
        !self.dataflow.moves_sums() || passes.count() <= 1 || fold >= passes.most() as u64
    }

    /// Returns the maximum number of processing elements that one fold uses.
    pub fn used(&self) -> usize {
        let Layer { array, gemm, .. } = self.layer;
        let channels = self.layer.channels();
        let used = |rows: usize, cols: usize| times([rows.min(array.rows), cols.min(array.cols)]);
        let lanes = times([array.rows, array.cols]);
        match (self.dataflow, array.kind) {
            (Dataflow::OutputStationary, _) => used(gemm.pixels, channels),
            (Dataflow::WeightStationary | Dataflow::InputStationary, _) => {
                let rows = self.layer.chain.passes().most();
                used(rows, if self.dataflow == Dataflow::WeightStationary { channels } else { gemm.pixels })
            }
            (Dataflow::Vector, ArrayKind::Outputs) => times([gemm.pixels, channels]).min(lanes),
            (Dataflow::Vector, ArrayKind::Channels | ArrayKind::Folded) => channels.min(lanes),
            (Dataflow::Vector, ArrayKind::Block) => used(gemm.pixels, channels),
        }
    }

    pub fn pass(&self) -> Pass {
        match self.dataflow {
            Dataflow::OutputStationary => output_stationary::pass(&self.layer),
            Dataflow::WeightStationary => moving_sums::pass(&self.layer, weight_stationary::STATIONARY),
            Dataflow::InputStationary => moving_sums::pass(&self.layer, input_stationary::STATIONARY),
            Dataflow::Vector => vector::pass(&self.layer),
        }
    }

    /// Returns the products of a dot product that pass `pass` adds, in the order of addition.
    pub fn terms_of_pass(&self, pass: usize) -> Range<usize> {
        if self.stays_in_place() { 0..self.layer.gemm.terms } else { self.layer.chain.terms_of(pass) }
    }

    /// Returns the output channels of each core, over all groups.
    pub fn channels_of_cores(&self) -> impl Iterator<Item = Range<usize>> {
        let [each, last] = [self.layer.gemm, self.last.gemm].map(|gemm| times([gemm.channels, gemm.groups]));
        let cores = self.cores;
        (0..cores).map(move |core| core * each..core * each + if core + 1 == cores { last } else { each })
    }

    /// Returns how many times groups run one after the other.
    pub fn serial_groups(&self) -> usize {
        self.layer.groups.times
    }

    pub fn tiling(&self) -> Tiling {
        Tiling { grid: self.pass().grid, tile: self.cut.tile, order: self.cut.order }
    }

    pub fn folds(&self) -> Folds {
        let Pass { preload, steps, skew, drain, .. } = self.pass();
        let tiling = self.tiling();
        let count = tiling.folds();
        let of_tile = count.div_ceil(tiling.tiles().max(1)).max(1);
        let groups = self.serial_groups();
        let runs = match self.dataflow {
            Dataflow::OutputStationary => output_stationary::intervals(&self.layer),
            Dataflow::WeightStationary | Dataflow::InputStationary => moving_sums::intervals(&self.layer),
            Dataflow::Vector => Runs::one(steps),
        };
        // Along the other axes all folds are equal.
        let alike = times([count, groups]).checked_div(runs.count()).unwrap_or(0) as u64;
        let intervals = runs.total().saturating_mul(alike);
        Folds { count, of_tile, groups, preload, steps, skew, intervals, interval: runs.most(), drain }
    }

    /// Returns the elements that move between the SRAMs and the array of one core in the whole layer:
    /// activations, weights, and sums in both directions.
    pub fn reads(&self) -> [u64; 3] {
        self.reads_of(&self.layer)
    }

    /// Returns [`reads`](Self::reads) summed over all cores.
    pub fn reads_of_all(&self) -> [u64; 3] {
        let (each, last) = (self.reads(), self.reads_of(&Layer { stream: self.layer.stream, ..self.last }));
        let others = (self.cores - 1) as u64;
        std::array::from_fn(|what| each[what].saturating_mul(others).saturating_add(last[what]))
    }

    fn reads_of(&self, layer: &Layer) -> [u64; 3] {
        match self.dataflow {
            Dataflow::OutputStationary => output_stationary::reads(layer),
            Dataflow::WeightStationary => moving_sums::reads(layer, weight_stationary::STATIONARY),
            Dataflow::InputStationary => moving_sums::reads(layer, input_stationary::STATIONARY),
            Dataflow::Vector => vector::reads(layer),
        }
    }

    /// Returns the place where level `level` adds the value that ends with product `k` of output `channel`
    /// (counted over all groups) at `pixel`.
    pub fn slot(&self, pixel: usize, channel: usize, k: usize, level: usize) -> Slot {
        let of_core = (self.layer.gemm.channels * self.layer.gemm.groups).max(1);
        let (core, channel) = (channel / of_core, channel % of_core);
        let moving = |stationary| moving_sums::slot(&self.layer, stationary, pixel, channel, k, level);
        let slot = match self.dataflow {
            Dataflow::OutputStationary => output_stationary::slot(&self.layer, pixel, channel, k),
            Dataflow::WeightStationary => moving(weight_stationary::STATIONARY),
            Dataflow::InputStationary => moving(input_stationary::STATIONARY),
            Dataflow::Vector => vector::slot(&self.layer, pixel, channel, k),
        };
        Slot { row: core * self.layer.array.rows + slot.row, ..slot }
    }
}

impl Folds {
    /// Returns the cycles from the start of a fold to its last addition.
    pub fn span(&self) -> usize {
        self.preload.saturating_add(self.steps).saturating_add(self.skew)
    }

    /// Returns the cycles from the start of a fold until its sums have left the array.
    pub fn whole(&self) -> u64 {
        self.span().saturating_add(self.drain) as u64
    }

    /// Returns the number of folds in the layer.
    pub fn all(&self) -> u64 {
        product([self.count, self.groups])
    }

    /// Returns the number of tiles in the layer. Each has `of_tile` folds, except the last one of a group.
    pub fn tiles(&self) -> u64 {
        product([self.count.div_ceil(self.of_tile), self.groups])
    }
}
