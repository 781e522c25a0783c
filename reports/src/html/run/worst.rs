//! First screen of a run: the layers that are worst, with the reason.

use std::cmp::Ordering;

use maud::{Markup, html};

use super::super::plot::{Axis, Kind, Row, Spec};
use super::super::table::layer;
use super::speed;
use crate::numbers::{counted, figure, percentage};
use crate::tables::{AlignedRow, LayerRow};
use crate::{Fraction, RunRecord, layer_label};

/// Number of layers in the list, and in the picture.
const LISTED: usize = 3;
const DRAWN: usize = 16;

/// What makes a layer worse than another.
pub(super) enum Worst<'a> {
    /// Share of dot products with an event: the level of each layer with the greatest share, worst first.
    Touched(Vec<&'a LayerRow>),
    /// Bits between the required and the available width, least first.
    Headroom(Vec<&'a LayerRow>),
    /// Output SQNR, least first.
    Noise(Vec<&'a LayerRow>),
    /// SQNR of the sums of floating-point layers, least first.
    Float(Vec<&'a AlignedRow>),
    /// Nothing but time is known: cycles, most first.
    Cycles(Vec<&'a LayerRow>),
}

/// Returns the layers, worst first, by what the statistics of the run tell.
pub(super) fn worst(run: &RunRecord) -> Worst<'_> {
    if run.is_float() {
        let mut rows: Vec<&AlignedRow> = run.aligned.iter().filter(|row| row.wrong > 0).collect();
        rows.sort_by(|a, b| a.sum_sqnr().total_cmp(&b.sum_sqnr()));
        return Worst::Float(rows);
    }
    let any = |is: fn(&LayerRow) -> bool| run.layers.iter().any(is);
    if any(|row| row.events > Some(0)) {
        return Worst::Touched(ranked(run, |row| {
            row.events.filter(|&events| events > 0)?;
            row.touched_share().map(|share| -share.value())
        }));
    }
    if any(|row| row.room().is_some()) {
        return Worst::Headroom(ranked(run, |row| row.room().map(f64::from)));
    }
    if any(|row| row.sqnr_db.is_some_and(|sqnr| sqnr.value().is_finite())) {
        return Worst::Noise(ranked(run, |row| {
            row.sqnr_db.map(|sqnr| sqnr.value()).filter(|sqnr| sqnr.is_finite())
        }));
    }
    Worst::Cycles(ranked(run, |row| row.cycles.map(|cycles| -(cycles as f64))))
}

/// Returns the worst row of each layer, in order of `badness`, least first.
fn ranked(run: &RunRecord, badness: impl Fn(&LayerRow) -> Option<f64>) -> Vec<&LayerRow> {
    let mut rows: Vec<(f64, &LayerRow)> =
        run.layers.iter().filter_map(|row| Some((badness(row)?, row))).collect();
    rows.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal));
    let mut seen = std::collections::HashSet::new();
    rows.into_iter().map(|(_, row)| row).filter(|row| seen.insert(row.index)).collect()
}

impl<'a> Worst<'a> {
    fn rows(&self) -> &[&'a LayerRow] {
        match self {
            Self::Touched(rows) | Self::Headroom(rows) | Self::Noise(rows) | Self::Cycles(rows) => rows,
            Self::Float(_) => &[],
        }
    }
}

/// Returns the worst layers with the reason.
pub(super) fn list(run: &RunRecord, worst: &Worst<'_>) -> (&'static str, Vec<Markup>) {
    let heading = match worst {
        Worst::Touched(_) => "Layers that overflow most",
        Worst::Headroom(_) => "Layers with the least room",
        Worst::Noise(_) | Worst::Float(_) => "Layers with the most noise",
        Worst::Cycles(_) => "Slowest layers",
    };
    let item = |row: &&LayerRow| {
        html! { (layer(row.index, &row.name)) " (" (row.op) "): " (why(run, worst, row)) }
    };
    if let Worst::Float(rows) = worst {
        let item =
            |row: &&AlignedRow| html! { (layer(row.index, &row.name)) " (" (row.op) "): " (float_why(row)) };
        return (heading, rows.iter().take(LISTED).map(item).collect());
    }
    (heading, worst.rows().iter().take(LISTED).map(item).collect())
}

fn float_why(row: &AlignedRow) -> String {
    let share = |share: Option<Fraction>| share.map_or(String::new(), percentage);
    let mut parts = vec![
        format!("{} of its terms lose bits and {} vanish", share(row.cut_share), share(row.vanished_share)),
        format!(
            "{} of its sums of {} are wrong",
            share(row.wrong_share),
            counted(row.products as u64, "product")
        ),
    ];
    let required = row.required_result.filter(|&bits| bits > row.fraction_bits);
    parts.extend(
        required.map(|bits| format!("all sums require {bits} fraction bits of {}", row.fraction_bits)),
    );
    let sqnr = row.output_sqnr_db.map_or(f64::INFINITY, |sqnr| sqnr.value());
    parts.extend(sqnr.is_finite().then(|| format!("output SQNR {} dB", figure(sqnr))));
    parts.join("; ") + "."
}

fn why(run: &RunRecord, worst: &Worst<'_>, row: &LayerRow) -> String {
    let last = run.layers.iter().rfind(|other| other.index == row.index).unwrap_or(row);
    let register = match &row.overflow {
        Some(mode) => format!("{} ({} bits, {mode})", row.level, row.bits),
        None => format!("{} ({})", row.level, row.bits),
    };
    let mut parts = Vec::new();
    match worst {
        Worst::Touched(_) => {
            let share = row.touched_share().map_or(String::new(), percentage);
            parts.push(format!("{share} of {} overflow in {register}", counted(row.dots, "dot product")));
            parts.extend(
                row.needed().map(|bits| format!("its sums of {} products require {bits} bits", row.terms)),
            );
            let wrong = last.wrong.and_then(|wrong| Fraction::of(wrong, last.dots));
            parts.extend(wrong.map(|share| format!("{} of its sums are wrong", percentage(share))));
        }
        Worst::Headroom(_) => {
            parts.extend(row.needed().map(|bits| format!("its sums require {bits} bits of {register}")));
        }
        Worst::Noise(_) => {
            parts.push(format!("{} differ", counted(row.output_mismatch.unwrap_or(0), "output code")))
        }
        // Its layers are described by `float_why`.
        Worst::Float(_) => {}
        Worst::Cycles(_) => {
            parts.push(counted(row.cycles.unwrap_or(0), "cycle"));
            let bound = run.bottlenecks.iter().find(|other| other.index == row.index);
            parts.extend(bound.map(|bound| format!("bound by its {}", speed::bound_in_words(&bound.bound))));
        }
    }
    if let Some(sqnr) = last.sqnr_db.map(|sqnr| sqnr.value()).filter(|sqnr| sqnr.is_finite()) {
        parts.push(format!("output SQNR {} dB", figure(sqnr)));
    }
    parts.join("; ") + "."
}

/// Returns the plot with a note if it shows only some of the layers.
fn left_out(spec: Spec, all: usize) -> Spec {
    let note = (all > DRAWN).then(|| format!("The {DRAWN} worst of {all} layers."));
    Spec { note, ..spec }
}

/// Returns the picture of the worst layers.
pub(super) fn picture(run: &RunRecord, worst: &Worst<'_>) -> Markup {
    let rows = worst.rows();
    let shown = &rows[..rows.len().min(DRAWN)];
    let row = |row: &LayerRow, values: Vec<Option<f64>>, fence: Option<f64>| Row {
        name: layer_label(row.index, &row.name),
        layer: Some(row.index),
        values,
        fence,
        ..Row::default()
    };
    let left_out = |spec: Spec| left_out(spec, rows.len());
    match worst {
        Worst::Touched(_) => {
            let share =
                |count: Option<u64>, row: &LayerRow| count.map(|count| count as f64 / row.dots.max(1) as f64);
            let spec = Spec {
                kind: Kind::Bars,
                x: Axis::new("dot products of the layer").percent().log(false),
                names: ["with an event", "persistent", "wrong"].map(String::from).into(),
                rows: shown
                    .iter()
                    .map(|one| {
                        let last = run.layers.iter().rfind(|other| other.index == one.index);
                        let wrong = last.and_then(|last| share(last.wrong, last));
                        row(
                            one,
                            vec![share(one.outputs_touched, one), share(one.persistent, one), wrong],
                            None,
                        )
                    })
                    .collect(),
                ..Spec::default()
            };
            left_out(spec).figure("Overflow of the worst layers", "", None)
        }
        Worst::Headroom(_) => {
            let bits = |bits: Option<u32>| bits.map(f64::from);
            let spec = Spec {
                kind: Kind::Dots,
                x: Axis::new("bits"),
                names: ["final sums require", "prefixes require", "available"].map(String::from).into(),
                rows: shown
                    .iter()
                    .map(|one| {
                        let finals = bits(one.exact_required_final.or(one.required_final));
                        let prefixes = bits(one.exact_required_prefix.or(one.required_prefix));
                        row(one, vec![finals, prefixes, bits(one.bits.bits())], None)
                    })
                    .collect(),
                ..Spec::default()
            };
            left_out(spec).figure("Required and available bits", "", None)
        }
        Worst::Float(rows) => {
            let sqnr = |one: &AlignedRow| Some(one.sum_sqnr()).filter(|sqnr| sqnr.is_finite());
            let row = |one: &&AlignedRow| Row {
                name: layer_label(one.index, &one.name),
                layer: Some(one.index),
                values: vec![sqnr(one)],
                ..Row::default()
            };
            let spec = Spec {
                kind: Kind::Bars,
                x: Axis::new("SQNR of the sums (dB)"),
                names: vec!["SQNR".into()],
                rows: rows.iter().filter(|one| sqnr(one).is_some()).take(DRAWN).map(row).collect(),
                ..Spec::default()
            };
            self::left_out(spec, rows.len()).figure("Noise of the worst layers", "", None)
        }
        Worst::Noise(_) => {
            let sqnr = |one: &LayerRow| one.sqnr_db.map(|sqnr| sqnr.value());
            let spec = Spec {
                kind: Kind::Bars,
                x: Axis::new("output SQNR (dB)"),
                names: vec!["SQNR".into()],
                rows: shown.iter().map(|one| row(one, vec![sqnr(one)], None)).collect(),
                ..Spec::default()
            };
            left_out(spec).figure("Noise of the worst layers", "", None)
        }
        Worst::Cycles(_) => {
            let cycles = |one: &LayerRow| one.cycles.map(|cycles| cycles as f64);
            let spec = Spec {
                kind: Kind::Bars,
                x: Axis::new("cycles").log(false),
                names: vec!["cycles".into()],
                rows: shown.iter().map(|one| row(one, vec![cycles(one)], None)).collect(),
                ..Spec::default()
            };
            left_out(spec).figure("Cycles of the slowest layers", "", None)
        }
    }
}
