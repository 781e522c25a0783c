//! `bottlenecks.csv`: the resource that bounds the speed of every layer.

use guardbit_hwmodels::timing::{Bound, Cost};
use guardbit_hwmodels::{Program, TimedLayer};

use super::table::table;
use crate::Fraction;
use crate::numbers::rounded;

table! {
    "bottlenecks.csv"
    /// The resources that limit one layer in one inference.
    BottleneckRow {
        /// Index of the layer over all operations of the graph.
        index: usize,
        /// Name of the layer.
        layer: String,
        /// Operation.
        op: String,
        /// The resource that shortens the layer most if it is twice as fast: `dram` (external memory),
        /// `activation_port`, `weight_port` or `accumulator_port` (ports of the SRAMs), `compute` (the
        /// array), or `mapping` (the array, if the layer uses less than half of its products in the compute
        /// cycles).
        bound: String,
        /// Products, padding included.
        macs: u64,
        /// Cycles, with stalls.
        cycles: u64 ["cycles"],
        /// Cycles of the products only, on an array that is always full.
        ideal_cycles: u64 ["cycles"],
        /// Cycles of the array with infinitely fast memories, including filling and draining, with the best
        /// tiles for that case.
        compute_cycles: u64 ["cycles"],
        /// Cycles in which the ports between the SRAMs and the array are busy; 0 if the convention does not
        /// count them.
        sram_cycles: u64 ["cycles"],
        /// Cycles in which the external memory is busy; 0 if the convention does not count them.
        dram_cycles: u64 ["cycles"],
        /// Products as a share of the products that the array could compute in all cycles.
        utilization: Option<Fraction>,
        /// Products per cycle.
        macs_per_cycle: Option<f64>,
        /// Bytes between the chip and the external memory.
        dram_bytes: u64 ["bytes"],
        /// Products per byte to or from external memory.
        macs_per_dram_byte: Option<f64>,
        /// Part of the cycles of all layers.
        share: Option<Fraction>,
        /// Cycles of the layer if the resource in `bound` is twice as fast, with the best tiles for that
        /// case.
        doubled_cycles: u64 ["cycles"],
        /// Short name of the layer.
        name: String,
    }
}

/// Returns the rows of a program, in order of execution.
pub fn bottleneck_rows(program: &Program) -> Vec<BottleneckRow> {
    let all: u64 = program.timed_layers().map(|layer| layer.timing.cycles).fold(0, u64::saturating_add);
    program.timed_layers().map(|layer| row(layer, all)).collect()
}

fn row(layer: TimedLayer<'_>, all: u64) -> BottleneckRow {
    let cost: &Cost = &layer.timing.cost;
    let bound = Bound::of(cost);
    let per = |whole: u64| (whole > 0).then(|| rounded(cost.macs as f64 / whole as f64, 6));
    BottleneckRow {
        index: layer.node.index(),
        layer: layer.name.to_owned(),
        op: layer.op.to_owned(),
        bound: bound.name().to_owned(),
        macs: cost.macs,
        cycles: layer.timing.cycles,
        ideal_cycles: cost.ideal_cycles,
        compute_cycles: cost.compute_cycles,
        sram_cycles: cost.sram_cycles,
        dram_cycles: cost.dram_cycles,
        utilization: Fraction::of(cost.macs, cost.capacity),
        macs_per_cycle: per(layer.timing.cycles),
        dram_bytes: cost.dram_bytes,
        macs_per_dram_byte: per(cost.dram_bytes),
        share: Fraction::of(layer.timing.cycles, all),
        doubled_cycles: cost.doubled.of(bound),
        name: layer.short_name.to_owned(),
    }
}
