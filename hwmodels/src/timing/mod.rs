//! When and where things happen: closed forms, per dataflow and convention.
//!
//! A layer is one matrix product per group ([`Gemm`]). A dataflow cuts it into folds, each as large as the
//! array, and places every addition within its fold; a convention says when each fold starts.

mod array;
mod cost;
mod ethos_u;
mod fit;
mod gemm;
mod input_stationary;
mod mapping;
mod output_stationary;
mod overlapped;
mod scalesim_v3;
mod traffic;
mod vector;
mod weight_stationary;

use guardbit_graph::{OutputPosition, Window};

pub use array::ArrayCycles;
pub use cost::Cost;
pub use fit::Fit;
pub use gemm::{Gemm, Widths};

use crate::{Accelerator, Array, Dataflow, Place, TimingConvention};
use mapping::Mapping;
use traffic::Traffic;

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
    /// How much of the array and of the SRAMs it fills.
    pub fit: Fit,
    mapping: Mapping,
    schedule: Schedule,
    /// `[rows, columns]` of the output.
    image: [usize; 2],
}

/// When the folds of a layer start, in cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Schedule {
    /// Before the first fold.
    lead: u64,
    /// From one fold to the next.
    fold: u64,
    /// From the first fold of a group to that of the next group.
    group: u64,
    /// The last cycle of a group in which something can be placed, from the group's start.
    last: u64,
    /// Of the whole layer, with a memory that takes no time.
    compute: u64,
    /// Of the whole layer.
    cycles: u64,
}

impl LayerTiming {
    /// The timing of a layer with this window, whose codes have these widths.
    pub fn new(accelerator: &Accelerator, window: &Window, widths: Widths) -> Self {
        let gemm = Gemm::of(window);
        let mapping = Mapping::new(accelerator.dataflow, accelerator.array, gemm);
        let fold = mapping.fold();
        let traffic = Traffic::new(&fold, window, widths, &accelerator.memory);
        let schedule = match accelerator.timing {
            TimingConvention::ScalesimV3 => scalesim_v3::schedule(&mapping),
            TimingConvention::Overlapped => overlapped::schedule(&fold, &traffic, &accelerator.memory),
            TimingConvention::EthosU => ethos_u::schedule(&fold, window, widths, accelerator),
        };
        let fit = Fit::new(&mapping, &traffic, window, widths, &accelerator.memory);
        let image = [window.output[0], window.output[1]];
        let mut array = accelerator.array;
        array.rows *= array.cores;
        let cost = Cost::new(&schedule, &fold, &traffic, window, array, accelerator.clock_mhz);
        Self { cycles: schedule.cycles, array, cost, fit, mapping, schedule, image }
    }

    /// Whether all additions of a dot product happen in the same processing element.
    pub fn stays_in_place(&self) -> bool {
        matches!(self.mapping.dataflow(), Dataflow::OutputStationary | Dataflow::Vector)
    }

    /// When and where level `level` adds the value that ends with product `k` of the dot product at `out`.
    ///
    /// `k` counts in the order of addition. Within a dot product and a level the cycle never falls as `k`
    /// grows, and it is below [`cycles`](Self::cycles): SCALE-Sim counts one cycle less per matrix product
    /// than there are, and what happens in that one is placed in the one before.
    pub fn place(&self, out: OutputPosition, k: usize, level: usize) -> Place {
        let pixel = (out.n * self.image[0] + out.h) * self.image[1] + out.w;
        let slot = self.mapping.slot(pixel, out.c, k, level);
        let Schedule { lead, fold, group, last, .. } = self.schedule;
        let in_group = (slot.fold as u64 * fold + slot.offset as u64).min(last);
        Place { cycle: lead + slot.group as u64 * group + in_group, row: slot.row, col: slot.col }
    }
}
