//! Panels of floating-point layers.

use super::data::{Histogram, Panel, Stage, facts};
use crate::RunRecord;
use crate::numbers::{counted, figure, percentage};
use crate::records::FractionBits;
use crate::tables::AlignedRow;

/// Returns the panel of a floating-point layer. `counts` holds its required bits, if they were counted.
pub(super) fn panel<'a>(run: &'a RunRecord, row: &'a AlignedRow, counts: &[FractionBits<'_>]) -> Panel<'a> {
    let design = run.design.layers.iter().find(|layer| layer.index == row.index);
    let counts = counts.iter().find(|layer| layer.layer.index == row.index);
    Panel {
        index: row.index,
        name: &row.name,
        full: &row.layer,
        op: &row.op,
        about: about(row),
        stages: design
            .map_or(&[][..], |layer| &layer.stages)
            .iter()
            .map(|stage| self::stage(row, stage))
            .collect(),
        facts: facts(run, row.index),
        plots: counts.map(histogram).into_iter().collect(),
        places: None,
        events: Vec::new(),
    }
}

fn about(row: &AlignedRow) -> String {
    let dots = counted(row.dots, "dot product");
    let [activations, weights] = row.formats();
    let products = counted(row.products as u64, "product");
    let mut text = format!("{dots} of {products}: activations {activations}, weights {weights}");
    text += &row
        .wrong_share
        .map_or(String::new(), |share| format!("; {} of the sums are wrong", percentage(share)));
    match row.output_sqnr_db.map_or(f64::INFINITY, |sqnr| sqnr.value()) {
        sqnr if sqnr.is_finite() => text += &format!("; output SQNR {} dB", figure(sqnr)),
        sqnr if sqnr > 0.0 => text += "; the output is exact",
        _ => {}
    }
    text + "."
}

fn stage<'a>(row: &AlignedRow, stage: &'a str) -> Stage<'a> {
    let (name, text) = stage.split_once(' ').unwrap_or((stage, ""));
    let is_align = matches!(name, "align" | "cut");
    let mut parts = vec![text.to_owned()];
    if is_align {
        let cut = [(row.cut_share, "lose bits"), (row.vanished_share, "vanish")];
        let share = |(share, what)| Some(format!("{} of the terms {what}", percentage(share?)));
        parts.extend(cut.into_iter().filter_map(share));
        parts.extend(row.required_result.map(|bits| format!("{bits} fraction bits give the result of 40")));
    }
    let overflows = row.overflows.filter(|_| name == "register");
    if let Some(overflows) = overflows {
        parts.push(counted(overflows, "overflow"));
        parts.extend(row.required_integer.map(|bits| format!("{bits} integer bits suffice")));
    }
    let bits = row.required_result.filter(|_| is_align).map(|bits| [bits, row.fraction_bits]);
    let events = is_align && row.vanished_terms > 0 || overflows.is_some_and(|overflows| overflows > 0);
    Stage { name, text: parts.join("; "), bits, events }
}

fn histogram(counts: &FractionBits<'_>) -> Histogram {
    let bits = counts.layer.fraction_bits;
    let range = FractionBits::range(std::slice::from_ref(counts));
    Histogram {
        title: "Required fraction bits of the dot products".into(),
        label: "fraction bits",
        unit: "bits",
        low: f64::from(range.0) - 0.5,
        step: 1.0,
        series: FractionBits::AIMS.map(|(aim, _)| aim).into(),
        counts: FractionBits::AIMS.map(|(_, count)| counts.histogram(range, count)).into(),
        fences: vec![(f64::from(bits) + 0.5, format!("{bits} bits"))],
        ..Histogram::default()
    }
}
