//! `size.csv` and its companions: the widths that layers need, by every method.

use super::table::table;
use crate::{Decibel, Fraction, Width};

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
                /// Width by the operands' types: holds every sum of any codes.
                bits_type: u32,
                /// Width by the real weights: holds every sum of any activations. Blank if the weights are
                /// activations.
                bits_weights: Option<u32>,
                /// Width by A2Q's closed form from the weights.
                bits_a2q: Option<u32>,
                /// Width by A2Q+'s closed form. Blank unless the weights of the channel, or of every channel
                /// of the layer, sum to 0.
                bits_a2q_plus: Option<u32>,
                /// Width that holds every final sum of the samples.
                bits_data_final: u32,
                /// Width that holds every prefix of the samples, in the hardware's order.
                bits_data_prefix: u32,
                /// Smallest width within the error budget, with every other level wide enough.
                bits_budget: Option<u32>,
                /// Width by the real weights and the ranges that reach the layer (of both operands if the
                /// weights are activations).
                bits_range: u32,
                /// Width by A2Q's closed form from the types.
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
    /// One layer. Widths are those of the last accumulation level, which sums the whole dot product: the
    /// largest over the channels that have one. 65 means that the level is unsigned and no unsigned width
    /// holds the sums.
    SizeRow {
        /// Output channels.
        channels: usize
    } {
        /// Width in `recommended.yaml`.
        bits_recommended: Width,
        /// Bits of the adders of one accumulator at the recommended widths, over all levels.
        adder_bits: u64,
        /// Bits of the registers of one accumulator.
        register_bits: u64,
        /// Bytes of sums between the accumulators and their memory in one inference. Each run that the last
        /// level adds reads the sum so far (except the first run) and writes the new sum.
        psum_bytes: u64,
        /// LUTs of one accumulator; only with `--area`.
        lut: Option<u64>,
        /// Flip-flops of one accumulator; only with `--area`.
        ff: Option<u64>,
    }
}

widths_table! {
    "size_channels.csv"
    /// One output channel.
    SizeChannelRow {
        /// The output channel.
        channel: usize
    } {
        /// Least sum that the real weights allow; blank if the weights are activations.
        min_sum: Option<i128>,
        /// Greatest sum that the real weights allow; blank if the weights are activations.
        max_sum: Option<i128>,
    }
}

table! {
    "size_levels.csv"
    /// One accumulation level of one layer, innermost first.
    SizeLevelRow {
        /// Index of the node.
        index: usize,
        /// Name of the layer.
        layer: String,
        /// Name of the level.
        level: String,
        /// Width of the level in the accelerator.
        bits: Width,
        /// Overflow mode of the level; blank if it cannot overflow.
        overflow: Option<String>,
        /// Width by the operands' types: holds every sum of any codes.
        bits_type: u32,
        /// Width by the real weights: holds every sum of any activations. Blank if the weights are
        /// activations.
        bits_weights: Option<u32>,
        /// Width by the real weights and the ranges that reach the layer (of both operands if the weights are
        /// activations).
        bits_range: u32,
        /// Width that holds every final sum of the samples.
        bits_data_final: u32,
        /// Width that holds every prefix of the samples.
        bits_data_prefix: u32,
        /// Width in `recommended.yaml`.
        bits_recommended: Width,
        /// Smallest width within the error budget, with every other level wide enough.
        bits_budget: Option<u32>,
        /// Short name of the layer.
        name: String,
    }
}

table! {
    "size_grid.csv"
    /// One layer with an inner accumulator for runs of `tile` products and an outer one.
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
        /// Width of the outer accumulator, at most the width that it requires.
        outer_bits: u32,
        /// Whether it is proved that no accumulator overflows.
        legal: bool,
        /// Whether the point is on the Pareto front of all legal points in inner bits, outer bits and tiles.
        pareto: bool,
        /// Bits of both adders.
        adder_bits: u64,
        /// Bits of both registers.
        register_bits: u64,
        /// Bytes of sums between the outer accumulator and its memory in one inference.
        psum_bytes: u64,
        /// Dot products of the samples that were simulated, evenly spread; blank if none can be simulated.
        dots: Option<u64>,
        /// Simulated dot products with a wrong sum.
        wrong: Option<u64>,
        /// The preceding count as a share of `dots`.
        error_rate: Option<Fraction> = wrong / dots,
        /// Short name of the layer.
        name: String,
    }
}

table! {
    "size_rates.csv"
    /// Number of dot products, over all layers, that do not fit a width of one level.
    SizeRateRow {
        /// The width of the level.
        bits: u32,
        /// Dot products.
        dots: u64,
        /// Persistent dot products: some final sum does not fit.
        out_of_range_final: u64,
        /// Persistent or transient dot products: some prefix does not fit.
        out_of_range_prefix: u64,
        /// The preceding count as a share of `dots`.
        rate_final: Option<Fraction> = out_of_range_final / dots,
        /// The preceding count as a share of `dots`.
        rate_prefix: Option<Fraction> = out_of_range_prefix / dots,
        /// Name of the level.
        level: String,
        /// Transient dot products: some prefix does not fit, but every final sum fits.
        transient: u64,
        /// The preceding count as a share of `dots`.
        rate_transient: Option<Fraction> = transient / dots,
    }
}

table! {
    "size_bits.csv"
    /// A number of fraction bits in all layers of floating-point codes whose terms are aligned, with the results of
    /// the network. Accumulators of integer layers are wide enough for everything.
    SizeBitsRow {
        /// Fraction bits of every layer (`float_accumulation.fraction_bits`).
        fraction_bits: u32 ["bits"],
        /// Samples run.
        samples: u64,
        /// Accuracy; blank without labels of classes.
        accuracy: Option<Fraction>,
        /// Share of the samples whose top-1 class is that of the exact network.
        top1_agreement: Option<Fraction>,
        /// Output values that differ from those of the exact network.
        output_mismatch: u64,
        /// SQNR of the output against that of the exact network.
        output_sqnr_db: Option<Decibel> ["dB"],
        /// Whether the results are within the budget; blank without one.
        within_budget: Option<bool>,
        /// Whether it is the recommended number.
        recommended: bool,
        /// LUTs of one unit, the largest if formats of layers differ; only with `--area`, for every fourth number, the
        /// recommended one and that of the accelerator.
        lut: Option<u64>,
        /// Flip-flops of this unit.
        ff: Option<u64>,
    }
}

table! {
    "size_float.csv"
    /// A layer of floating-point codes whose terms are aligned, with the fraction bits that it needs.
    SizeFloatRow {
        /// Index of the node.
        index: usize,
        /// Name of the layer.
        layer: String,
        /// Name of the operation.
        op: String,
        /// Format of the activations.
        activations: String,
        /// Format of the weights.
        weights: String,
        /// Products of one dot product, padding included.
        products: usize,
        /// Fraction bits of the accelerator.
        fraction_bits: u32 ["bits"],
        /// Fraction bits with which no term of these samples loses a bit; blank if more than 40, or if the accumulator
        /// enters apart.
        required_exact: Option<u32> ["bits"],
        /// Fraction bits that deliver, for each dot product of these samples, the sum of an accumulator with 40 of
        /// them.
        required_result: Option<u32> ["bits"],
        /// Fraction bits in `recommended.yaml`.
        recommended: u32 ["bits"],
        /// Short name of the layer.
        name: String,
    }
}
