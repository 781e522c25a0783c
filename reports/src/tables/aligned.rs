//! `aligned.csv` and `aligned_bits.csv`: layers of floating-point codes on the accelerator.

use guardbit_graph::FloatOperand;
use guardbit_hwmodels::{FloatMacLayer, FloatResult, Program, Step, format_name};
use guardbit_sim::{FloatStats, StatsLevel};

use super::table::table;
use crate::numbers::rounded;
use crate::{Decibel, Fraction};

table! {
    "aligned.csv"
    /// A layer of floating-point codes that the accelerator runs, over all samples. A term is a product, or the
    /// accumulator that enters an addition. Exact sums are rational sums of the codes that the layer read, rounded
    /// once to float32.
    AlignedRow {
        /// Index of the layer over all operations of the graph.
        index: usize,
        /// Name of the layer.
        layer: String,
        /// Operation.
        op: String,
        /// Format of the activations.
        activations: String,
        /// Format of the weights.
        weights: String,
        /// Products of one dot product, padding included.
        products: usize,
        /// How products are added (`float_accumulation.reduce`).
        reduce: String,
        /// Products of one addition (`float_accumulation.terms`).
        addition: usize,
        /// Bits kept of each term below the largest exponent of its addition; with `result: fixed`, bits of the register
        /// below the binary point; with `reduce: serial` and `pairwise`, fraction bits of the result.
        fraction_bits: u32 ["bits"],
        /// Format of the accumulator; `fixed`: a fixed-point register.
        result: String,
        /// Products after which the accumulator is promoted to float32; blank: never.
        promote_terms: Option<usize>,
        /// Dot products.
        dots: u64,
        /// Terms of all additions.
        terms: u64,
        /// Terms that lost bits when they were aligned, or cut to the last bit of the register. With `reduce: serial` and
        /// `pairwise`, additions whose result, or a product in it, was rounded.
        cut_terms: u64,
        /// Share of the terms that lost bits.
        cut_share: Option<Fraction> = cut_terms / terms,
        /// Nonzero terms that became zero when they were aligned. With `reduce: serial` and `pairwise`, additions of two
        /// nonzero numbers that return one of them.
        vanished_terms: u64,
        /// Share of the terms that became zero.
        vanished_share: Option<Fraction> = vanished_terms / terms,
        /// Dot products in which a term lost bits.
        cut_dots: u64,
        /// Dot products in which a nonzero term became zero.
        vanished_dots: u64,
        /// Largest number of bits that a term lost.
        max_cut_bits: u64 ["bits"],
        /// Dot products whose delivered sum is not the exact sum.
        wrong: u64,
        /// Share of the dot products whose delivered sum is not the exact sum.
        wrong_share: Option<Fraction> = wrong / dots,
        /// Dot products whose exact or delivered sum is not finite. They count neither as distances nor in ratios.
        not_finite: u64,
        /// Largest distance of a delivered sum from the exact sum, in steps of float32.
        max_ulps: u64 ["steps of float32"],
        /// Mean of these distances over all finite dot products.
        mean_ulps: Option<f64> ["steps of float32"],
        /// Signal-to-noise ratio of the delivered sums against the exact sums.
        sum_sqnr_db: Option<Decibel> ["dB"],
        /// Signal-to-noise ratio of the outputs against those of the exact network.
        output_sqnr_db: Option<Decibel> ["dB"],
        /// Outputs that differ from those of the exact network.
        output_mismatch: u64,
        /// Fraction bits with which no term of these samples loses a bit; blank if more than 40, if the accumulator
        /// enters apart, with `reduce: serial` and `pairwise`, or if not counted (`--stats full` counts them, also in
        /// sweeps).
        required_exact: Option<u32> ["bits", Prefixes, "layer"],
        /// Fraction bits that deliver, for each dot product of these samples, the sum of an accumulator with 40 of them
        /// (of a fixed-point register, one without overflow); blank if not counted.
        required_result: Option<u32> ["bits", Prefixes, "layer"],
        /// Fraction bits that deliver the exact sum of each dot product of these samples; blank if not counted (then
        /// `unreached` is blank too), or if no number does for some of them, because the accumulator itself rounds.
        required_float32: Option<u32> ["bits", Prefixes, "layer"],
        /// Dot products whose exact sum no number of fraction bits delivers.
        unreached: Option<u64> ["dot products", Prefixes, "layer"],
        /// Width of the fixed-point register; blank: it never overflows, or the accumulator is a floating-point number.
        register_bits: Option<u32> ["bits"],
        /// Overflow mode of the fixed-point register.
        overflow_mode: Option<String>,
        /// Additions whose sum did not fit the fixed-point register; blank: the accumulator is a floating-point number.
        overflows: Option<u64>,
        /// Dot products with such an addition.
        overflow_dots: Option<u64>,
        /// Sample of the first overflow, in the order of samples, outputs and additions.
        first_overflow_sample: Option<usize>,
        /// Index of its output element.
        first_overflow_output: Option<usize>,
        /// Index of its addition in the dot product.
        first_overflow_addition: Option<usize>,
        /// Rail that it crossed: high or low.
        first_overflow_direction: Option<String>,
        /// Bits above the binary point, sign included, with which no sum of these samples overflows the fixed-point
        /// register: it needs as many bits as these and `fraction_bits` together. Blank if more than 64.
        required_integer: Option<u32> ["bits", Prefixes, "layer"],
        /// Cycles, with stalls.
        cycles: u64 ["cycles"],
        /// Short name of the layer.
        name: String,
        /// Format of the scales of the activations' blocks; blank: one scale for all.
        activation_scales: Option<String>,
        /// Format of the scales of the weights' blocks; blank: one scale for all, or one per output channel.
        weight_scales: Option<String>,
    }
}

table! {
    "aligned_bits.csv"
    /// A number of fraction bits that dot products of a layer of floating-point codes require. Numbers that none
    /// requires have no row. With `reduce: serial` and `pairwise`, none is counted.
    AlignedBitsRow {
        /// Index of the layer over all operations of the graph.
        index: usize,
        /// Name of the layer.
        layer: String,
        /// Fraction bits; blank for dot products for which 40 are too few.
        fraction_bits: Option<u32> ["bits"],
        /// Dot products that need as many for no term to lose a bit; blank if the accumulator enters apart.
        exact: Option<u64>,
        /// Dot products that need as many to deliver the sum of an accumulator with 40 of them.
        result: u64,
        /// Dot products that need as many to deliver the exact sum, rounded to float32.
        float32: u64,
        /// Short name of the layer.
        name: String,
    }
}

impl AlignedRow {
    /// Returns the formats of activations and of weights in words, with those of the scales of blocks.
    pub(crate) fn formats(&self) -> [String; 2] {
        let operands = [(&self.activations, &self.activation_scales), (&self.weights, &self.weight_scales)];
        operands.map(|(codes, scales)| match scales {
            Some(scales) => format!("{codes} x {scales}"),
            None => codes.clone(),
        })
    }

    /// Returns the SQNR of the sums in dB; infinite without noise.
    pub(crate) fn sum_sqnr(&self) -> f64 {
        self.sum_sqnr_db.map_or(f64::INFINITY, Decibel::value)
    }

    /// Restores infinite ratios, which JSON does not have.
    pub(crate) fn restore(&mut self) {
        let wrong = self.wrong.saturating_sub(self.not_finite);
        self.sum_sqnr_db.get_or_insert(Decibel::infinite(wrong));
        self.output_sqnr_db.get_or_insert(Decibel::infinite(self.output_mismatch));
    }
}

/// Returns the layers of floating-point codes with their statistics, in order of execution.
fn layers<'a>(
    program: &'a Program,
    stats: &'a [Option<FloatStats>],
) -> impl Iterator<Item = (&'a FloatMacLayer, &'a FloatStats)> {
    program.steps.iter().zip(stats).filter_map(|(step, stats)| match (step, stats) {
        (Step::Float(layer), Some(stats)) => Some((layer.as_ref(), stats)),
        _ => None,
    })
}

/// Returns the rows of `aligned.csv`. `stats` holds the statistics per node.
pub fn aligned_rows(program: &Program, stats: &[Option<FloatStats>], level: StatsLevel) -> Vec<AlignedRow> {
    layers(program, stats).map(|(layer, stats)| row(layer, stats, level)).collect()
}

fn row(layer: &FloatMacLayer, stats: &FloatStats, level: StatsLevel) -> AlignedRow {
    let (dots, accumulation) = (&layer.dots, &layer.accumulation);
    let finite = stats.dots - stats.not_finite;
    let required = |histogram: &[u64]| FloatStats::largest(histogram);
    let (register, first) = (accumulation.register, stats.first_overflow.0);
    let of_register = |count: u64| (accumulation.result == FloatResult::Fixed).then_some(count);
    AlignedRow {
        index: layer.node.index(),
        layer: layer.name.clone(),
        op: layer.op.to_owned(),
        activations: format_name(dots.activations.format).to_owned(),
        weights: format_name(dots.weights.format).to_owned(),
        products: dots.window.terms(),
        reduce: accumulation.reduce.name().to_owned(),
        addition: accumulation.terms,
        fraction_bits: accumulation.dot().fraction_bits(),
        result: accumulation.result.name().to_owned(),
        promote_terms: accumulation.promote_terms,
        dots: stats.dots,
        terms: stats.terms,
        cut_terms: stats.cut_terms,
        cut_share: Fraction::of(stats.cut_terms, stats.terms),
        vanished_terms: stats.vanished_terms,
        vanished_share: Fraction::of(stats.vanished_terms, stats.terms),
        cut_dots: stats.cut_dots,
        vanished_dots: stats.vanished_dots,
        max_cut_bits: stats.most_cut_bits.0,
        wrong: stats.wrong,
        wrong_share: Fraction::of(stats.wrong, stats.dots),
        not_finite: stats.not_finite,
        max_ulps: stats.most_ulps.0,
        mean_ulps: (finite > 0).then(|| rounded(stats.ulps as f64 / finite as f64, 6)),
        sum_sqnr_db: Some(Decibel::new(stats.sums.sqnr_db())),
        output_sqnr_db: Some(Decibel::new(stats.outputs.sqnr_db())),
        output_mismatch: stats.output_mismatch,
        required_exact: required(&stats.required_exact),
        required_result: required(&stats.required_result),
        required_float32: required(&stats.required_float32),
        unreached: level.counts_prefixes().then(|| stats.required_float32.last().copied()).flatten(),
        register_bits: register.bits(),
        overflow_mode: register.overflow().map(|mode| mode.name().to_owned()),
        overflows: of_register(stats.overflows),
        overflow_dots: of_register(stats.overflow_dots),
        first_overflow_sample: first.map(|first| first.sample),
        first_overflow_output: first.map(|first| first.output),
        first_overflow_addition: first.map(|first| first.addition),
        first_overflow_direction: first.map(|first| first.direction.name().to_owned()),
        required_integer: required(&stats.required_integer),
        cycles: layer.timing.cycles,
        name: layer.short_name.clone(),
        activation_scales: scales(&dots.activations),
        weight_scales: scales(&dots.weights),
    }
}

/// Returns the format of the scales of blocks.
fn scales(operand: &FloatOperand) -> Option<String> {
    operand.blocks.as_ref().map(|blocks| blocks.format.name().to_owned())
}

/// Returns the rows of `aligned_bits.csv`; none unless all statistics were counted.
pub fn aligned_bits_rows(program: &Program, stats: &[Option<FloatStats>]) -> Vec<AlignedBitsRow> {
    layers(program, stats).flat_map(|(layer, stats)| bits_rows(layer, stats)).collect()
}

fn bits_rows(layer: &FloatMacLayer, stats: &FloatStats) -> Vec<AlignedBitsRow> {
    let last = stats.required_result.len().saturating_sub(1);
    let row = |(bits, (&result, &float32)): (usize, (&u64, &u64))| AlignedBitsRow {
        index: layer.node.index(),
        layer: layer.name.clone(),
        fraction_bits: (bits < last).then_some(bits as u32),
        exact: stats.required_exact.get(bits).copied(),
        result,
        float32,
        name: layer.short_name.clone(),
    };
    let pairs = stats.required_result.iter().zip(&stats.required_float32).enumerate().map(row);
    pairs.filter(|row| row.exact.unwrap_or(0) + row.result + row.float32 > 0).collect()
}
