//! How a dataflow cuts a matrix product into folds, and where an addition lies in its fold.

use super::chain::{Chain, products_per_step};
use super::gemm::Gemm;
use super::groups::Groups;
use super::tiling::{TileOrder, Tiling};
use super::{input_stationary, moving_sums, output_stationary, vector, weight_stationary};
use crate::{Accelerator, Array, ArrayKind, Dataflow};

/// A layer on an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mapping {
    dataflow: Dataflow,
    /// That of the accelerator; a cut may choose another one.
    kind: ArrayKind,
    /// What one core does; the last one may do less.
    layer: Layer,
    /// What the last core does.
    last: Layer,
    /// Cores that have something to do.
    cores: usize,
    cut: Cut,
}

/// What a dataflow looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layer {
    /// With as many products per step as are whole runs.
    pub array: Array,
    pub gemm: Gemm,
    /// How dot products fill the rows of an array through which sums move.
    pub chain: Chain,
    pub groups: Groups,
    /// How many pixels (weight stationary) or channels (input stationary) stream through one fold.
    pub stream: usize,
}

/// What the memories make of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// How much streams through one fold: pixels of weight stationary, channels of input stationary. The last fold
    /// may have less.
    pub stream: usize,
    /// Folds of a tile along pixels, channels and terms.
    pub tile: [usize; 3],
    pub order: TileOrder,
    /// Whether lanes that are free to hold any outputs hold channels of one pixel, as those of kind `folded` do. Otherwise they
    /// hold outputs in the order of the tensor.
    pub by_channel: bool,
}

/// The fillings of the array in a layer. Each has its share of what they take together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Folds {
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
    /// Distances between the starts of folds that follow each other without draining: their sum over the layer.
    pub intervals: u64,
    /// The greatest of them.
    pub interval: usize,
    /// Cycles in which the sums leave the array, unless the next fold hides them.
    pub drain: usize,
}

/// How a dataflow uses the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pass {
    /// Folds along pixels, channels and terms.
    pub grid: [usize; 3],
    /// Pixels, channels and terms of a fold that uses the whole array.
    pub unit: [usize; 3],
    pub preload: usize,
    pub steps: usize,
    pub skew: usize,
    pub drain: usize,
}

/// A sequence of sizes, in which few different ones come many times each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Runs([(usize, usize); 4]);

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
    pub const NONE: Self =
        Self { stream: usize::MAX, tile: [1; 3], order: TileOrder::ChannelsOuter, by_channel: false };
}

impl Runs {
    /// That size, once; none if it is 0.
    pub fn one(size: usize) -> Self {
        let mut runs = [(0, 0); 4];
        runs[0] = (usize::from(size > 0), size);
        Self(runs)
    }

    /// Sizes of at most `most` that make `whole` together, the smaller one last.
    pub fn cut(whole: usize, most: usize) -> Self {
        Self::one(most).times(whole / most).and(Self::one(whole % most))
    }

    /// That many times.
    pub fn times(self, count: usize) -> Self {
        Self(self.0.map(|(own, size)| (times([own, count]), size)))
    }

    /// Those of another sequence behind these; four different sizes at most.
    pub fn and(self, other: Self) -> Self {
        let mut both = [(0, 0); 4];
        let parts = self.0.into_iter().chain(other.0).filter(|(count, _)| *count > 0);
        both.iter_mut().zip(parts).for_each(|(to, part)| *to = part);
        Self(both)
    }

    /// Every size made into another one.
    pub fn map(self, size: impl Fn(usize) -> usize) -> Self {
        Self(self.0.map(|(count, own)| (count, if count > 0 { size(own) } else { 0 })))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.iter().map(|(count, _)| *count).fold(0, usize::saturating_add)
    }

    /// All together.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|&(count, size)| product([count, size])).fold(0, u64::saturating_add)
    }

    /// The greatest; 0 if there is none.
    pub fn most(&self) -> usize {
        self.0.iter().map(|(_, size)| *size).max().unwrap_or(0)
    }
}

/// Pairs of a fold and a group that it touches, of `all` values in folds of `fold` and groups of `group`: a fold
/// touches one group more than there are borders of groups inside it.
pub(super) fn touched(all: usize, fold: usize, group: usize) -> usize {
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

/// The product of sizes, or the greatest number.
pub(super) fn product<const N: usize>(sizes: [usize; N]) -> u64 {
    sizes.into_iter().fold(1, |all, size| all.saturating_mul(size as u64))
}

/// The same as a size.
pub(super) fn times<const N: usize>(sizes: [usize; N]) -> usize {
    sizes.into_iter().fold(1, usize::saturating_mul)
}

impl Mapping {
    /// The cores share the groups where there are several, else the output channels.
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

    /// The same, cut in another way.
    pub fn cut(mut self, cut: Cut) -> Self {
        self.layer.stream = cut.stream.clamp(1, self.streamed().max(1));
        let kind = if cut.by_channel { ArrayKind::Folded } else { self.kind };
        (self.layer.array.kind, self.last.array.kind) = (kind, kind);
        Self { cut, ..self }
    }

    /// How many pixels or channels stream through a stationary operand.
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

    /// Whether lanes may hold outputs in the order of the tensor, of all channels at a time.
    pub fn is_free(&self) -> bool {
        self.dataflow == Dataflow::Vector && self.layer.array.kind == ArrayKind::Outputs
    }

    /// Whether lanes that are free to hold any outputs can be held to channels of one pixel: the layer has more of them than there are
    /// lanes.
    pub fn can_go_by_channel(&self) -> bool {
        let lanes = times([self.layer.array.rows, self.layer.array.cols]);
        self.dataflow == Dataflow::Vector && self.kind == ArrayKind::Outputs && self.layer.channels() > lanes
    }

    pub fn layer(&self) -> &Layer {
        &self.layer
    }

    /// Whether all additions of a dot product happen in the same processing element.
    pub fn stays_in_place(&self) -> bool {
        !self.dataflow.moves_sums()
    }

    /// Whether the products of a dot product are added in their order, if folds start `fold` cycles apart or more.
    pub fn keeps_order(&self, fold: u64) -> bool {
        let passes = self.layer.chain.passes();
        !self.dataflow.moves_sums() || passes.count() <= 1 || fold >= passes.most() as u64
    }

    /// Processing elements that one fold uses at most.
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

    /// How many times groups run one after the other.
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
        // Along the other axes folds are all alike.
        let alike = times([count, groups]).checked_div(runs.count()).unwrap_or(0) as u64;
        let intervals = runs.total().saturating_mul(alike);
        Folds { count, of_tile, groups, preload, steps, skew, intervals, interval: runs.most(), drain }
    }

    /// Elements that pass between the SRAMs and the array of one core in the whole layer: activations, weights, and
    /// sums in both directions.
    pub fn reads(&self) -> [u64; 3] {
        self.reads_of(&self.layer)
    }

    /// The same for all cores.
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

    /// Where level `level` adds the value that ends with product `k` of output `channel` (of all groups) at `pixel`.
    pub fn slot(&self, pixel: usize, channel: usize, k: usize, level: usize) -> Slot {
        let of_core = (self.layer.gemm.channels * self.layer.gemm.groups).max(1);
        let (core, channel) = (channel / of_core, channel % of_core);
        let moving = |stationary| moving_sums::slot(&self.layer, stationary, (pixel, channel), k, level);
        let slot = match self.dataflow {
            Dataflow::OutputStationary => output_stationary::slot(&self.layer, pixel, channel, k),
            Dataflow::WeightStationary => moving(weight_stationary::STATIONARY),
            Dataflow::InputStationary => moving(input_stationary::STATIONARY),
            Dataflow::Vector => vector::slot(&self.layer, pixel, channel, k),
        };
        Slot { row: core * self.layer.array.rows + slot.row, ..slot }
    }
}

impl Layer {
    /// Channels of the groups that run at the same time.
    pub fn channels(&self) -> usize {
        times([self.gemm.channels, self.groups.abreast])
    }

    /// Steps of a dot product: each processing element takes so many products at a time.
    pub fn steps(&self) -> usize {
        self.gemm.terms.div_ceil(self.array.dot_width)
    }

    /// Tiles of as many pixels as `size`.
    pub fn pixel_tiles(&self, size: usize) -> usize {
        self.gemm.pixels.div_ceil(size)
    }

    /// Tiles of as many channels of groups that run at the same time as `size`.
    pub fn channel_tiles(&self, size: usize) -> usize {
        self.channels().div_ceil(size)
    }

    /// Where a channel lies among groups: how many times groups run before it, its group among those that run with it, and
    /// its place among their channels.
    pub fn group(&self, channel: usize) -> (usize, usize, usize) {
        let place = channel % self.channels();
        (channel / self.channels(), place / self.gemm.channels, place)
    }

    /// Pairs of a stretch of `size` channels and a group that it touches, of all groups.
    pub fn touched(&self, size: usize) -> usize {
        let Self { gemm, groups, .. } = self;
        let of = |groups: usize| touched(times([gemm.channels, groups]), size, gemm.channels);
        let others = groups.times - 1;
        times([others, of(groups.abreast)]).saturating_add(of(gemm.groups - others * groups.abreast))
    }
}

impl Folds {
    /// Cycles from the start of a fold to its last addition.
    pub fn span(&self) -> usize {
        self.preload.saturating_add(self.steps).saturating_add(self.skew)
    }

    /// Cycles from the start of a fold until its sums have left the array.
    pub fn whole(&self) -> u64 {
        self.span().saturating_add(self.drain) as u64
    }

    /// How many there are in the layer.
    pub fn all(&self) -> u64 {
        product([self.count, self.groups])
    }

    /// How many tiles the layer has, of `of_tile` folds each but for the last one of a group.
    pub fn tiles(&self) -> u64 {
        product([self.count.div_ceil(self.of_tile), self.groups])
    }
}
