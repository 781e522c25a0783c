//! `channels.csv`: the counts of `layers.csv`, one row per output channel of every level.

use guardbit_hwmodels::{MacLayer, Program};
use guardbit_sim::{LayerStats, StatsLevel};
use serde::{Deserialize, Serialize};

use super::{Row, mac_layers, register};
use crate::Width;

/// A row of `channels.csv`. Blanks are those of [`LayerRow`](super::LayerRow).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelRow {
    /// Index of the layer over all operations of the graph.
    pub index: usize,
    /// Name of the layer.
    pub layer: String,
    /// Name of the level.
    pub level: String,
    /// Output channel.
    pub channel: usize,
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
    /// Dot products whose delivered sum is not the exact one. In the last level's row.
    pub wrong: Option<u64>,
    /// Wrong ones whose output code is right all the same. In the last level's row.
    pub harmless: Option<u64>,
    /// Least of 0 and all unbounded prefixes.
    pub min_prefix: Option<i128>,
    /// Greatest of 0 and all unbounded prefixes.
    pub max_prefix: Option<i128>,
    /// Bits that hold every final sum.
    pub required_final: Option<u32>,
    /// Bits that hold every prefix.
    pub required_prefix: Option<u32>,
    /// Sum of `|delivered - exact|`. In the last level's row.
    pub sum_abs_err: Option<u128>,
    /// Greatest `|delivered - exact|`. In the last level's row.
    pub max_abs_err: Option<u128>,
    /// Output codes that differ from the exact network. In the last level's row.
    pub output_mismatch: Option<u64>,
    /// Products that did not fit. In the last level's row.
    pub product_events: Option<u64>,
    /// Biases, or sums with them, that did not fit. In the last level's row.
    pub bias_events: Option<u64>,
    /// Short name of the layer.
    pub name: String,
}

impl Row for ChannelRow {
    const FILE: &'static str = "channels.csv";
    const COLUMNS: &'static [&'static str] = &[
        "index",
        "layer",
        "level",
        "channel",
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
        "product_events",
        "bias_events",
        "name",
    ];
}

/// The rows of every output channel of every accelerated layer.
///
/// `layers` are the statistics per node, `stats` says how much of them was counted.
pub fn channel_rows(program: &Program, layers: &[Option<LayerStats>], stats: StatsLevel) -> Vec<ChannelRow> {
    let mut rows = Vec::new();
    for (layer, counts) in mac_layers(program, layers) {
        for level in 0..layer.datapath.levels.len() {
            let channels = 0..counts.channels.len();
            rows.extend(channels.map(|channel| row(layer, counts, level, channel, stats)));
        }
    }
    rows
}

fn row(
    layer: &MacLayer,
    layer_counts: &LayerStats,
    level: usize,
    channel: usize,
    stats: StatsLevel,
) -> ChannelRow {
    let seen = &layer_counts.levels[level].channels[channel];
    let errors = &layer_counts.channels[channel];
    let (width, _) = register(layer.datapath.levels[level].register);
    let is_last = level + 1 == layer.datapath.levels.len();
    let (counts, events, prefixes) = (stats.counts(), stats.counts_events(), stats.counts_prefixes());
    let can_overflow = |count| if width == Width::Auto { 0 } else { count };
    let of_layer = counts && is_last;
    ChannelRow {
        index: layer.node.index(),
        layer: layer.name.clone(),
        name: layer.short_name.clone(),
        level: layer.datapath.levels[level].name.clone(),
        channel,
        dots: errors.dots,
        terms: layer.order.len(),
        adds: counts.then_some(seen.adds),
        events: events.then_some(can_overflow(seen.events())),
        events_high: events.then_some(can_overflow(seen.events_high)),
        events_low: events.then_some(can_overflow(seen.events_low)),
        outputs_touched: events.then_some(can_overflow(seen.outputs_touched)),
        persistent: counts.then_some(can_overflow(seen.persistent)),
        transient: prefixes.then_some(can_overflow(seen.transient)),
        wrong: of_layer.then_some(errors.wrong),
        harmless: of_layer.then_some(errors.harmless),
        min_prefix: prefixes.then_some(seen.min_prefix),
        max_prefix: prefixes.then_some(seen.max_prefix),
        required_final: prefixes.then_some(seen.required_final),
        required_prefix: prefixes.then_some(seen.required_prefix),
        sum_abs_err: of_layer.then_some(errors.sum_abs_err),
        max_abs_err: of_layer.then_some(errors.max_abs_err),
        output_mismatch: is_last.then_some(errors.output_mismatch),
        product_events: of_layer.then_some(errors.product_events),
        bias_events: of_layer.then_some(errors.bias_events),
    }
}
