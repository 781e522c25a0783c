//! Accumulation of floating-point products: keys that depend on each other.

use super::KeyPath;
use super::check::Violation;
use crate::formats::OperandFormats;
use crate::keys::FloatFile;
use crate::{BlockScaling, Datapath, FloatAccumulation, FloatIncoming, ScaleFormat};

/// Returns the accumulation of a section.
pub(super) fn float_accumulation(
    file: &FloatFile,
    datapath: &Datapath,
) -> Result<FloatAccumulation, Violation> {
    let section = KeyPath::keys(&["float_accumulation"]);
    let float = FloatAccumulation::of(file, &section)?;
    let violation = |keys: &[&str], message: String, help: &str| Violation {
        code: "guardbit::hw::float",
        keys: keys.iter().map(|key| section.join(key)).collect(),
        message,
        help: help.into(),
    };
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
