//! `size.csv` and its companions: the widths that layers need, by every method.

use super::table::table;
use crate::{Fraction, Width};

/// Declares the tables of layers and of their channels: the columns that identify a row, the widths that both
/// tables have, and the remaining columns.
macro_rules! widths_table {
    (
        $file:literal $(#[doc = $about:literal])* $row:ident { $(#[doc = $own_doc:literal])* $own:ident: $own_ty:ty }
        { $($rest:tt)* }
    ) => {
        table! {
            $file
            $(#[doc = $about])*
            $row {
                /// Index of the node.
                index: usize,
                /// Name of the layer.
                layer: String,
                /// Name of the operation.
                op: String,
                /// Products per dot product.
                terms: usize,
                $(#[doc = $own_doc])*
                $own: $own_ty,
                /// By the operands' types.
                bits_type: u32,
                /// By the real weights; `None` where the weights are activations.
                bits_weights: Option<u32>,
                /// A2Q's closed form from the weights.
                bits_a2q: Option<u32>,
                /// A2Q+'s closed form; `None` unless the weights of the channel, or of every channel of the layer, sum to 0.
                bits_a2q_plus: Option<u32>,
                /// Holds every final sum of the samples.
                bits_data_final: u32,
                /// Holds every prefix of the samples, in the hardware's order.
                bits_data_prefix: u32,
                /// Least width within the error budget, with every other level wide.
                bits_budget: Option<u32>,
                /// By the real weights and the ranges that reach the layer, of both operands where the weights are activations.
                bits_range: u32,
                /// A2Q's closed form from the types.
                bits_a2q_type: Option<u32>,
                $($rest)*
                /// Short name of the layer.
                name: String,
            }
        }
    };
}

widths_table! {
    "size.csv"
    /// A row of `size.csv`: one layer. Widths are those of the last accumulation level, which sums the whole dot
    /// product, and the largest over the channels that have one. 65 means that the level is unsigned and no unsigned width
    /// holds the sums.
    SizeRow {
        /// Output channels.
        channels: usize
    } {
        /// Width in `recommended.yaml`.
        bits_recommended: Width,
        /// Bits of the adders of one accumulator at the recommended widths, over all levels.
        adder_bits: u64,
        /// Bits of its registers.
        register_bits: u64,
        /// Bytes of sums between accumulators and the memory that keeps them in one inference: of each dot product every run
        /// that the last level takes reads the sum so far, but the first, and writes it.
        psum_bytes: u64,
        /// LUTs of one accumulator, if a tool was asked.
        lut: Option<u64>,
        /// Flip-flops of one accumulator, if a tool was asked.
        ff: Option<u64>,
    }
}

widths_table! {
    "size_channels.csv"
    /// A row of `size_channels.csv`: one output channel.
    SizeChannelRow {
        /// The output channel.
        channel: usize
    } {
        /// Least sum that the real weights allow; `None` where the weights are activations.
        min_sum: Option<i128>,
        /// Greatest sum that the real weights allow; `None` where the weights are activations.
        max_sum: Option<i128>,
    }
}

table! {
    "size_levels.csv"
    /// A row of `size_levels.csv`: one accumulation level of one layer, innermost first.
    SizeLevelRow {
        /// Index of the node.
        index: usize,
        /// Name of the layer.
        layer: String,
        /// Name of the level.
        level: String,
        /// Its width in the accelerator.
        bits: Width,
        /// What it does with what does not fit.
        overflow: Option<String>,
        /// By the operands' types.
        bits_type: u32,
        /// By the real weights; `None` where the weights are activations.
        bits_weights: Option<u32>,
        /// By the real weights and the ranges that reach the layer, of both operands where the weights are activations.
        bits_range: u32,
        /// Holds every final sum of the samples.
        bits_data_final: u32,
        /// Holds every prefix of the samples.
        bits_data_prefix: u32,
        /// Width in `recommended.yaml`.
        bits_recommended: Width,
        /// Least width within the error budget, with every other level wide.
        bits_budget: Option<u32>,
        /// Short name of the layer.
        name: String,
    }
}

table! {
    "size_grid.csv"
    /// A row of `size_grid.csv`: one layer with an inner accumulator for runs of `tile` products and an outer one.
    SizeGridRow {
        /// Index of the node.
        index: usize,
        /// Name of the layer.
        layer: String,
        /// Products per dot product.
        terms: usize,
        /// Products per run of the inner accumulator.
        tile: usize,
        /// Runs per dot product: additions of the outer accumulator.
        tiles: usize,
        /// Width of the inner accumulator.
        inner_bits: u32,
        /// Width of the outer accumulator: at most what it then needs.
        outer_bits: u32,
        /// Whether it is proved that nothing overflows.
        legal: bool,
        /// Whether no other legal point needs less of one and no more of the others: inner bits, outer bits, tiles.
        pareto: bool,
        /// Bits of both adders.
        adder_bits: u64,
        /// Bits of both registers.
        register_bits: u64,
        /// Bytes of sums between the outer accumulator and its memory in one inference.
        psum_bytes: u64,
        /// Dot products of the samples that were simulated, evenly spread; `None` where none can be.
        dots: Option<u64>,
        /// Those of them whose sum is wrong.
        wrong: Option<u64>,
        /// The same as a share.
        error_rate: Option<Fraction> = wrong / dots,
        /// Short name of the layer.
        name: String,
    }
}

table! {
    "size_rates.csv"
    /// A row of `size_rates.csv`: how many of all dot products, pooled over the layers, do not fit a width of one level.
    SizeRateRow {
        /// The width of the level.
        bits: u32,
        /// Dot products.
        dots: u64,
        /// Dot products with a run whose final sum does not fit: persistent.
        out_of_range_final: u64,
        /// Dot products of which some prefix does not fit: persistent or transient.
        out_of_range_prefix: u64,
        /// The same as a share.
        rate_final: Option<Fraction> = out_of_range_final / dots,
        /// The same as a share.
        rate_prefix: Option<Fraction> = out_of_range_prefix / dots,
        /// Name of the level.
        level: String,
        /// Dot products of which some prefix, but no final sum, does not fit.
        transient: u64,
        /// The same as a share.
        rate_transient: Option<Fraction> = transient / dots,
    }
}
