//! Faults of the MAC unit outside its registers' rails: control, order and requantization.

use guardbit_hwmodels::Check;
use guardbit_hwmodels::bounds::Range;
use guardbit_num::Scheme;

use super::facts::Facts;
use super::mutant::{Mutant, mutants};
use crate::manifest::BiasAt;
use crate::reach::rails;

fn always(_: &Facts) -> bool {
    true
}

/// Returns whether the design contains a module of a kind of level.
fn has(f: &Facts, module: &str) -> bool {
    f.levels().iter().any(|l| l.reduce.module() == module)
}

fn has_serial(f: &Facts) -> bool {
    has(f, "gb_level")
}

fn has_tree(f: &Facts) -> bool {
    has(f, "gb_tree") && f.manifest.interface.lanes > 1
}

fn has_rtl_requantizer(f: &Facts) -> bool {
    f.manifest.arithmetic.requantize.in_rtl
}

/// Returns whether the design requantizes by one of the schemes.
fn requantizes(f: &Facts, schemes: &[Scheme]) -> bool {
    has_rtl_requantizer(f) && schemes.contains(&f.scheme())
}

fn in_float(f: &Facts) -> bool {
    requantizes(f, &[Scheme::Float64Away, Scheme::Even])
}

fn in_float64(f: &Facts) -> bool {
    requantizes(f, &[Scheme::Float64Away])
}

fn has_post_bias(f: &Facts) -> bool {
    f.manifest.arithmetic.bias.at == BiasAt::POST && has_rtl_requantizer(f)
}

fn never(_: &Facts) -> Option<String> {
    None
}

/// Sign extension matters only for negative values, and only in bits that the register keeps or compares.
fn no_extension_seen(f: &Facts) -> Option<String> {
    let arithmetic = &f.manifest.arithmetic;
    let below = f.levels().iter().map(|level| &level.register);
    let ports = [&arithmetic.product].into_iter().chain(below).map(|register| register.port_bits);
    let levels = f.levels().iter().zip(&f.reach.levels).zip(ports);
    let mut serial = levels.filter(|((level, _), _)| !level.reduce.takes_run_at_once());
    let unseen = serial.all(|((level, reach), port)| {
        let acc = level.acc_bits + u32::from(!level.acc_signed);
        // No sum of the adder's width crosses the rails.
        let half = 1i128 << port.max(acc);
        let fits = |rails: Range| rails.contains(Range { min: -half, max: half - 1 });
        let is_compared = level.check == Check::EachAdd && !rails(&level.register).is_none_or(fits);
        reach.input.min >= 0 || !is_compared && acc <= port
    });
    unseen.then(|| "no level gets a negative value, or keeps more bits than the value has".into())
}

fn no_negative_operands(f: &Facts) -> Option<String> {
    let (a, w) = (&f.manifest.arithmetic.activation, &f.manifest.arithmetic.weight);
    (a.min >= 0 && w.min >= 0).then(|| "no operand is negative".into())
}

/// A clear falls into a run only if a dot product has several beats.
fn one_beat(f: &Facts) -> Option<String> {
    let beats = f.manifest.layer.terms.div_ceil(f.manifest.interface.lanes);
    (beats == 1).then(|| "every dot product is one beat, so no clear falls inside a run".into())
}

fn no_serial_overflow(f: &Facts) -> Option<String> {
    let mut serial = f.levels().iter().zip(&f.reach.levels).filter(|(l, _)| !l.reduce.takes_run_at_once());
    let fits = serial.all(|(level, reach)| rails(&level.register).is_none_or(|r| r.contains(reach.result)));
    fits.then(|| "no exact result of a serial level lies outside its rails: the flag is never set".into())
}

fn lone_values_fit(f: &Facts) -> Option<String> {
    let (product, rails) = (f.reach.product_out, rails(&f.levels()[0].register)?);
    rails
        .contains(product)
        .then(|| format!("products lie in {}..={}, which fits a node", product.min, product.max))
}

fn paired_alike(f: &Facts) -> Option<String> {
    match (f.manifest.layer.terms, f.manifest.interface.lanes) {
        (1, _) => Some("every dot product is one product in lane 0".into()),
        (_, 2) => Some("two lanes can be paired in only one way".into()),
        _ => None,
    }
}

/// The last level's runs end with the dot product, and the next dot product clears them.
fn one_run(f: &Facts) -> Option<String> {
    let inner = f.levels().len() - 1;
    let mut serial =
        f.levels().iter().zip(&f.reach.levels).take(inner).filter(|(l, _)| !l.reduce.takes_run_at_once());
    let single = serial.all(|(_, reach)| reach.runs == 1);
    let terms = f.manifest.layer.terms;
    single.then(|| {
        format!("in every level before the last, the {terms} products of a dot product make a single run")
    })
}

fn below_zero_clamped(f: &Facts) -> Option<String> {
    f.hides_negative().then(|| "only negative sums differ, and their codes are clamped".into())
}

/// Every multiplier is below `2^max(exp_max, 0)`, which bounds the codes.
fn clamp_out_of_reach(f: &Facts) -> Option<String> {
    let requantize = &f.manifest.arithmetic.requantize;
    let bounds = f.reach.bias.or_else(|| Some(f.reach.levels.last()?.out))?;
    let known = f.sets.bias.as_ref().and_then(|sums| sums.range()).unwrap_or(bounds);
    let sums = Range { min: bounds.min.max(known.min), max: bounds.max.min(known.max) };
    let power = 1i128 << requantize.exp_max.clamp(0, 30);
    // Beyond 32 bits a scheme may wrap.
    let fits = sums.min.abs().max(sums.max.abs()) < (1i128 << 31) / power;
    let greatest = sums.max.max(0) * power + i128::from(requantize.zero_point);
    (fits && greatest < i128::from(requantize.clamp_max)).then(|| format!("every code is at most {greatest}"))
}

fn no_bias(f: &Facts) -> Option<String> {
    let bias = &f.manifest.arithmetic.bias;
    (bias.word_min == 0 && bias.word_max == 0).then(|| "every bias of the layer is 0".into())
}

pub(super) const MUTANTS: &[Mutant] = mutants! {
    "gb_sum/dropped_sign_extension": "an addend is zero-extended",
        has_serial, no_extension_seen;
    "gb_level/not_cleared": "a run starts from what the register held",
        has_serial, never;
    "gb_level/clear_ignored": "a clear in the middle of a dot product is ignored",
        has_serial, one_beat;
    "gb_level/sticky_not_cleared": "the sticky flag survives the next run",
        has_serial, no_serial_overflow;
    "gb_unit/bubble_adds": "a cycle without a beat adds too",
        always, never;
    "gb_unit/beat_survives_reset": "a beat during a reset is added after it",
        always, never;
    "gb_level/not_reset": "a reset keeps the register",
        has_serial, never;
    "gb_level/sticky_not_reset": "a reset keeps the sticky flag",
        has_serial, no_serial_overflow;
    "gb_level/lost_after_idle": "the third idle cycle clears the register",
        has_serial, never;
    "gb_unit/latency_off_by_one": "one more register between products and accumulators",
        always, never;
    "gb_unit/products_late": "products come one cycle after their control",
        always, never;
    "gb_product/unsigned_product": "activations are multiplied as unsigned",
        always, no_negative_operands;
    "gb_tree/tail_lanes_added": "unused lanes are added",
        has_tree, never;
    "gb_tree/lone_value_fitted": "the tree's hand-over port is no wider than a node: a lone value is fitted",
        |f| { has_tree(f) && f.levels()[0].check == Check::EachAdd && f.levels()[0].register.bits.is_some() }, lone_values_fit;
    "gb_tree/tree_order": "the tree pairs lanes at a distance instead of neighbours",
        has_tree, paired_alike;
    "gb_level/run_boundary_ignored": "an inner level does not start a new run after the end of a run",
        |f| f.levels().iter().filter(|l| !l.reduce.takes_run_at_once()).count() > 1, one_run;
    "gb_requant/truncation_for_rounding-double": "the requantizer cuts bits off instead of rounding",
        |f| requantizes(f, &[Scheme::Double]), never;
    "gb_requant/truncation_for_rounding-single": "the requantizer cuts bits off instead of rounding",
        |f| requantizes(f, &[Scheme::Single, Scheme::Away]), never;
    "gb_requant/wrong_tie-double": "ties go the other way",
        |f| requantizes(f, &[Scheme::Double]), below_zero_clamped;
    "gb_requant/truncation_for_rounding-float": "the requantizer cuts bits off instead of rounding",
        in_float, never;
    "gb_requant/product_not_rounded": "the requantizer's product is exact instead of a float",
        in_float, never;
    "gb_requant/multiplier_cut": "the multiplier has 31 bits instead of 53",
        in_float64, never;
    "gb_requant/wrong_tie-float64": "negative ties go towards zero",
        in_float64, below_zero_clamped;
    "gb_requant/wrong_tie-even": "ties go away from zero instead of to even",
        |f| requantizes(f, &[Scheme::Even]), never;
    "gb_requant/zero_point_dropped": "the output zero point is not added",
        |f| has_rtl_requantizer(f) && f.manifest.arithmetic.requantize.zero_point != 0, never;
    "gb_requant/clamp_off_by_one": "the upper clamp is one too low",
        has_rtl_requantizer, clamp_out_of_reach;
    "gb_unit/bias_dropped": "the bias is not added",
        has_post_bias, no_bias;
    "gb_output/vhdl_bias_dropped": "the bias is not added",
        has_post_bias, no_bias;
    "gb_output/vhdl_zero_point_dropped": "the output zero point is not added",
        |f| has_rtl_requantizer(f) && f.manifest.arithmetic.requantize.zero_point != 0, never;
    "gb_output/vhdl_clamp_off_by_one": "the upper clamp is one too low",
        has_rtl_requantizer, clamp_out_of_reach;
    "gb_mac/vhdl_not_cleared": "a run starts from what the register held",
        has_serial, never;
    "gb_mac/vhdl_not_reset": "a reset keeps the registers",
        always, never;
    "gb_mac/vhdl_bubble_adds": "a cycle without a beat adds too",
        always, never;
};
