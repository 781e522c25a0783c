//! Accumulation of floating-point products: keys that depend on each other.

use guardbit_num::Overflow;

use super::KeyPath;
use super::check::{Violation, register};
use crate::file::Bits;
use crate::formats::OperandFormats;
use crate::keys::FloatFile;
use crate::{
    BlockScaling, Datapath, FloatAccumulation, FloatIncoming, FloatReduce, FloatResult, ScaleFormat,
};

/// Returns the accumulation of a section.
pub(super) fn float_accumulation(
    file: &FloatFile,
    datapath: &Datapath,
) -> Result<FloatAccumulation, Violation> {
    let section = KeyPath::keys(&["float_accumulation"]);
    let register = register(&section, file.bits.unwrap_or(Bits::Auto), file.overflow, None)?;
    let mut float = FloatAccumulation::of(file, &section, register)?;
    if float.reduce == FloatReduce::Serial && file.terms.is_none() {
        float.terms = 1;
    }
    let violation = |keys: &[&str], message: String, help: &str| Violation {
        code: "guardbit::hw::float",
        keys: keys.iter().map(|key| section.join(key)).collect(),
        message,
        help: help.into(),
    };
    if let Some((key, with, help)) = without_effect(file, &float) {
        let message = format!("`float_accumulation.{key}` has no effect with `{with}`");
        let other = with.split(':').next().unwrap_or_default();
        return Err(violation(&[key, other], message, help));
    }
    if let Some((keys, message, help)) = ordinary(&float).or_else(|| fixed(&float)) {
        return Err(violation(keys, message, help));
    }
    let given = [
        ("interleaved", file.interleaved.is_some_and(|interleaved| interleaved)),
        ("sum_bits", file.sum_bits.is_some()),
        ("accumulator_bits", file.accumulator_bits.is_some()),
        ("reach", float.reach.is_some()),
    ];
    if let (FloatIncoming::Term, Some((key, _))) = (float.incoming, given.iter().find(|(_, given)| *given)) {
        return Err(violation(
            &[key, "incoming"],
            format!("`float_accumulation.{key}` has no effect: the accumulator is one more term"),
            "leave out the key, or write `incoming: apart`",
        ));
    }
    if let Some(violation) = block_scales(file, &float, violation) {
        return Err(violation);
    }
    if datapath.order.walk.depends_on_data() {
        return Err(Violation {
            keys: vec![KeyPath::keys(&["reduction_order", "walk"]), section.clone()],
            ..violation(
                &[],
                "`reduction_order.walk` sorts integer products, but `float_accumulation` adds floating-point ones"
                    .into(),
                "choose a walk that does not depend on the products, or leave out `float_accumulation`",
            )
        });
    }
    if float.accumulator_bits > float.sum_bits {
        return Err(violation(
            &["accumulator_bits", "sum_bits"],
            format!(
                "`float_accumulation.accumulator_bits` is {}; it must be at most `sum_bits`, {}",
                float.accumulator_bits, float.sum_bits
            ),
            "lower `accumulator_bits`, or raise `sum_bits`",
        ));
    }
    match float.promote_terms {
        Some(products) if products % float.terms != 0 => Err(violation(
            &["promote_terms", "terms"],
            format!(
                "`float_accumulation.promote_terms` is {products}; it must be a multiple of `terms`, {}",
                float.terms
            ),
            "the accumulator is promoted after whole additions, e.g. `terms: 32, promote_terms: 128`",
        )),
        _ => Ok(float),
    }
}

/// Returns a key that has no effect, the key and value on which that depends, and what to do.
fn without_effect(
    file: &FloatFile,
    float: &FloatAccumulation,
) -> Option<(&'static str, String, &'static str)> {
    let found = |keys: &[(&'static str, bool)]| keys.iter().find(|(_, given)| *given).map(|(key, _)| *key);
    let (is_aligned, is_fixed) = (float.reduce == FloatReduce::Aligned, float.result == FloatResult::Fixed);
    let apart = float.incoming == FloatIncoming::Apart;
    let scaled = float.block_scales != BlockScaling::None;
    let of_accumulator =
        [("negative_zero", file.negative_zero.is_some()), ("incoming", apart), ("block_scales", scaled)];
    let of_terms =
        [("fraction_bits", file.fraction_bits.is_some()), ("align_round", file.align_round.is_some())];
    let of_register = [("bits", file.bits.is_some()), ("overflow", file.overflow.is_some())];
    let of_ordinary = [("fused", file.fused.is_some()), ("subnormals", file.subnormals.is_some())];
    if is_aligned && let Some(key) = found(&of_ordinary) {
        let help = "leave out the key, or write `reduce: serial` or `reduce: pairwise`";
        return Some((key, "reduce: aligned".into(), help));
    }
    if !is_aligned && let Some(key) = found(&of_terms).or_else(|| found(&of_accumulator)) {
        let help = "leave out the key (null removes that of a preset), or write `reduce: aligned`";
        return Some((key, format!("reduce: {}", float.reduce), help));
    }
    if !is_fixed && let Some(key) = found(&of_register) {
        let help = "leave out the key, or write `result: fixed`";
        return Some((key, format!("result: {}", float.result), help));
    }
    let rounded = [("result_round", file.result_round.is_some())];
    let key = found(&rounded).or_else(|| found(&of_accumulator)).filter(|_| is_aligned && is_fixed)?;
    let help = "leave out the key (null removes that of a preset), or choose a floating-point `result`, e.g. float32";
    Some((key, "result: fixed".into(), help))
}

/// Keys, message and help of a violation.
type Wrong = (&'static [&'static str], String, &'static str);

/// Returns what is wrong with the keys of ordinary additions.
fn ordinary(float: &FloatAccumulation) -> Option<Wrong> {
    let terms = float.terms;
    match float.reduce {
        FloatReduce::Serial | FloatReduce::Pairwise if float.result == FloatResult::Fixed => Some((
            &["reduce", "result"],
            format!(
                "`float_accumulation.reduce` is {}, which adds floating-point numbers, but `result` is fixed",
                float.reduce
            ),
            "leave out `reduce`; `terms: 1` adds one product after another to a fixed-point register",
        )),
        FloatReduce::Serial if terms != 1 => Some((
            &["terms", "reduce"],
            format!("`float_accumulation.terms` is {terms}; it must be 1 with `reduce: serial`"),
            "write `terms: 1`, or `reduce: pairwise`",
        )),
        FloatReduce::Pairwise if !terms.is_power_of_two() || terms == 1 => Some((
            &["terms", "reduce"],
            format!(
                "`float_accumulation.terms` is {terms}; it must be a power of two from 2 with `reduce: pairwise`"
            ),
            "a tree adds neighbours, e.g. `terms: 4`; `reduce: serial` adds one product after another",
        )),
        _ => None,
    }
}

/// Returns what is wrong with the register.
fn fixed(float: &FloatAccumulation) -> Option<Wrong> {
    (float.register.overflow() == Some(Overflow::Trap)).then(|| {
        (
            &["overflow"][..],
            "`float_accumulation.overflow` is trap, which floating-point layers do not have".into(),
            "write `overflow: observe`: `aligned.csv` counts overflows and gives the first one",
        )
    })
}

/// Returns what is wrong with the keys of block scales.
fn block_scales(
    file: &FloatFile,
    float: &FloatAccumulation,
    violation: impl Fn(&[&str], String, &str) -> Violation,
) -> Option<Violation> {
    let unused = |key: &str| {
        violation(
            &[key, "block_scales"],
            format!("`float_accumulation.{key}` has no effect with `block_scales: {}`", float.block_scales),
            "leave out the key, or write `block_scales: per_group`",
        )
    };
    match float.block_scales {
        BlockScaling::None if file.scale_format.is_some() => Some(unused("scale_format")),
        BlockScaling::None | BlockScaling::PerTerm if file.group_terms.is_some() => {
            Some(unused("group_terms"))
        }
        BlockScaling::PerTerm if float.scale_format != ScaleFormat::Ue8m0 => Some(violation(
            &["scale_format", "block_scales"],
            "`float_accumulation.block_scales: per_term` adds exponents; `scale_format` must be ue8m0".into(),
            "leave out `scale_format`, or write `block_scales: per_group`",
        )),
        BlockScaling::PerGroup if !float.terms.is_multiple_of(float.group_terms) => Some(violation(
            &["terms", "group_terms"],
            format!(
                "`float_accumulation.terms` is {}; it must be a multiple of `group_terms`, {}",
                float.terms, float.group_terms
            ),
            "an addition takes whole groups, e.g. `terms: 64, group_terms: 16`",
        )),
        BlockScaling::PerGroup if float.operands.iter().any(|format| format.bits() > 4) => Some(violation(
            &["block_scales", "operands"],
            format!(
                "`float_accumulation.block_scales: per_group` adds products of 4-bit operands exactly, but `operands` \
                 has {}",
                OperandFormats::of(float.operands.iter().filter(|format| format.bits() > 4))
            ),
            "write `operands: [e2m1]`",
        )),
        BlockScaling::None | BlockScaling::PerTerm | BlockScaling::PerGroup => None,
    }
}
