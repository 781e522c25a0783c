//! `layers.csv`: one row per accumulation level of every accelerated layer, innermost level first.

use guardbit_hwmodels::{MacLayer, Program};
use guardbit_sim::{LayerStats, StatsLevel};
use serde::{Deserialize, Serialize};

use super::{Row, mac_layers, register};
use crate::{Decibel, Fraction, Width};

/// A row of `layers.csv`. What was not counted is `None`; so is, in all rows of a layer but the last, what
/// belongs to the layer as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LayerRow {
    /// Index of the layer over all operations of the graph.
    pub index: usize,
    /// Name of the layer: that of its output tensor.
    pub layer: String,
    /// Name of the operation.
    pub op: String,
    /// Name of the level.
    pub level: String,
    /// Width of the level.
    pub bits: Width,
    /// Overflow mode of the level; `None` if it cannot overflow.
    pub overflow: Option<String>,
    /// Dot products run, over all samples.
    pub dots: u64,
    /// Products per dot product.
    pub terms: usize,
    /// Additions at this level.
    pub adds: Option<u64>,
    /// Overflow events.
    pub events: Option<u64>,
    /// Events above the greatest value.
    pub events_high: Option<u64>,
    /// Events below the least value.
    pub events_low: Option<u64>,
    /// Dot products with an event at this level.
    pub outputs_touched: Option<u64>,
    /// Dot products with a final sum that does not fit the level.
    pub persistent: Option<u64>,
    /// Dot products with a prefix, but no final sum, that does not fit the level.
    pub transient: Option<u64>,
    /// Dot products whose delivered sum is not the exact one. Of the layer.
    pub wrong: Option<u64>,
    /// Wrong ones whose output code is right all the same. Of the layer.
    pub harmless: Option<u64>,
    /// Least of 0 and all unbounded prefixes.
    pub min_prefix: Option<i128>,
    /// Greatest of 0 and all unbounded prefixes.
    pub max_prefix: Option<i128>,
    /// Bits that hold every final sum.
    pub required_final: Option<u32>,
    /// Bits that hold every prefix.
    pub required_prefix: Option<u32>,
    /// Sum of `|delivered - exact|`. Of the layer.
    pub sum_abs_err: Option<u128>,
    /// Greatest `|delivered - exact|`. Of the layer.
    pub max_abs_err: Option<u128>,
    /// Output codes that differ from the exact network. Of the layer.
    pub output_mismatch: Option<u64>,
    /// Of the layer's real output against the exact one. Of the layer.
    pub sqnr_db: Option<Decibel>,
    /// Cycles of one inference. Of the layer.
    pub cycles: Option<u64>,
    /// Earliest cycle of an event. Of the layer.
    pub first_event_cycle: Option<u64>,
    /// Products that did not fit. Of the layer.
    pub product_events: Option<u64>,
    /// Biases, or sums with them, that did not fit. Of the layer.
    pub bias_events: Option<u64>,
    /// Cycles of one inference with memories that take no time. Of the layer.
    pub compute_cycles: Option<u64>,
    /// The other cycles. Of the layer.
    pub stall_cycles: Option<u64>,
    /// The part of the array's products that the layer needs. Of the layer.
    pub utilization: Option<Fraction>,
    /// Bytes between the SRAMs and the array in one inference. Of the layer.
    pub sram_bytes: Option<u64>,
    /// Bytes between the chip and its outside memory in one inference. Of the layer.
    pub dram_bytes: Option<u64>,
    /// Time of one inference at the clock, in microseconds. Of the layer.
    pub time_us: Option<f64>,
    /// Stalls that would be left with a memory outside that takes no time. Of the layer.
    pub stall_sram_cycles: Option<u64>,
    /// The other stalls: cycles that wait for the memory outside. Of the layer.
    pub stall_dram_cycles: Option<u64>,
    /// Short name of the layer.
    pub name: String,
}

impl Row for LayerRow {
    const FILE: &'static str = "layers.csv";
    const COLUMNS: &'static [&'static str] = &[
        "index",
        "layer",
        "op",
        "level",
        "bits",
        "overflow",
        "dots",
        "terms",
        "adds",
        "events",
        "events_high",
        "events_low",
        "outputs_touched",
        "persistent",
        "transient",
        "wrong",
        "harmless",
        "min_prefix",
        "max_prefix",
        "required_final",
        "required_prefix",
        "sum_abs_err",
        "max_abs_err",
        "output_mismatch",
        "sqnr_db",
        "cycles",
        "first_event_cycle",
        "product_events",
        "bias_events",
        "compute_cycles",
        "stall_cycles",
        "utilization",
        "sram_bytes",
        "dram_bytes",
        "time_us",
        "stall_sram_cycles",
        "stall_dram_cycles",
        "name",
    ];
}

/// The rows of every accelerated layer.
///
/// `layers` are the statistics per node, `stats` says how much of them was counted.
pub fn layer_rows(program: &Program, layers: &[Option<LayerStats>], stats: StatsLevel) -> Vec<LayerRow> {
    let rows = |(layer, counts)| rows_of_layer(layer, counts, stats);
    mac_layers(program, layers).flat_map(rows).collect()
}

fn rows_of_layer(layer: &MacLayer, counts: &LayerStats, stats: StatsLevel) -> Vec<LayerRow> {
    let last = layer.datapath.levels.len() - 1;
    (0..=last)
        .map(|level| {
            let mut row = identity(layer, level, counts.dots);
            count_level(&mut row, counts, level, stats);
            if level == last {
                count_layer(&mut row, layer, counts, stats);
            }
            row
        })
        .collect()
}

fn identity(layer: &MacLayer, level: usize, dots: u64) -> LayerRow {
    let (bits, overflow) = register(layer.datapath.levels[level].register);
    LayerRow {
        index: layer.node.index(),
        layer: layer.name.clone(),
        name: layer.short_name.clone(),
        op: layer.op.to_owned(),
        level: layer.datapath.levels[level].name.clone(),
        bits,
        overflow,
        dots,
        terms: layer.order.len(),
        adds: None,
        events: None,
        events_high: None,
        events_low: None,
        outputs_touched: None,
        persistent: None,
        transient: None,
        wrong: None,
        harmless: None,
        min_prefix: None,
        max_prefix: None,
        required_final: None,
        required_prefix: None,
        sum_abs_err: None,
        max_abs_err: None,
        output_mismatch: None,
        sqnr_db: None,
        cycles: None,
        first_event_cycle: None,
        product_events: None,
        bias_events: None,
        compute_cycles: None,
        stall_cycles: None,
        utilization: None,
        sram_bytes: None,
        dram_bytes: None,
        time_us: None,
        stall_sram_cycles: None,
        stall_dram_cycles: None,
    }
}

fn count_level(row: &mut LayerRow, counts: &LayerStats, level: usize, stats: StatsLevel) {
    let total = counts.levels[level].total();
    let can_overflow = |count| Some(if row.bits == Width::Auto { 0 } else { count });
    if stats.counts() {
        row.adds = Some(total.adds);
        row.persistent = can_overflow(total.persistent);
    }
    if stats.counts_events() {
        row.events = can_overflow(total.events());
        row.events_high = can_overflow(total.events_high);
        row.events_low = can_overflow(total.events_low);
        row.outputs_touched = can_overflow(total.outputs_touched);
    }
    if stats.counts_prefixes() {
        row.transient = can_overflow(total.transient);
        row.min_prefix = Some(total.min_prefix);
        row.max_prefix = Some(total.max_prefix);
        row.required_final = Some(total.required_final);
        row.required_prefix = Some(total.required_prefix);
    }
}

fn count_layer(row: &mut LayerRow, layer: &MacLayer, counts: &LayerStats, stats: StatsLevel) {
    let total = counts.total();
    row.output_mismatch = Some(total.output_mismatch);
    row.sqnr_db = Some(Decibel::new(counts.output_error.sqnr_db()));
    row.cycles = Some(layer.timing.cycles);
    if stats.counts() {
        row.wrong = Some(total.wrong);
        row.harmless = Some(total.harmless);
        row.sum_abs_err = Some(total.sum_abs_err);
        row.max_abs_err = Some(total.max_abs_err);
        row.first_event_cycle = counts.first_event_cycle;
        row.product_events = Some(total.product_events);
        row.bias_events = Some(total.bias_events);
        let cost = &layer.timing.cost;
        row.compute_cycles = Some(cost.compute_cycles);
        row.stall_cycles = Some(cost.stall_cycles);
        row.utilization = Some(Fraction::new(cost.utilization()));
        row.sram_bytes = Some(cost.sram_bytes);
        row.dram_bytes = Some(cost.dram_bytes);
        // To a picosecond: a clock makes no finer figures, and decimals stay short.
        row.time_us = Some((cost.microseconds * 1e6).round() / 1e6);
        row.stall_sram_cycles = Some(cost.stall_sram_cycles);
        row.stall_dram_cycles = Some(cost.stall_dram_cycles);
    }
}
