//! Statistics of a layer of floating-point codes.

#![allow(clippy::needless_range_loop, reason = "lanes are walked by index, in several arrays at once")]

use guardbit_hwmodels::FloatAccumulation;
use guardbit_num::{Direction, FloatDot, MAX_BITS, RegisterUse};

use super::dot::Required;
use super::wide::{Squares, WideSum};
use crate::accumulate::Accumulate;
use crate::accumulate_fields;
use crate::fast::LANES;
use crate::stats::sqnr_db;

/// Number of bins of a histogram of fraction bits: the index is the number, and the last bin holds dot products for
/// which the most fraction bits are too few.
pub const FLOAT_BINS: usize = FloatAccumulation::MAX_FRACTION_BITS as usize + 2;

/// Number of bins of the histogram of integer bits: the index is the number, and the last bin holds dot products that
/// need more than a register can have.
pub const INTEGER_BINS: usize = MAX_BITS as usize + 2;

/// Statistics of a layer of floating-point codes over all dot products and samples.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FloatStats {
    /// Dot products.
    pub dots: u64,
    /// Terms of all additions: products, and one accumulator per addition.
    pub terms: u64,
    /// Terms that lost bits when they were aligned.
    pub cut_terms: u64,
    /// Nonzero terms that became zero when they were aligned.
    pub vanished_terms: u64,
    /// Dot products in which a term lost bits.
    pub cut_dots: u64,
    /// Dot products in which a nonzero term became zero.
    pub vanished_dots: u64,
    /// Dot products whose delivered sum is not the exact sum, rounded to float32.
    pub wrong: u64,
    /// Dot products whose exact or delivered sum is not finite.
    pub not_finite: u64,
    /// Largest number of fraction bits that a term lost.
    pub most_cut_bits: Most,
    /// Largest distance of a delivered from the exact sum, in steps of float32.
    pub most_ulps: Most,
    /// Sum of these distances.
    pub ulps: u128,
    /// Dot products by the fraction bits with which no term loses a bit. Empty unless all statistics are counted, and
    /// if the accumulator enters apart.
    pub required_exact: Vec<u64>,
    /// Dot products by the fraction bits that deliver the sum of a register with the most fraction bits. Empty unless
    /// all statistics are counted.
    pub required_result: Vec<u64>,
    /// Dot products by the fraction bits that deliver the exact sum, rounded to float32; the last bin holds those for
    /// which no number does. Empty unless all statistics are counted.
    pub required_float32: Vec<u64>,
    /// Additions whose sum did not fit the fixed-point register.
    pub overflows: u64,
    /// Dot products with such an addition.
    pub overflow_dots: u64,
    /// The first of these additions.
    pub first_overflow: FirstOverflow,
    /// Dot products by the integer bits, sign included, with which no sum overflows a fixed-point register of the
    /// accelerator's fraction bits. Empty without such a register, and unless all statistics are counted.
    pub required_integer: Vec<u64>,
    /// Delivered sums against exact sums of the same operands.
    pub sums: SquaredReals,
    /// Outputs against those of the exact network.
    pub outputs: SquaredReals,
    /// Outputs that differ from those of the exact network.
    pub output_mismatch: u64,
}

/// A number of which the largest is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Most(pub u64);

impl Accumulate for Most {
    fn empty(&self) -> Self {
        Self(0)
    }

    fn merge(&mut self, other: Self) {
        *self = (*self).max(other);
    }
}

/// The first overflow in the order of samples, outputs and additions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FirstOverflow(pub Option<Overflowed>);

/// An addition whose sum did not fit a fixed-point register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overflowed {
    /// Index of the sample.
    pub sample: usize,
    /// Index of the output element.
    pub output: usize,
    /// Index of the addition in its dot product.
    pub addition: usize,
    /// The rail that was crossed.
    pub direction: Direction,
}

impl Accumulate for FirstOverflow {
    fn empty(&self) -> Self {
        Self(None)
    }

    fn merge(&mut self, other: Self) {
        self.0 = self.0.into_iter().chain(other.0).min_by_key(|at| (at.sample, at.output, at.addition));
    }
}

/// Exact sums of squares of real values and of their errors. Pairs that are not finite are left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SquaredReals {
    pub(super) signal: WideSum,
    pub(super) noise: WideSum,
}

impl Accumulate for WideSum {
    fn empty(&self) -> Self {
        Self::default()
    }

    fn merge(&mut self, other: Self) {
        Self::merge(self, other);
    }
}

accumulate_fields!(SquaredReals { signal, noise });

accumulate_fields!(FloatStats {
    dots,
    terms,
    cut_terms,
    vanished_terms,
    cut_dots,
    vanished_dots,
    wrong,
    not_finite,
    most_cut_bits,
    most_ulps,
    ulps,
    required_exact,
    required_result,
    required_float32,
    overflows,
    overflow_dots,
    first_overflow,
    required_integer,
    sums,
    outputs,
    output_mismatch,
});

impl SquaredReals {
    /// Returns the signal-to-noise ratio in dB; infinite if nothing differs.
    pub fn sqnr_db(&self) -> f64 {
        sqnr_db(self.signal.number().value(), self.noise.number().value())
    }
}

/// Real values on the way to [`SquaredReals`].
#[derive(Debug, Default)]
pub(super) struct RealPairs {
    signal: Squares,
    noise: Squares,
}

impl RealPairs {
    /// Adds the pairs of float32 values of all lanes, given by their codes.
    #[inline(always)]
    pub fn add(&mut self, exact: &[u32; LANES], delivered: &[u32; LANES]) {
        let (mut signal, mut noise) = ([0; LANES], [0; LANES]);
        for l in 0..LANES {
            let [exact, delivered] = [exact[l], delivered[l]].map(f32::from_bits);
            let finite = exact.is_finite() & delivered.is_finite();
            let [exact, delivered] = [exact, delivered].map(f64::from);
            let error = exact - delivered;
            signal[l] = if finite { (exact * exact).to_bits() } else { 0 };
            noise[l] = if finite { (error * error).to_bits() } else { 0 };
        }
        self.signal.add(&signal);
        self.noise.add(&noise);
    }

    /// Adds the pairs to `sums`.
    pub fn end(mut self, sums: &mut SquaredReals) {
        self.signal.empty();
        self.noise.empty();
        sums.signal.merge(self.signal.sum);
        sums.noise.merge(self.noise.sum);
    }
}

impl FloatStats {
    /// Returns empty statistics of a layer. Histograms have bins if all statistics are counted.
    pub(crate) fn new(is_full: bool, accumulation: &FloatDot) -> Self {
        let bins = |counted: bool| vec![0; if counted { FLOAT_BINS } else { 0 }];
        let varies = is_full && accumulation.with_fraction_bits(0).is_some();
        let integer_bins =
            if is_full && matches!(accumulation, FloatDot::Fixed(_)) { INTEGER_BINS } else { 0 };
        Self {
            dots: 0,
            terms: 0,
            cut_terms: 0,
            vanished_terms: 0,
            cut_dots: 0,
            vanished_dots: 0,
            wrong: 0,
            not_finite: 0,
            most_cut_bits: Most(0),
            most_ulps: Most(0),
            ulps: 0,
            required_exact: bins(is_full && accumulation.keeps_all()),
            required_result: bins(varies),
            required_float32: bins(varies),
            overflows: 0,
            overflow_dots: 0,
            first_overflow: FirstOverflow(None),
            required_integer: vec![0; integer_bins],
            sums: SquaredReals::default(),
            outputs: SquaredReals::default(),
            output_mismatch: 0,
        }
    }

    /// Counts what happened in a fixed-point register, with the indices of the sample and of the output.
    pub(super) fn overflowed(&mut self, register: &RegisterUse, [sample, output]: [usize; 2]) {
        self.overflows += u64::from(register.overflows);
        self.overflow_dots += u64::from(register.overflows > 0);
        let first = register.first;
        let first = first.map(|(addition, direction)| Overflowed { sample, output, addition, direction });
        self.first_overflow.merge(FirstOverflow(first));
        let bits = (register.integer_bits as usize).min(INTEGER_BINS - 1);
        self.required_integer.get_mut(bits).into_iter().for_each(|dots| *dots += 1);
    }

    /// Counts what a dot product requires.
    pub(super) fn requires(&mut self, required: &Required) {
        let beyond = FLOAT_BINS - 1;
        if let Some(bins) = self.required_exact.get_mut(required.exact.map_or(beyond, |bits| bits as usize)) {
            *bins += 1;
        }
        self.required_result[required.result as usize] += 1;
        let float32 = if required.reaches_exact { required.result as usize } else { beyond };
        self.required_float32[float32] += 1;
    }

    /// Returns the largest bin of a histogram that holds a dot product; `None` if it is empty, or if the most bits are
    /// too few for a dot product.
    pub fn largest(histogram: &[u64]) -> Option<u32> {
        let largest = histogram.iter().rposition(|&count| count > 0)?;
        (largest + 1 < histogram.len()).then_some(largest as u32)
    }
}
