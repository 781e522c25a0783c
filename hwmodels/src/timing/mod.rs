//! When and where things happen: closed forms, per dataflow and convention.
//!
//! A layer is one matrix product per group ([`Gemm`]). A dataflow cuts it into folds, each as large as the
//! array, and places every addition within its fold; a convention says when each fold starts.

mod array;
mod bound;
mod chain;
mod cost;
mod ethos_u;
mod feed;
mod fit;
mod gemm;
mod groups;
mod host;
mod input_stationary;
mod mapping;
mod moving_sums;
mod output_stationary;
mod overlapped;
mod rate;
mod scalesim_v3;
mod search;
mod tiling;
mod traffic;
mod vector;
mod weight_stationary;

use guardbit_graph::{OutputPosition, Window};

pub use array::ArrayCycles;
pub use bound::{Bound, Doubled};
pub(crate) use chain::{Chained, Unfilled, products_per_step};
pub use cost::{Cost, Moved};
pub(crate) use feed::Feed;
pub use fit::Fit;
pub use gemm::{Gemm, Widths};
pub use host::{HostBound, HostTime};
pub(crate) use rate::bits_of_kib;
pub use tiling::TileOrder;
pub use traffic::{Outside, Tile};

use crate::{Accelerator, Array, ArrayKind, Dataflow, Place, TimingConvention};
use mapping::Mapping;
use search::Choice;
use tiling::Tiling;
use traffic::Footprint;

/// Cycles of one layer and the place of each of its additions.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerTiming {
    /// Cycles of one inference: with stalls under `overlapped`, compute cycles alone under `scalesim_v3`.
    pub cycles: u64,
    /// The array that the layer runs on, whose rows and columns places name: those of all cores, one below the
    /// other.
    pub array: Array,
    /// What the layer costs.
    pub cost: Cost,
    /// How much of the array it fills, and of the SRAMs it needs.
    pub fit: Fit,
    /// What the SRAMs hold at a time. Searched under `overlapped`; elsewhere one fold, which need not fit.
    pub tile: Tile,
    /// Which activations pass between the chip and its outside memory.
    pub outside: Outside,
    /// Bits of the SRAM of activations that its tiles take.
    pub(crate) buffer: u128,
    mapping: Mapping,
    tiling: Tiling,
    schedule: Schedule,
    /// `[rows, columns]` of the output.
    image: [usize; 2],
    /// Whether each image is a matrix product with weights of its own.
    group_per_image: bool,
}

/// When the folds of a layer start, in cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Schedule {
    /// Before the first fold.
    lead: u64,
    /// From one fold to the next, on average and rounded down.
    fold: u64,
    /// Folds of a tile.
    of_tile: u64,
    /// What comes on top of that between two tiles.
    gap: u64,
    /// From the first fold of a group to that of the next group.
    group: u64,
    /// The last cycle of a group in which something can be placed, from the group's start.
    last: u64,
    /// Of the whole layer, with memories that take no time.
    compute: u64,
    /// Of the whole layer, with a memory outside that takes no time.
    inside: u64,
    /// In which the ports of the SRAMs, and the memory outside, have something to do.
    busy: [u64; 2],
    /// Of the whole layer.
    cycles: u64,
}

/// Most cycles of a layer that can be told: the greatest number up to which a double holds every integer.
pub const MAX_CYCLES: u64 = 1 << 53;

impl LayerTiming {
    /// The timing of a layer with constant weights that loads all it reads and stores all it makes.
    pub fn new(accelerator: &Accelerator, window: &Window, widths: Widths) -> Self {
        Self::of(accelerator, window, widths, false)
    }

    /// As [`new`](Self::new), for weights that may be activations: with `two_activations`, the layer is one matrix product per
    /// image of the window, one after the other or as groups are. Both operands are loaded into the SRAM of activations and
    /// share its port.
    pub fn of(accelerator: &Accelerator, window: &Window, widths: Widths, two_activations: bool) -> Self {
        Self::with(accelerator, (window, two_activations), widths, Outside::ALL, u128::MAX)
    }

    /// That of the same layer with activations that stay on the chip: its tiles move no more from and to the outside than
    /// without them.
    pub(crate) fn within(
        self,
        outside: Outside,
        accelerator: &Accelerator,
        window: &Window,
        widths: Widths,
    ) -> Self {
        Self::with(accelerator, (window, self.group_per_image), widths, outside, self.cost.moved.outside())
    }

    /// The timing with tiles that move `most` bits at most from and to the outside, if there are any.
    fn with(
        accelerator: &Accelerator,
        (layer, group_per_image): (&Window, bool),
        widths: Widths,
        outside: Outside,
        most: u128,
    ) -> Self {
        let window = if group_per_image { gemm::group_per_image(layer) } else { *layer };
        let window = &window;
        let gemm = Gemm::of(window);
        let mapping = Mapping::new(accelerator, gemm);
        let footprint = Footprint::new(accelerator, window, widths).within(outside);
        let footprint = if group_per_image { footprint.of_two_activations() } else { footprint };
        let smallest = search::smallest(&mapping, &footprint);
        let searched = accelerator.timing.convention == TimingConvention::Overlapped;
        let footprint = if searched { footprint.holding(&smallest) } else { footprint };
        let found = match accelerator.timing.convention {
            TimingConvention::Overlapped => search::search(&mapping, &footprint, &accelerator.memory, most),
            TimingConvention::ScalesimV3 | TimingConvention::EthosU => {
                let tile = footprint.tile(&mapping, usize::MAX);
                let traffic = footprint.traffic(&mapping, &tile);
                let ethos_u = |accelerator: &Accelerator| {
                    ethos_u::schedule(&mapping.folds(), layer, widths, accelerator)
                };
                let (schedule, doubled) = if accelerator.timing.convention == TimingConvention::EthosU {
                    let cycles = |accelerator: &Accelerator| ethos_u(accelerator).cycles;
                    (ethos_u(accelerator), Doubled::measured(accelerator, cycles))
                } else {
                    let schedule = scalesim_v3::schedule(&mapping);
                    (schedule, Doubled::without_memories(schedule.cycles))
                };
                Choice { mapping, tile, traffic, schedule, ports: [0; 3], doubled }
            }
        };
        let mut array = accelerator.array;
        array.rows = mapping::times([array.rows, array.cores]);
        let cost = Cost::new(&found, window, array, accelerator.clock_mhz);
        let Choice { mapping, tile, schedule, .. } = found;
        let fit = Fit::new(&mapping, &smallest);
        let tiling = mapping.tiling();
        let image = [layer.output[0], layer.output[1]];
        let buffer = footprint.buffer(&tile);
        Self {
            cycles: schedule.cycles,
            array,
            cost,
            fit,
            tile,
            outside,
            buffer,
            mapping,
            tiling,
            schedule,
            image,
            group_per_image,
        }
    }

    /// Whether all additions of a dot product happen in the same processing element.
    pub fn stays_in_place(&self) -> bool {
        self.mapping.stays_in_place()
    }

    /// The level that adds along a column, where sums move down the columns.
    pub(crate) fn chain(&self) -> Option<Chained> {
        (!self.stays_in_place()).then(|| self.mapping.layer().chain.chained())
    }

    /// Whether the places of all dot products differ only in where they begin: cycles and processing elements from the
    /// first product on are the same, up to the last cycle in which anything can be placed.
    pub fn ways_are_alike(&self) -> bool {
        let kind = self.array.kind;
        if self.mapping.dataflow() == Dataflow::Vector {
            return matches!(kind, ArrayKind::Outputs | ArrayKind::Block);
        }
        // A dot product in several folds must have them at equal distances: tiles at the edges have fewer.
        let Tiling { grid, tile, .. } = self.tiling;
        let Schedule { of_tile, gap, .. } = self.schedule;
        let regular = of_tile <= 1 || gap == 0;
        grid[2] <= 1 || regular && (tile == [1; 3] || tile[2] >= grid[2])
    }

    /// Whether both place every addition in the same cycle, out of as many, and in the same processing element.
    pub fn places_like(&self, other: &Self) -> bool {
        let ways = |timing: &Self| {
            (
                timing.cycles,
                timing.array,
                timing.tiling,
                timing.schedule,
                timing.image,
                timing.group_per_image,
            )
        };
        ways(self) == ways(other) && self.mapping == other.mapping
    }

    /// Whether within a dot product and a level the cycle never falls as `k` grows. Where it may, it does so from one
    /// run to the next alone: a short pass begins while sums of the one before still move down the columns.
    pub fn keeps_order(&self) -> bool {
        self.mapping.keeps_order(self.schedule.fold)
    }

    /// When and where level `level` adds the value that ends with product `k` of the dot product at `out`.
    ///
    /// `k` counts in the order of addition. Within a run of a level the cycle never falls as `k` grows (see
    /// [`keeps_order`](Self::keeps_order) for a whole dot product), and it is below [`cycles`](Self::cycles): SCALE-Sim
    /// counts one cycle less per matrix product than there are, and what happens in that one is placed in the one before.
    #[inline]
    pub fn place(&self, out: OutputPosition, k: usize, level: usize) -> Place {
        let in_image = out.h * self.image[1] + out.w;
        let (pixel, channel) = match self.group_per_image {
            false => (out.n * self.image[0] * self.image[1] + in_image, out.c),
            true => (in_image, out.n * self.mapping.layer().gemm.channels + out.c),
        };
        let slot = self.mapping.slot(pixel, channel, k, level);
        let Schedule { lead, fold, of_tile, gap, group, last, .. } = self.schedule;
        let index = self.tiling.index(slot.at) as u64;
        let gaps = if gap == 0 { 0 } else { index / of_tile * gap };
        let start = index * fold + gaps;
        let in_group = (start + slot.offset as u64).min(last);
        Place { cycle: lead + slot.group as u64 * group + in_group, row: slot.row, col: slot.col }
    }
}
