//! Time and place of every addition, as closed forms per dataflow and convention.
//!
//! A layer is one matrix product per group ([`Gemm`]). A dataflow cuts it into folds, each as large as the
//! array, and places every addition within its fold. A convention defines when each fold starts.

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
mod layer;
mod mapping;
mod moving_sums;
mod output_stationary;
mod overlapped;
mod place;
mod rate;
mod scalesim_v3;
mod schedule;
mod search;
mod sizes;
mod spans;
mod tiling;
mod traffic;
mod vector;
mod walk;
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
pub use place::Place;
pub(crate) use rate::bits_of_kib;
pub use spans::{Span, Spans};
pub use tiling::TileOrder;
pub use traffic::{Outside, Tile};
pub use walk::Fold;

use crate::{Accelerator, Array, ArrayKind, Dataflow, TimingConvention};
use mapping::Mapping;
use schedule::Schedule;
use search::Choice;
use tiling::Tiling;
use traffic::Footprint;

/// Cycles of one layer and the place of each of its additions.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LayerTiming {
    /// Cycles of one inference: including stalls under `overlapped`, compute cycles alone under
    /// `scalesim_v3`.
    pub cycles: u64,
    /// Array to whose rows and columns places refer: the arrays of all cores, stacked vertically.
    pub array: Array,
    /// Cost of the layer.
    pub cost: Cost,
    /// Utilization of the array and the SRAM that the layer needs.
    pub fit: Fit,
    /// Part of the layer that the SRAMs hold at a time. Searched under `overlapped`; otherwise one fold,
    /// which need not fit.
    pub tile: Tile,
    /// Activations that move between the chip and external memory.
    pub outside: Outside,
    /// Bits of the SRAM of activations that the tiles occupy.
    pub(crate) buffer: u128,
    mapping: Mapping,
    tiling: Tiling,
    schedule: Schedule,
    /// `[rows, columns]` of the output.
    image: [usize; 2],
    /// Output channels of an image.
    channels: usize,
    /// Whether each image is a matrix product with its own weights.
    group_per_image: bool,
}

/// Maximum number of cycles of a layer: the largest number up to which `f64` represents every integer.
pub const MAX_CYCLES: u64 = 1 << 53;

impl LayerTiming {
    /// Returns the timing of a layer with constant weights that loads all its inputs and stores all its
    /// outputs.
    pub fn new(accelerator: &Accelerator, window: &Window, widths: Widths) -> Self {
        Self::of(accelerator, window, widths, false)
    }

    /// Returns the timing of a layer whose weights may be activations. With `two_activations`, the layer is
    /// one matrix product per image of the window. These products are mapped like groups. Both operands are
    /// loaded into the SRAM of activations and share its port.
    pub fn of(accelerator: &Accelerator, window: &Window, widths: Widths, two_activations: bool) -> Self {
        Self::with(accelerator, window, two_activations, widths, Outside::ALL, u128::MAX)
    }

    /// Returns the timing if some activations stay on the chip. The tiles move no more bits from and to
    /// external memory than without them.
    pub(crate) fn within(
        self,
        outside: Outside,
        accelerator: &Accelerator,
        window: &Window,
        widths: Widths,
    ) -> Self {
        Self::with(accelerator, window, self.group_per_image, widths, outside, self.cost.moved.outside())
    }

    /// Returns the timing with tiles that move at most `most` bits from and to external memory, if there are
    /// such tiles.
    fn with(
        accelerator: &Accelerator,
        layer: &Window,
        group_per_image: bool,
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
        array.rows = sizes::times([array.rows, array.cores]);
        let cost = Cost::new(&found, window, array, accelerator.clock_mhz);
        let Choice { mapping, tile, schedule, .. } = found;
        let fit = Fit::new(&mapping, &smallest);
        let tiling = mapping.tiling();
        let image = [layer.output[0], layer.output[1]];
        let buffer = footprint.buffer(&tile);
        let channels = layer.channels();
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
            channels,
            group_per_image,
        }
    }

    /// Returns whether all additions of a dot product happen in one processing element.
    pub fn stays_in_place(&self) -> bool {
        self.mapping.stays_in_place()
    }

    /// Returns the level that adds along a column, if sums move down the columns.
    pub(crate) fn chain(&self) -> Option<Chained> {
        (!self.stays_in_place()).then(|| self.mapping.layer().chain.chained())
    }

    /// Returns whether the places of all dot products differ only in their start. Relative to the first
    /// product, cycles and processing elements are equal, up to the last cycle in which an addition can be
    /// placed.
    pub fn ways_are_alike(&self) -> bool {
        let kind = self.array.kind;
        if self.mapping.dataflow() == Dataflow::Vector {
            return matches!(kind, ArrayKind::Outputs | ArrayKind::Block);
        }
        // A dot product in several folds needs equal distances between them, but tiles at the edges have
        // fewer folds.
        let Tiling { grid, tile, .. } = self.tiling;
        let Schedule { of_tile, gap, .. } = self.schedule;
        let regular = of_tile <= 1 || gap == 0;
        grid[2] <= 1 || regular && (tile == [1; 3] || tile[2] >= grid[2])
    }

    /// Returns whether both timings place every addition in the same cycle of equally many, and in the same
    /// processing element.
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

    /// Returns whether the cycle never decreases as `k` grows, within a dot product and a level. If it
    /// decreases, it does so only between two runs: a short pass begins while sums of the previous one still
    /// move down the columns.
    pub fn keeps_order(&self) -> bool {
        self.mapping.keeps_order(self.schedule.fold)
    }

    /// Returns when and where level `level` adds the value that ends with product `k` of the dot product at
    /// `out`.
    ///
    /// `k` counts in the order of addition. Within a run of a level, the cycle never decreases as `k` grows
    /// (see [`keeps_order`](Self::keeps_order) for a whole dot product). The cycle is below
    /// [`cycles`](Self::cycles). SCALE-Sim counts one cycle less per matrix product than it takes; additions
    /// of that cycle are placed in the previous one.
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
