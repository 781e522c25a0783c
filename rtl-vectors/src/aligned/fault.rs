//! Built-in faults of the reference RTL: a patch each, when it applies, and when it is proved harmless.

use guardbit_num::{FloatFormat, FloatOverflow, Incoming, Rounding, Specials};

use super::formats::{has_zero, least_bit, top};
use super::unit::Unit;
use crate::check::mutants::Patch;

/// A fault, whose effect the model knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    SignDropped,
    NormalizedExponent,
    SubnormalFlushed,
    SubnormalExponent,
    ZeroExponentLeast,
    NanLost,
    NanUnsigned,
    ZeroTimesInfinity,
    AccumulatorNanLost,
    InfinitiesAdd,
    AlignRounding,
    TieUp,
    OneBitFewer,
    OneBitMore,
    AccumulatorNotLargest,
    CutWithoutGuard,
    KeepIgnored,
    LaneMissed,
    NotInterleaved,
    SumTruncated,
    AccumulatorTruncated,
    ReachIgnored,
    ReachShort,
    NeverBeyond,
    ResultRounding,
    ResultFlushed,
    Saturates,
    ZeroSign,
    ClearIgnored,
    /// Of a reset, which the bench gives and no case has.
    ResetIgnored,
    BubbleAdds,
    PromotionLate,
    LastNotPromoted,
    AccKept,
    TotalKept,
    TotalOfCut,
    PromotionTruncated,
    PromotionSticky,
    TotalSticky,
    AccumulatorWraps,
    TotalWraps,
    ScaleNanLost,
    ScaleShared,
    ScaleExponentDropped,
    ScaleExponentWraps,
    ScaleFractionDropped,
    GroupKeepIgnored,
    GroupCarryLost,
}

/// A fault with its patch.
pub(crate) struct Mutant {
    pub fault: Fault,
    pub patch: Patch,
    /// Returns whether the unit has the part that changes.
    pub applies: fn(&Unit) -> bool,
    /// Returns why no dot product shows the change, if that is proved. The number is that of the products of the longest
    /// dot product.
    pub equivalent: fn(&Unit, usize) -> Option<String>,
}

fn always(_: &Unit) -> bool {
    true
}

fn never(_: &Unit, _: usize) -> Option<String> {
    None
}

pub(super) fn promotes(unit: &Unit) -> bool {
    unit.promotion().is_some()
}

fn is_term(unit: &Unit) -> bool {
    unit.dot.rule.incoming == Incoming::Term
}

pub(super) fn is_apart(unit: &Unit) -> bool {
    !is_term(unit)
}

pub(super) fn is_interleaved(unit: &Unit) -> bool {
    matches!(unit.dot.rule.incoming, Incoming::Apart { interleaved: true, .. })
}

pub(super) fn has_reach(unit: &Unit) -> bool {
    matches!(unit.dot.rule.incoming, Incoming::Apart { reach: Some(_), .. })
}

fn has_lanes(unit: &Unit) -> bool {
    unit.terms() > 1
}

fn is_scaled(unit: &Unit) -> bool {
    unit.scales.is_some()
}

fn has_scales(unit: &Unit) -> bool {
    is_scaled(unit) && has_lanes(unit)
}

fn has_scale_fraction(unit: &Unit) -> bool {
    unit.scales.is_some_and(|scales| scales.formats[0].fraction_bits() > 0)
}

fn has_exact_group(unit: &Unit) -> bool {
    unit.exact_group().is_some()
}

fn has_group_lanes(unit: &Unit) -> bool {
    unit.exact_group().is_some_and(|group| group > 1)
}

/// The exponent of a group is that of its scales.
fn has_product_terms(unit: &Unit) -> bool {
    !has_exact_group(unit)
}

/// One bit less holds every sum, if the largest one is below half of the register's range.
fn carry_unused(unit: &Unit, _: usize) -> Option<String> {
    let is_held = unit.group_largest() < f64::from(unit.group_bits() - 2).exp2();
    is_held.then(|| "no sum of a group needs the register's last bit".into())
}

/// Returns why no exponents of scales of one addition lie further apart than the fraction bits.
pub(super) fn scales_near(unit: &Unit, _: usize) -> Option<String> {
    let scales = unit.scales?;
    let spread: i32 = scales.formats.map(|format| top(format) - format.least_exponent()).iter().sum();
    if unit.terms() == 1 {
        return Some("an addition has one term".into());
    }
    (spread <= unit.dot.rule.fraction_bits as i32).then(|| "no scales lie so far apart".into())
}

/// Returns why no scale is zero.
pub(super) fn no_zero_scale(unit: &Unit) -> Option<String> {
    let none = unit.scales.is_none_or(|scales| scales.formats.iter().all(|&format| has_zero(format) == 0));
    none.then(|| "every scale is a power of two".into())
}

fn has_bits(unit: &Unit) -> bool {
    unit.dot.rule.fraction_bits > 0
}

fn rounds_half_even(unit: &Unit) -> bool {
    let rule = &unit.dot.rule;
    promotes(unit) || [rule.cut, rule.result_rounding].contains(&Rounding::HalfEven)
}

fn no_nan(unit: &Unit, _: usize) -> Option<String> {
    (!unit.has_nan()).then(|| "no operand is NaN".into())
}

/// Returns why no code of one side, 0 for activations and 1 for weights, is NaN.
pub(super) fn no_nan_of(unit: &Unit, side: usize) -> Option<String> {
    let (format, name) = [(unit.activation, "activation"), (unit.weight, "weight")][side];
    format.nan().is_none().then(|| format!("no {name} is NaN"))
}

pub(super) fn no_infinity_of(unit: &Unit, side: usize) -> Option<String> {
    let (format, name) = [(unit.activation, "activation"), (unit.weight, "weight")][side];
    format.infinity(false).is_none().then(|| format!("no {name} is infinite"))
}

/// The accumulator's NaN has no sign where its format has NaN of both.
fn no_signed_nan(unit: &Unit, _: usize) -> Option<String> {
    let has_both = |format: FloatFormat| matches!(format.specials(), Specials::Ieee | Specials::LastIsNan);
    (![unit.activation, unit.weight].into_iter().any(has_both))
        .then(|| "no operand is a NaN with a sign".into())
}

pub(super) fn no_infinity(unit: &Unit, _: usize) -> Option<String> {
    (!unit.has_infinity()).then(|| "no operand is infinite".into())
}

/// NaN in the accumulator: from operands, or from an overflow in a format without infinity.
pub(super) fn no_accumulator_nan(unit: &Unit, products: usize) -> Option<String> {
    let result = unit.dot.rule.result;
    if result.nan().is_none() {
        return Some("the accumulator's format has no NaN".into());
    }
    if let Some(reason) = never_carried(unit, products) {
        return Some(reason);
    }
    let overflows = result.infinity(false).is_none() && unit.can_overflow(products);
    let is_source = unit.has_nan() || unit.has_infinity() || is_scaled(unit) || overflows;
    (!is_source).then(|| "the accumulator is never NaN".into())
}

/// Infinities of both signs need an infinite operand, or products that count as infinite.
fn no_infinities(unit: &Unit, _: usize) -> Option<String> {
    let rule = &unit.dot.rule;
    if rule.result.overflowed(true, FloatOverflow::Special) == rule.nan {
        return Some("the accumulator's format has NaN for infinity".into());
    }
    let finite = rule.incoming == Incoming::Term || no_beyond(unit, 0).is_some();
    (!unit.has_infinity() && finite).then(|| "no term is infinite".into())
}

fn no_opposite_infinities(unit: &Unit, products: usize) -> Option<String> {
    no_infinities(unit, products).or_else(|| never_carried(unit, products).filter(|_| unit.terms() == 1))
}

/// With a promotion after each addition the accumulator always starts at zero, and the last one is nothing special.
pub(super) fn never_carried(unit: &Unit, _: usize) -> Option<String> {
    (unit.promotion() == Some(1)).then(|| "the accumulator starts at zero with every addition".into())
}

fn zero_never_largest(unit: &Unit, products: usize) -> Option<String> {
    never_carried(unit, products).filter(|_| unit.products_above_zero())
}

pub(super) fn no_beyond(unit: &Unit, _: usize) -> Option<String> {
    (unit.product_top() + unit.term_bits() - 1 < 128).then(|| "every finite product is below 2^128".into())
}

pub(super) fn aligned_exactly(unit: &Unit, products: usize) -> Option<String> {
    unit.is_aligned_exactly(products, 0).then(|| "no term ever loses a bit".into())
}

/// The exponents of products are one larger at most, and the accumulator's are not.
fn normalized_alike(unit: &Unit, products: usize) -> Option<String> {
    let is_exact = unit.product_top() + 1 - unit.least_bit() <= unit.kept_bits() as i32;
    let exact = is_exact || unit.is_aligned_exactly(products, 1);
    exact.then(|| {
        "where a product has the largest exponent, no term loses a bit, nor with one bit fewer".into()
    })
}

pub(super) fn products_exact(unit: &Unit, products: usize) -> Option<String> {
    unit.are_products_exact(products, 0).then(|| "no product ever loses a bit".into())
}

fn products_with_spare(unit: &Unit, products: usize) -> Option<String> {
    let exact = unit.are_products_exact(products, 1) && unit.are_halves_cut_alike(1);
    exact.then(|| "no product ever loses a bit, nor with one bit fewer".into())
}

/// With one bit more, halves lose less where they are joined.
fn products_and_halves_exact(unit: &Unit, products: usize) -> Option<String> {
    products_exact(unit, products).filter(|_| unit.are_halves_cut_alike(0))
}

/// One product and the accumulator, of which the smaller one is far below half of the last bit of the result.
fn rounding_hidden(unit: &Unit, products: usize) -> Option<String> {
    let rule = &unit.dot.rule;
    let result = rule.result.fraction_bits();
    let product = unit.product_bits() as u32;
    let is_nearest = !matches!(rule.result_rounding, Rounding::TowardZero | Rounding::Floor);
    let is_far = rule.fraction_bits >= 2 * result + 4 && product < result;
    let is_hidden = is_term(unit) && unit.terms() == 1 && is_nearest && is_far && !is_scaled(unit);
    let normal = unit.least_sum() >= least_bit(rule.result);
    let hidden = || "a term that loses a bit is too small to change the rounded sum".into();
    let is_half = rule.cut == Rounding::HalfToZero && unit.are_products_exact(products, -1);
    products_exact(unit, products).or_else(|| (is_hidden && normal).then(hidden)).or_else(|| {
        is_half.then(|| "a product loses one bit at most, and half of the last bit goes toward zero".into())
    })
}

/// The sum of the products is cut only where the accumulator has a larger exponent, or where halves differ.
pub(super) fn sum_exact(unit: &Unit, products: usize) -> Option<String> {
    let Incoming::Apart { sum_bits, .. } = unit.dot.rule.incoming else { return None };
    let (sum_bits, bits) = (sum_bits as i32, unit.dot.rule.fraction_bits as i32);
    let halves = unit.are_halves_exact(0);
    let least = unit.least_exponent();
    let is_near = sum_bits >= bits + (-126 - least).max(0);
    let exact = unit.largest_exponent(products) - unit.least_products() <= sum_bits;
    never_carried(unit, products)
        .filter(|_| halves && is_near)
        .or_else(|| (halves && exact).then(|| "no sum of products loses a bit".into()))
        .or_else(|| aligned_exactly(unit, products))
}

fn sum_exact_or_hidden(unit: &Unit, products: usize) -> Option<String> {
    let hidden = unit.are_halves_exact(0) && unit.is_cut_sum_hidden();
    let reason = || "a sum of products that loses a bit is too small to change the rounded sum".into();
    sum_exact(unit, products).or_else(|| hidden.then(reason))
}

/// A zero with its format's least exponent raises no largest exponent so far that a bit is lost.
fn zeros_raise_nothing(unit: &Unit, products: usize) -> Option<String> {
    let rule = &unit.dot.rule;
    let with_zero = || unit.aligned().filter(|&format| has_zero(format) == 1);
    if with_zero().chain([rule.result]).all(|format| format.least_exponent() == -126) {
        return Some("every format's least exponent is -126".into());
    }
    let mut raised = rule.result.least_exponent();
    if unit.terms() > 1 || never_carried(unit, products).is_none() {
        let zero = |format: FloatFormat| unit.product_top() - top(format) + format.least_exponent();
        raised = with_zero().map(zero).fold(raised, i32::max);
    }
    let kept = unit.kept_bits() as i32;
    (raised - kept <= unit.least_bit()).then(|| "no zero's exponent makes a term lose a bit".into())
}

pub(super) fn result_exact(unit: &Unit, products: usize) -> Option<String> {
    unit.is_result_exact(products).then(|| "no sum needs rounding".into())
}

/// Sums are multiples of the last bit of products.
pub(super) fn no_result_subnormal(unit: &Unit, _: usize) -> Option<String> {
    let normal = unit.least_sum() >= unit.dot.rule.result.least_exponent();
    normal.then(|| "every nonzero sum is a normal number".into())
}

pub(super) fn no_negative_to_zero(unit: &Unit, _: usize) -> Option<String> {
    let result = unit.dot.rule.result;
    if result.specials() == Specials::NegativeZeroIsNan {
        return Some("the accumulator's format has no negative zero".into());
    }
    if unit.dot.rule.result_rounding == Rounding::Floor {
        return Some("a negative sum rounds away from zero".into());
    }
    (unit.least_sum() >= least_bit(result)).then(|| "no nonzero sum rounds to zero".into())
}

pub(super) fn no_overflow(unit: &Unit, products: usize) -> Option<String> {
    let result = unit.dot.rule.result;
    if result.infinity(false).is_none() && result.nan().is_none() {
        return Some("the accumulator's format saturates".into());
    }
    (!unit.can_overflow(products))
        .then(|| format!("no dot product of up to {products} products exceeds the accumulator's range"))
}

fn ties_never(unit: &Unit, products: usize) -> Option<String> {
    let rule = &unit.dot.rule;
    let aligned = rule.cut != Rounding::HalfEven || unit.are_products_exact(products, 0);
    let rounded = rule.result_rounding != Rounding::HalfEven || unit.is_result_exact(products);
    let promoted = unit.promotion().is_none() || total_exact(unit, products).is_some();
    (aligned && rounded && promoted).then(|| "nothing is rounded to nearest even".into())
}

/// Every sum is a multiple of the last bit of products, and below 24 bits above it.
fn is_promotion_exact(unit: &Unit, products: usize) -> bool {
    unit.bound(products) - unit.least_bit() <= 24
}

fn promotion_exact(unit: &Unit, products: usize) -> Option<String> {
    is_promotion_exact(unit, products).then(|| "no promotion needs rounding".into())
}

/// A dot product of at most as many products is promoted once, at its end.
pub(super) fn one_promotion(unit: &Unit, products: usize) -> Option<String> {
    let most = unit.promotion()?.saturating_mul(unit.terms());
    (products <= most)
        .then(|| format!("dot products of up to {products} products are promoted once, at their end"))
}

pub(super) fn total_exact(unit: &Unit, products: usize) -> Option<String> {
    one_promotion(unit, products).or_else(|| promotion_exact(unit, products))
}

/// The exponents between which an accumulator lies that is not zero: its multiples of the first one, below the second one.
pub(super) fn accumulators(unit: &Unit, products: usize) -> [i32; 2] {
    let rule = &unit.dot.rule;
    let bits = match rule.incoming {
        Incoming::Term => rule.fraction_bits,
        Incoming::Apart { sum_bits, .. } => rule.fraction_bits.min(sum_bits),
    };
    // The largest exponent is at least that of a product.
    let cut = unit.least_exponent() - bits as i32;
    let low = unit.least_bit().max(cut).max(least_bit(rule.result));
    [low, unit.bound(unit.summed(products)).min(top(rule.result) + 1)]
}

/// Shifts of up to 31 keep whether any bit is 1.
fn accumulator_near(unit: &Unit, products: usize) -> Option<String> {
    let [low, _] = accumulators(unit, products);
    let is_near = unit.bound(products) - low <= 32;
    one_promotion(unit, products)
        .or_else(|| is_near.then(|| "no accumulator is 32 exponents below the float32 sum".into()))
}

fn total_near(unit: &Unit, products: usize) -> Option<String> {
    let [low, high] = accumulators(unit, products);
    one_promotion(unit, products)
        .or_else(|| (high - low <= 32).then(|| "no float32 sum is 32 exponents below the accumulator".into()))
}

/// An accumulator loses bits that are 27 or more below the float32 sum's leading one.
fn accumulator_kept(unit: &Unit, products: usize) -> Option<String> {
    let [low, _] = accumulators(unit, products);
    let is_kept = unit.bound(products) - low <= 27;
    total_exact(unit, products)
        .or_else(|| is_kept.then(|| "no accumulator loses a bit below the float32 sum".into()))
}

/// A float32 sum loses bits that are 27 or more below the accumulator's leading one.
fn total_kept(unit: &Unit, products: usize) -> Option<String> {
    let [low, high] = accumulators(unit, products);
    total_exact(unit, products)
        .or_else(|| (high - low <= 27).then(|| "no float32 sum loses a bit below the accumulator".into()))
}

/// A dot product that is cut off is promoted before only if it has the additions for it.
fn never_cut_promoted(unit: &Unit, products: usize) -> Option<String> {
    let every = unit.promotion()?;
    (products.div_ceil(unit.terms()) < every)
        .then(|| format!("dot products of up to {products} products are promoted at their end only"))
}

/// Within reach, the accumulator's last bit lies above the last one that is kept.
pub(super) fn accumulator_exact(unit: &Unit, products: usize) -> Option<String> {
    let result = unit.dot.rule.result;
    if let Incoming::Apart { reach: Some(reach), bits, .. } = unit.dot.rule.incoming
        && reach + result.fraction_bits() <= bits
    {
        return Some("within its reach the accumulator loses no bit".into());
    }
    let exact = || "no accumulator loses a bit".into();
    never_carried(unit, products)
        .or_else(|| aligned_exactly(unit, products))
        .or_else(|| unit.is_accumulator_exact(products).then(exact))
}

fn nothing_cut(unit: &Unit, products: usize) -> Option<String> {
    let apart = is_apart(unit) && products_exact(unit, products).is_some();
    aligned_exactly(unit, products).or_else(|| {
        accumulator_exact(unit, products).filter(|_| apart).map(|_| "no term ever loses a bit".into())
    })
}

fn one_lane_or_exact(unit: &Unit, products: usize) -> Option<String> {
    match unit.terms() {
        1 => Some("an addition has one product".into()),
        _ => {
            let exact = unit.product_top() - unit.least_bit() <= unit.dot.rule.fraction_bits as i32;
            let exact = exact || unit.is_aligned_exactly(products, 0);
            exact.then(|| "no product ever loses a bit".into())
        }
    }
}

pub(super) fn within_reach(unit: &Unit, products: usize) -> Option<String> {
    let Incoming::Apart { reach: Some(reach), .. } = unit.dot.rule.incoming else { return None };
    // An accumulator with the largest exponent is no distance below it.
    let is_near = unit.product_top().max(-126) - unit.least_accumulator() < reach as i32;
    never_carried(unit, products).or_else(|| is_near.then(|| "every accumulator is within reach".into()))
}

/// Returns [`Mutant`]s, a row each.
macro_rules! mutants {
    ($($fault:ident $path:literal: $change:literal, $applies:expr, $equivalent:expr;)*) => {
        &[$(Mutant {
            fault: Fault::$fault,
            patch: Patch {
                path: $path,
                change: $change,
                text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/mutants/", $path, ".patch")),
            },
            applies: $applies,
            equivalent: $equivalent,
        }),*]
    };
}

/// Every fault.
pub(crate) const MUTANTS: &[Mutant] = mutants! {
    SignDropped "gb_aligned_product/sign_dropped": "a product has its activation's sign",
        always, never;
    NormalizedExponent "gb_aligned_group/normalized_exponent": "a product from 2 on has the exponent of its leading bit",
        has_product_terms, normalized_alike;
    NanLost "gb_aligned_product/nan_lost": "a NaN operand counts as a number",
        always, no_nan;
    NanUnsigned "gb_aligned_decode/nan_unsigned": "a NaN with a sign counts as a number",
        always, no_signed_nan;
    ZeroTimesInfinity "gb_aligned_product/zero_times_infinity": "zero times infinity is infinity",
        always, no_infinity;
    SubnormalFlushed "gb_aligned_decode/subnormal_flushed": "subnormals are zero",
        always, never;
    SubnormalExponent "gb_aligned_decode/subnormal_exponent": "subnormals have an exponent one too small",
        always, never;
    ZeroExponentLeast "gb_aligned_decode/zero_exponent": "a zero has its format's least exponent",
        always, zeros_raise_nothing;
    AlignRounding "gb_aligned/align_rounding": "terms are cut by another rounding",
        always, rounding_hidden;
    OneBitFewer "gb_aligned/one_bit_fewer": "terms keep one fraction bit fewer",
        has_bits, products_with_spare;
    OneBitMore "gb_aligned/one_bit_more": "terms keep one fraction bit more",
        always, products_and_halves_exact;
    AccumulatorNotLargest "gb_aligned_sum/accumulator_not_largest": "the accumulator does not count for the largest exponent",
        is_term, zero_never_largest;
    AccumulatorNanLost "gb_aligned_sum/accumulator_nan_lost": "a NaN in the accumulator counts as a number",
        always, no_accumulator_nan;
    InfinitiesAdd "gb_aligned_sum/infinities_add": "infinities of both signs give minus infinity",
        always, no_opposite_infinities;
    NotInterleaved "gb_aligned_sum/not_interleaved": "even and odd products are added together",
        is_interleaved, one_lane_or_exact;
    SumTruncated "gb_aligned_sum/sum_truncated": "sums of products are cut toward zero",
        is_apart, sum_exact_or_hidden;
    AccumulatorTruncated "gb_aligned_sum/accumulator_truncated": "the accumulator is cut toward zero",
        is_apart, accumulator_exact;
    ReachIgnored "gb_aligned_sum/reach_ignored": "an accumulator beyond reach counts",
        has_reach, within_reach;
    ReachShort "gb_aligned_sum/reach_short": "the reach is one shorter",
        has_reach, within_reach;
    NeverBeyond "gb_aligned_sum/never_beyond": "products from 2^128 on are numbers",
        is_apart, no_beyond;
    ResultRounding "gb_aligned/result_rounding": "the sum is rounded by another rounding",
        always, result_exact;
    ZeroSign "gb_aligned/zero_sign": "a negative sum that rounds to zero has the other sign",
        always, no_negative_to_zero;
    CutWithoutGuard "gb_aligned_term/cut_without_guard": "a term that loses only the first bit is not counted as cut",
        always, nothing_cut;
    KeepIgnored "gb_aligned/keep_ignored": "lanes that are not in use are added",
        has_lanes, never;
    LaneMissed "gb_aligned/lane_missed": "the last lane is not added",
        has_lanes, never;
    TieUp "gb_aligned_round/tie_up": "ties round away from zero instead of to even",
        rounds_half_even, ties_never;
    ResultFlushed "gb_aligned_encode/result_flushed": "subnormal results are zero",
        always, no_result_subnormal;
    Saturates "gb_aligned_encode/saturates": "a sum that is too large is the largest number instead of infinity",
        always, no_overflow;
    ClearIgnored "gb_aligned/clear_ignored": "a clear in the middle of a dot product is ignored",
        always, never_carried;
    ResetIgnored "gb_aligned/reset_ignored": "a beat in a reset counts",
        always, never;
    BubbleAdds "gb_aligned/bubble_adds": "a cycle without a beat adds its products",
        always, never;
    PromotionLate "gb_aligned/promotion_late": "the accumulator is promoted one addition late",
        promotes, one_promotion;
    LastNotPromoted "gb_aligned/last_not_promoted": "the end of a dot product promotes nothing",
        promotes, never_carried;
    AccKept "gb_aligned/accumulator_kept": "the accumulator does not start at zero after a promotion",
        promotes, one_promotion;
    TotalKept "gb_aligned/total_kept": "the float32 sum does not start at zero",
        promotes, never;
    TotalOfCut "gb_aligned/total_of_cut": "a clear keeps the float32 sum of a dot product that it cuts off",
        promotes, never_cut_promoted;
    PromotionTruncated "gb_aligned_promote/truncated": "the float32 sum is cut toward zero",
        promotes, total_exact;
    PromotionSticky "gb_aligned_promote/sticky_lost": "a promotion forgets bits of the accumulator below its last three",
        promotes, accumulator_kept;
    TotalSticky "gb_aligned_promote/total_sticky_lost": "a promotion forgets bits of the float32 sum below its last three",
        promotes, total_kept;
    AccumulatorWraps "gb_aligned_promote/accumulator_wraps": "an accumulator 32 exponents below the float32 sum moves by 0",
        promotes, accumulator_near;
    TotalWraps "gb_aligned_promote/total_wraps": "a float32 sum 32 exponents below the accumulator moves by 0",
        promotes, total_near;
    ScaleNanLost "gb_aligned_block/scale_nan_lost": "a NaN scale counts as a number if the other one is not NaN",
        is_scaled, never;
    ScaleShared "gb_aligned/scale_shared": "every term has the first one's scale of activations",
        has_scales, never;
    ScaleExponentDropped "gb_aligned_block/exponent_dropped": "the exponent of the activations' scale is not added",
        is_scaled, never;
    ScaleExponentWraps "gb_aligned_block/exponent_wraps": "exponents of terms wrap at 8 bits",
        is_scaled, never;
    ScaleFractionDropped "gb_aligned_block/fraction_dropped": "the activations' scale has no fraction",
        has_scale_fraction, never;
    GroupKeepIgnored "gb_aligned_block/keep_ignored": "lanes of a group that are not in use are added",
        has_group_lanes, never;
    GroupCarryLost "gb_aligned_block/carry_lost": "the exact sum of a group wraps one bit early",
        has_exact_group, carry_unused;
};
