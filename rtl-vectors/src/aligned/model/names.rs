//! Names of the bins that the model reports.

use super::super::unit::Unit;

/// Bins of a term.
pub(super) struct Names {
    pub tie: &'static str,
    pub cut: &'static str,
    pub vanished: &'static str,
    /// By the place of the leading bit: F - 1 below the largest exponent, F, and so on.
    pub places: [&'static str; 4],
}

pub(super) const PRODUCT: &Names = &Names {
    tie: "product_tie",
    cut: "product_cut",
    vanished: "product_vanished",
    places: ["product_at_f-1", "product_at_f", "product_at_f+1", "product_at_f+2"],
};
pub(super) const ACCUMULATOR: &Names = &Names {
    tie: "accumulator_tie",
    cut: "accumulator_cut",
    vanished: "accumulator_vanished",
    places: ["accumulator_at_f-1", "accumulator_at_f", "accumulator_at_f+1", "accumulator_at_f+2"],
};

/// Names of all bins.
pub(crate) const BINS: [&str; 55] = [
    "products_largest",
    "accumulator_largest",
    "product_at_f-1",
    "product_at_f",
    "product_at_f+1",
    "product_at_f+2",
    "product_cut",
    "product_tie",
    "product_vanished",
    "accumulator_at_f-1",
    "accumulator_at_f",
    "accumulator_at_f+1",
    "accumulator_at_f+2",
    "accumulator_cut",
    "accumulator_tie",
    "accumulator_vanished",
    "accumulator_beyond_reach",
    "products_sum_cut",
    "half_cut",
    "cancelled",
    "cancelled_but_cut",
    "result_exact",
    "result_below_half",
    "result_tie_even",
    "result_tie_odd",
    "result_above_half",
    "result_carry",
    "result_subnormal",
    "negative_to_zero",
    "overflow",
    "subnormal",
    "negative_zero",
    "infinity",
    "beyond",
    "nan_activation",
    "nan_weight",
    "infinite_activation",
    "infinite_weight",
    "nan_zero_times_infinity",
    "nan_of_infinities",
    "nan_accumulator",
    "promoted_at_border",
    "promoted_at_end",
    "promoted_tie_even",
    "promoted_tie_odd",
    "promoted_above_half",
    // A dot product that the next one's clear cuts off.
    "clear_mid",
    // Scales of blocks.
    "nan_activation_scale",
    "nan_weight_scale",
    "zero_scale",
    "least_scale",
    "largest_scale",
    "scales_apart",
    "group_short",
    "group_cancelled",
];

/// Number of bins of units without scales of blocks.
const UNSCALED: usize = 47;

/// Returns whether a unit has a bin.
pub(in super::super) fn has_bin(unit: &Unit, name: &str) -> bool {
    unit.scales.is_some() || BINS[..UNSCALED].contains(&name)
}
