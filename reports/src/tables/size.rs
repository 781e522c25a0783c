//! `size.csv` and its companions: the widths that layers need, by every way of knowing.

use serde::{Deserialize, Serialize};

use super::Row;
use crate::{Fraction, Width};

/// A row of `size.csv`: one layer. Widths are those of the last accumulation level, which sums the whole dot
/// product, and the largest over the channels that have one. 65 means that the level is unsigned and no unsigned width
/// holds the sums.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizeRow {
    /// Index of the node.
    pub index: usize,
    /// Name of the layer.
    pub layer: String,
    /// Name of the operation.
    pub op: String,
    /// Products per dot product.
    pub terms: usize,
    /// Output channels.
    pub channels: usize,
    /// By the operands' types.
    pub bits_type: u32,
    /// By the real weights.
    pub bits_weights: u32,
    /// A2Q's closed form from the weights.
    pub bits_a2q: Option<u32>,
    /// A2Q+'s closed form, over the channels whose weights sum to 0.
    pub bits_a2q_plus: Option<u32>,
    /// Holds every final sum of the samples.
    pub bits_data_final: u32,
    /// Holds every prefix of the samples, in the hardware's order.
    pub bits_data_prefix: u32,
    /// Least width within the error budget.
    pub bits_budget: Option<u32>,
    /// By the real weights and the ranges that reach the layer.
    pub bits_range: u32,
    /// A2Q's closed form from the types.
    pub bits_a2q_type: Option<u32>,
    /// Width in `recommended.yaml`.
    pub bits_recommended: Width,
    /// Bits of the adders of one accumulator at the recommended widths, over all levels.
    pub adder_bits: u64,
    /// Bits of its registers.
    pub register_bits: u64,
    /// Bytes of sums between accumulators and their memory in one inference.
    pub psum_bytes: u64,
    /// LUTs of one accumulator, if a tool was asked.
    pub lut: Option<u64>,
    /// Flip-flops of one accumulator, if a tool was asked.
    pub ff: Option<u64>,
    /// Short name of the layer.
    pub name: String,
}

/// A row of `size_channels.csv`: one output channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizeChannelRow {
    /// Index of the node.
    pub index: usize,
    /// Name of the layer.
    pub layer: String,
    /// Name of the operation.
    pub op: String,
    /// Products per dot product.
    pub terms: usize,
    /// The output channel.
    pub channel: usize,
    /// By the operands' types.
    pub bits_type: u32,
    /// By the real weights.
    pub bits_weights: u32,
    /// A2Q's closed form from the weights.
    pub bits_a2q: Option<u32>,
    /// A2Q+'s closed form.
    pub bits_a2q_plus: Option<u32>,
    /// Holds every final sum of the samples.
    pub bits_data_final: u32,
    /// Holds every prefix of the samples.
    pub bits_data_prefix: u32,
    /// Least width within the error budget.
    pub bits_budget: Option<u32>,
    /// By the real weights and the ranges that reach the layer.
    pub bits_range: u32,
    /// A2Q's closed form from the types.
    pub bits_a2q_type: Option<u32>,
    /// Least sum that the real weights allow.
    pub min_sum: i128,
    /// Greatest sum that the real weights allow.
    pub max_sum: i128,
    /// Short name of the layer.
    pub name: String,
}

/// A row of `size_levels.csv`: one accumulation level of one layer, innermost first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizeLevelRow {
    /// Index of the node.
    pub index: usize,
    /// Name of the layer.
    pub layer: String,
    /// Name of the level.
    pub level: String,
    /// Its width in the accelerator.
    pub bits: Width,
    /// What it does with what does not fit.
    pub overflow: Option<String>,
    /// By the operands' types.
    pub bits_type: u32,
    /// By the real weights.
    pub bits_weights: u32,
    /// By the real weights and the ranges that reach the layer.
    pub bits_range: u32,
    /// Holds every final sum of the samples.
    pub bits_data_final: u32,
    /// Holds every prefix of the samples.
    pub bits_data_prefix: u32,
    /// Width in `recommended.yaml`.
    pub bits_recommended: Width,
    /// Short name of the layer.
    pub name: String,
}

/// A row of `size_grid.csv`: one layer with an inner accumulator for runs of `tile` products and an outer one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizeGridRow {
    /// Index of the node.
    pub index: usize,
    /// Name of the layer.
    pub layer: String,
    /// Products per dot product.
    pub terms: usize,
    /// Products per run of the inner accumulator.
    pub tile: usize,
    /// Runs per dot product: additions of the outer accumulator.
    pub tiles: usize,
    /// Width of the inner accumulator.
    pub inner_bits: u32,
    /// Width of the outer accumulator: at most what it then needs.
    pub outer_bits: u32,
    /// Whether it is proved that nothing overflows.
    pub legal: bool,
    /// Whether no other legal point needs less of one and no more of the others: inner bits, outer bits, tiles.
    pub pareto: bool,
    /// Bits of both adders.
    pub adder_bits: u64,
    /// Bits of both registers.
    pub register_bits: u64,
    /// Bytes of sums between the outer accumulator and its memory in one inference.
    pub psum_bytes: u64,
    /// Dot products of the samples that were simulated, evenly spread; `None` where none can be.
    pub dots: Option<u64>,
    /// Those of them whose sum is wrong.
    pub wrong: Option<u64>,
    /// The same as a share.
    pub error_rate: Option<Fraction>,
    /// Short name of the layer.
    pub name: String,
}

/// A row of `size_rates.csv`: how many of all dot products, pooled over the layers, do not fit a width.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizeRateRow {
    /// The width of the last level.
    pub bits: u32,
    /// Dot products.
    pub dots: u64,
    /// Dot products whose final sum does not fit.
    pub out_of_range_final: u64,
    /// Dot products of which some prefix does not fit.
    pub out_of_range_prefix: u64,
    /// The same as a share.
    pub rate_final: Option<Fraction>,
    /// The same as a share.
    pub rate_prefix: Option<Fraction>,
}

impl Row for SizeRow {
    const FILE: &'static str = "size.csv";
    const COLUMNS: &'static [&'static str] = &[
        "index",
        "layer",
        "op",
        "terms",
        "channels",
        "bits_type",
        "bits_weights",
        "bits_a2q",
        "bits_a2q_plus",
        "bits_data_final",
        "bits_data_prefix",
        "bits_budget",
        "bits_range",
        "bits_a2q_type",
        "bits_recommended",
        "adder_bits",
        "register_bits",
        "psum_bytes",
        "lut",
        "ff",
        "name",
    ];
}

impl Row for SizeChannelRow {
    const FILE: &'static str = "size_channels.csv";
    const COLUMNS: &'static [&'static str] = &[
        "index",
        "layer",
        "op",
        "terms",
        "channel",
        "bits_type",
        "bits_weights",
        "bits_a2q",
        "bits_a2q_plus",
        "bits_data_final",
        "bits_data_prefix",
        "bits_budget",
        "bits_range",
        "bits_a2q_type",
        "min_sum",
        "max_sum",
        "name",
    ];
}

impl Row for SizeLevelRow {
    const FILE: &'static str = "size_levels.csv";
    const COLUMNS: &'static [&'static str] = &[
        "index",
        "layer",
        "level",
        "bits",
        "overflow",
        "bits_type",
        "bits_weights",
        "bits_range",
        "bits_data_final",
        "bits_data_prefix",
        "bits_recommended",
        "name",
    ];
}

impl Row for SizeGridRow {
    const FILE: &'static str = "size_grid.csv";
    const COLUMNS: &'static [&'static str] = &[
        "index",
        "layer",
        "terms",
        "tile",
        "tiles",
        "inner_bits",
        "outer_bits",
        "legal",
        "pareto",
        "adder_bits",
        "register_bits",
        "psum_bytes",
        "dots",
        "wrong",
        "error_rate",
        "name",
    ];
}

impl Row for SizeRateRow {
    const FILE: &'static str = "size_rates.csv";
    const COLUMNS: &'static [&'static str] =
        &["bits", "dots", "out_of_range_final", "out_of_range_prefix", "rate_final", "rate_prefix"];
}
