//! Bins that the cases of a unit cannot reach, with the reason.

use guardbit_num::Rounding;

use super::fault::{
    accumulator_exact, aligned_exactly, has_reach, is_apart, is_interleaved, never_carried,
    no_accumulator_nan, no_beyond, no_infinity, no_infinity_of, no_nan_of, no_negative_to_zero, no_overflow,
    no_result_subnormal, no_zero_scale, one_promotion, products_exact, promotes, result_exact, scales_near,
    sum_exact, total_exact, within_reach,
};
use super::unit::Unit;

/// Returns why dot products of at most `products` products cannot reach a bin; `None` if they may.
pub(super) fn unreachable(unit: &Unit, products: usize, bin: &str) -> Option<String> {
    let unless = |is: fn(&Unit) -> bool, why: &str| (!is(unit)).then(|| why.to_owned());
    match bin {
        "product_at_f-1" | "product_at_f" | "product_at_f+1" | "product_at_f+2" | "cancelled" => {
            never_carried(unit, products).filter(|_| unit.terms() == 1)
        }
        "accumulator_at_f-1" | "accumulator_at_f" | "accumulator_at_f+1" | "accumulator_at_f+2" => {
            never_carried(unit, products)
        }
        "product_cut" | "product_tie" | "product_vanished" => products_exact(unit, products),
        "accumulator_cut" | "accumulator_tie" | "accumulator_vanished" => accumulator_exact(unit, products),
        "accumulator_beyond_reach" => unless(has_reach, "an accumulator of any exponent counts")
            .or_else(|| within_reach(unit, products)),
        "products_sum_cut" => unless(is_apart, "the accumulator is a term like the products")
            .or_else(|| sum_exact(unit, products)),
        "half_cut" => unless(is_interleaved, "even and odd products are added together")
            .or_else(|| aligned_exactly(unit, products)),
        "cancelled_but_cut" => aligned_exactly(unit, products),
        "result_below_half" | "result_tie_even" | "result_tie_odd" | "result_above_half" => {
            result_exact(unit, products)
        }
        "result_carry" => {
            let truncates = unit.dot.rule.result_rounding == Rounding::TowardZero;
            truncates
                .then(|| "the sum is rounded toward zero".into())
                .or_else(|| result_exact(unit, products))
        }
        "result_subnormal" => no_result_subnormal(unit, products),
        "negative_to_zero" => no_negative_to_zero(unit, products),
        "overflow" => no_overflow(unit, products),
        "infinity" => infinite(unit, products),
        // The accumulator alone is no pair.
        "nan_of_infinities" => no_infinite_term(unit, products),
        "beyond" => unless(is_apart, "a finite term of any size counts as finite")
            .or_else(|| no_beyond(unit, products)),
        "nan_activation" => no_nan_of(unit, 0),
        "nan_weight" => no_nan_of(unit, 1),
        "infinite_activation" => no_infinity_of(unit, 0),
        "infinite_weight" => no_infinity_of(unit, 1),
        "nan_zero_times_infinity" => no_infinity(unit, products),
        "nan_accumulator" => no_accumulator_nan(unit, products),
        "promoted_at_border" => unless(promotes, NOT_PROMOTED).or_else(|| one_promotion(unit, products)),
        // After the last addition it is promoted anyway.
        "promoted_at_end" => unless(promotes, NOT_PROMOTED).or_else(|| never_carried(unit, products)),
        "promoted_tie_even" | "promoted_tie_odd" | "promoted_above_half" => {
            unless(promotes, NOT_PROMOTED).or_else(|| total_exact(unit, products))
        }
        "zero_scale" => no_zero_scale(unit),
        "scales_apart" => scales_near(unit, products),
        "group_short" | "group_cancelled" => (unit.group() == 1).then(|| "a term has one product".into()),
        _ => None,
    }
}

const NOT_PROMOTED: &str = "the accumulator is not promoted";

/// An infinite product has an infinite operand, or counts as infinite.
fn no_infinite_term(unit: &Unit, products: usize) -> Option<String> {
    let operands = no_infinity(unit, products)?;
    if is_apart(unit) {
        no_beyond(unit, products)?;
    }
    Some(operands)
}

/// An infinite term is a product, or an accumulator that overflowed.
fn infinite(unit: &Unit, products: usize) -> Option<String> {
    let operands = no_infinite_term(unit, products)?;
    let has_infinity = unit.dot.rule.result.infinity(false).is_some();
    never_carried(unit, products)
        .or_else(|| no_overflow(unit, products))
        .or_else(|| (!has_infinity).then_some(operands))
}
