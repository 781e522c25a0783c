//! Statistics of a layer of floating-point codes.

use guardbit_hwmodels::FloatAccumulation;
use guardbit_num::{AlignedDot, Decoded, Dyadic};

use super::dot::{Outcome, same};
use super::wide::WideSum;
use crate::accumulate::Accumulate;
use crate::accumulate_fields;
use crate::stats::sqnr_db;

/// Number of bins of a histogram of fraction bits: the index is the number, and the last bin holds dot products for
/// which the most fraction bits are too few.
pub const FLOAT_BINS: usize = FloatAccumulation::MAX_FRACTION_BITS as usize + 2;

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

/// Exact sums of squares of real values and of their errors. Pairs that are not finite are left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SquaredReals {
    signal: WideSum,
    noise: WideSum,
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
    sums,
    outputs,
    output_mismatch,
});

impl SquaredReals {
    /// Adds one pair.
    pub(super) fn add(&mut self, exact: f32, delivered: f32) {
        if exact.is_finite() && delivered.is_finite() {
            let error = f64::from(exact) - f64::from(delivered);
            self.signal.add(square(exact.into()));
            self.noise.add(square(error));
        }
    }

    /// Returns the signal-to-noise ratio in dB; infinite if nothing differs.
    pub fn sqnr_db(&self) -> f64 {
        sqnr_db(self.signal.number().value(), self.noise.number().value())
    }
}

/// Returns the square, rounded to float64.
fn square(value: f64) -> Dyadic {
    match (value * value).into() {
        Decoded::Finite(number) => number,
        Decoded::Infinite { .. } | Decoded::Nan => Dyadic { negative: false, significand: 0, exponent: 0 },
    }
}

impl FloatStats {
    /// Returns empty statistics. Histograms have bins if all statistics are counted.
    pub(crate) fn new(is_full: bool, is_term: bool) -> Self {
        let bins = |counted: bool| vec![0; if counted { FLOAT_BINS } else { 0 }];
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
            required_exact: bins(is_full && is_term),
            required_result: bins(is_full),
            required_float32: bins(is_full),
            sums: SquaredReals::default(),
            outputs: SquaredReals::default(),
            output_mismatch: 0,
        }
    }

    /// Counts one dot product of `products` products.
    pub(super) fn record(&mut self, outcome: &Outcome, accumulation: &AlignedDot, products: usize) {
        let Outcome { delivered, exact, lost, required } = *outcome;
        self.dots += 1;
        self.terms += (products + products.div_ceil(accumulation.terms)) as u64;
        self.cut_terms += u64::from(lost.cut_terms);
        self.vanished_terms += u64::from(lost.vanished_terms);
        self.cut_dots += u64::from(lost.cut_terms > 0);
        self.vanished_dots += u64::from(lost.vanished_terms > 0);
        self.wrong += u64::from(!same(delivered, exact));
        let cut = lost.exact_fraction_bits.saturating_sub(accumulation.rule.fraction_bits);
        self.most_cut_bits.merge(Most(cut.into()));
        let [real, exact_real] = [delivered, exact].map(f32::from_bits);
        self.sums.add(exact_real, real);
        if real.is_finite() && exact_real.is_finite() {
            let ulps = steps(delivered).abs_diff(steps(exact));
            self.most_ulps.merge(Most(ulps));
            self.ulps += u128::from(ulps);
        } else {
            self.not_finite += 1;
        }
        let Some(required) = required else { return };
        let beyond = FLOAT_BINS - 1;
        if let Some(bins) = self.required_exact.get_mut(required.exact.map_or(beyond, |bits| bits as usize)) {
            *bins += 1;
        }
        self.required_result[required.result as usize] += 1;
        let float32 = if required.reaches_exact { required.result as usize } else { beyond };
        self.required_float32[float32] += 1;
    }

    /// Returns the largest bin of a histogram that holds a dot product; `None` if it is empty, or if the most
    /// fraction bits are too few for a dot product.
    pub fn largest(histogram: &[u64]) -> Option<u32> {
        let largest = histogram.iter().rposition(|&count| count > 0)?;
        (largest + 1 < FLOAT_BINS).then_some(largest as u32)
    }
}

/// Returns the place of a finite float32 among all of them; zeros of both signs have one place.
fn steps(code: u32) -> i64 {
    let magnitude = i64::from(code & 0x7FFF_FFFF);
    if code >> 31 == 1 { -magnitude } else { magnitude }
}
