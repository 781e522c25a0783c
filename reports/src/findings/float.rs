//! Findings on the floating-point layers of a run: what is lost, and how many bits suffice.

use crate::numbers::{counted, grouped, number, percentage};
use crate::tables::AlignedRow;
use crate::{Fraction, RunRecord, layer_label};

/// Returns a sentence on the layer that loses most.
pub(super) fn lost(run: &RunRecord) -> Option<String> {
    let share = |row: &&AlignedRow| row.cut_share.map_or(0.0, Fraction::value);
    let worst = run.aligned.iter().rev().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let aligns = |row: &AlignedRow| row.reduce == "aligned" && row.result != "fixed";
    let what = if run.aligned.iter().all(aligns) { "Alignment" } else { "Accumulation" };
    if worst.cut_terms == 0 {
        return Some(format!("{what} cuts no term of a floating-point layer."));
    }
    let layers = run.aligned.iter().filter(|row| row.cut_terms > 0).count() as u64;
    let shares = [worst.cut_share, worst.vanished_share].map(|share| share.map_or(String::new(), percentage));
    let [cut, vanished] = shares;
    Some(format!(
        "{what} cuts terms in {} of {}. {} is affected most: {cut} of its terms lose bits, and {vanished} vanish.",
        grouped(layers),
        counted(run.aligned.len() as u64, "floating-point layer"),
        layer_label(worst.index, &worst.name)
    ))
}

/// Returns a sentence on the fixed-point registers that overflow.
pub(super) fn overflows(run: &RunRecord) -> Option<String> {
    let of = |row: &&AlignedRow| row.overflow_dots.unwrap_or(0);
    let worst = run.aligned.iter().rev().max_by_key(of).filter(|worst| of(worst) > 0)?;
    let bits = match (worst.required_integer, worst.register_bits) {
        (Some(integer), Some(bits)) => {
            format!(", and requires {} bits instead of {bits}", integer + worst.fraction_bits)
        }
        _ => String::new(),
    };
    Some(format!(
        "The fixed-point register overflows in {}. {} is affected most: in {} of its dot products{bits}.",
        counted(run.aligned.iter().filter(|row| of(row) > 0).count() as u64, "floating-point layer"),
        layer_label(worst.index, &worst.name),
        Fraction::of(of(&worst), worst.dots).map_or(String::new(), percentage),
    ))
}

/// Returns a sentence on the sums that differ from exact ones.
pub(super) fn wrong(run: &RunRecord) -> Option<String> {
    let all = |of: fn(&AlignedRow) -> u64| -> u64 { run.aligned.iter().map(of).sum() };
    let (wrong, dots) = (all(|row| row.wrong), all(|row| row.dots));
    if dots == 0 {
        return None;
    }
    Some(match wrong {
        0 => format!(
            "Every floating-point sum is the exact sum, rounded once to float32 ({}).",
            counted(dots, "sum")
        ),
        _ => format!(
            "{} of {} {} from the exact sums, rounded once to float32 ({}).",
            grouped(wrong),
            counted(dots, "floating-point sum"),
            number(wrong, "differs", "differ"),
            Fraction::of(wrong, dots).map_or(String::new(), percentage)
        ),
    })
}

/// Returns sentences on the fraction bits that the samples require.
pub(super) fn bits(run: &RunRecord) -> Option<String> {
    let most = |of: fn(&AlignedRow) -> Option<u32>| {
        run.aligned.iter().map(of).collect::<Option<Vec<_>>>()?.into_iter().max()
    };
    let result = most(|row| row.required_result)?;
    let cut = match most(|row| row.required_exact) {
        Some(bits) => format!(", and {bits} for no term to be cut"),
        None => String::new(),
    };
    Some(format!(
        "With {result} fraction bits, every sum of these samples is that of 40 bits{cut}. Networks mostly bear fewer: \
         `guardbit sweep --axis float_accumulation.fraction_bits=LIST` measures what they cost in accuracy."
    ))
}
