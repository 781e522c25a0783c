//! HTML report of a quantization.

use maud::{Markup, html};

use super::page::{Front, Page, Section};
use super::plot::{Axis, Kind, Point, Row, Series, Spec, picture, svg_of};
use super::table::{Cell, Column, Table};
use super::{accelerators, settings, words};
use crate::about::About;
use crate::findings::quantize_answer;
use crate::numbers::{counted, figure, grouped, number, percentage};
use crate::plots::{Drawn, Extremes};
use crate::tables::{LayerRow, PartRow, ProofRow, TensorRow, TradeOffRow};
use crate::{Fraction, QuantizeRecord, layer_label};

/// Greatest number of rows or points of a plot.
const ROWS: usize = 200;

/// Returns the page.
pub(crate) fn quantize(about: &About, record: &QuantizeRecord, drawn: &[Drawn<QuantizeRecord>]) -> String {
    let samples = counted(record.samples, "calibration sample");
    let sections = vec![
        Section::new(
            "accuracy",
            "What does it cost in accuracy?",
            [findings(record), parts(record), tradeoffs(record, svg_of(drawn, "tradeoffs"))],
        ),
        Section::new("overflow", "Does it overflow?", [layers(record)]),
        Section::new("width", "How wide must it be?", [proofs(record)]),
        Section::new(
            "values",
            "Which values do the codes cover?",
            [tensors(record), picture(drawn, "value_histograms")],
        ),
        Section::new("what", "What was run?", [settings(about), accelerators(about), words(false)]),
    ];
    Page {
        title: format!("{} quantized", record.model),
        subtitle: format!("guardbit quantize · {} · {samples}", record.method),
        about,
        front: Front {
            answer: quantize_answer(record),
            figures: figures(record),
            picture: noise(record, svg_of(drawn, "sqnr_to_float")),
            worst: worst(record),
        },
        sections,
        data: Markup::default(),
    }
    .document()
}

/// Returns the key figures.
fn figures(record: &QuantizeRecord) -> Vec<(&'static str, String, String)> {
    let mut all = Vec::new();
    for (name, share) in [
        ("Float network", record.accuracy_float),
        ("Quantized", record.accuracy),
        ("On the accelerator", record.accuracy_hw),
    ] {
        all.extend(share.map(|share| (name, percentage(share), "accuracy".to_owned())));
    }
    let float = record.parts.iter().filter(|part| part.float.is_some()).count();
    let all_parts = record.parts.len();
    all.push(("Parts on codes", format!("{} of {all_parts}", all_parts - float), String::new()));
    if let Some(bits) = record.proofs.iter().map(|row| row.proved_bits).max() {
        all.push(("Proved width", format!("{bits} bits"), "no input overflows".into()));
    }
    all
}

/// Returns the noise of a part, if there is any.
fn sqnr(row: &PartRow) -> Option<f64> {
    row.sqnr_db.map(|sqnr| sqnr.value()).filter(|sqnr| sqnr.is_finite())
}

/// Returns the parts with the most noise.
fn worst(record: &QuantizeRecord) -> (&'static str, Vec<Markup>) {
    let mut rows: Vec<(&PartRow, f64)> =
        record.parts.iter().filter_map(|row| Some((row, sqnr(row)?))).collect();
    rows.sort_by(|a, b| a.1.total_cmp(&b.1));
    let item = |(row, sqnr): &(&PartRow, f64)| {
        let bits = row.weight_bits.map_or(String::new(), |bits| format!(", {bits}-bit weights"));
        html! {
            (layer_label(row.index, &row.part)) " (" (row.pattern) (bits) "): SQNR " (figure(*sqnr))
            " dB, greatest error " (figure(row.max_error)) "."
        }
    };
    ("Parts with the most noise", rows.iter().take(3).map(item).collect())
}

/// Returns the noise of every part.
fn noise(record: &QuantizeRecord, instead: Option<&str>) -> Markup {
    let parts: Vec<(&PartRow, f64)> = record.parts.iter().filter_map(|row| Some((row, sqnr(row)?))).collect();
    let shown = Extremes::of(parts, ROWS, |(_, sqnr)| -sqnr);
    let row = |(row, sqnr): &(&PartRow, f64)| Row {
        name: layer_label(row.index, &row.part),
        values: vec![Some(*sqnr)],
        text: row.pattern.clone(),
        ..Row::default()
    };
    let spec = Spec {
        kind: Kind::Bars,
        x: Axis::new("SQNR (dB)"),
        names: vec!["SQNR".into()],
        note: shown.left_out("parts", "SQNR"),
        rows: shown.shown.iter().map(row).collect(),
        ..Spec::default()
    };
    spec.figure(
        "Output of every part against the float network",
        "Signal to quantization noise ratio, including the error of all earlier parts.",
        instead,
    )
}

/// Returns the networks of mixed widths.
fn tradeoffs(record: &QuantizeRecord, instead: Option<&str>) -> Markup {
    let shown = Extremes::of(record.tradeoffs.iter().collect(), 1000, |row: &&TradeOffRow| -row.agreement);
    let note = shown.left_out("networks", "agreement");
    let point = |row: &&TradeOffRow| Point {
        x: row.bytes as f64,
        y: Some(row.agreement),
        text: format!("{} (accumulators of {} bits)", row.widths, row.accumulator_bits),
        ..Point::default()
    };
    let series = |name: &str, is: fn(&TradeOffRow) -> bool| Series {
        name: name.into(),
        points: shown.shown.iter().filter(|row| is(row)).map(point).collect(),
        ..Series::default()
    };
    let all = [
        series("network", |row| !row.pareto && !row.chosen),
        series("on the Pareto front", |row| row.pareto && !row.chosen),
        series("written", |row| row.chosen),
    ];
    let spec = Spec {
        kind: Kind::Scatter,
        x: Axis::new("weights and biases (bytes)").log(false),
        y: Axis::new("same class as the float network").percent(),
        series: all.into_iter().filter(|series| !series.points.is_empty()).collect(),
        note,
        ..Spec::default()
    };
    spec.figure("Networks of mixed widths", "", instead)
}

fn findings(record: &QuantizeRecord) -> Markup {
    let accuracies = [
        ("Accuracy of the float network: ", record.accuracy_float),
        ("Accuracy of the quantized network with wide accumulators: ", record.accuracy),
        ("Accuracy of the quantized network on the accelerator: ", record.accuracy_hw),
    ];
    let float = record.parts.iter().filter(|part| part.float.is_some()).count();
    let rounded: u64 = record.parts.iter().map(|part| part.rounded_sums).sum();
    html! {
            ul {
                @for (what, accuracy) in accuracies { @if let Some(accuracy) = accuracy {
                    li { (what) (percentage(accuracy)) "." }
                } }
                li {
                    (grouped((record.parts.len() - float) as u64)) " of " (counted(record.parts.len() as u64, "part"))
                    " of the network " (number((record.parts.len() - float) as u64, "computes", "compute")) " on codes."
                }
                @if rounded > 0 {
                    li { (counted(rounded, "sum")) (number(rounded, " is", " are")) " exceed the precision of float32: the runtime rounds " (number(rounded, "it", "them")) " before it multiplies." }
                }
                @for (name, value) in &record.own { li { (name) ": " (value) "." } }
            }
    }
}

fn parts(record: &QuantizeRecord) -> Markup {
    let texts = ["part", "pattern", "class"].map(Column::text);
    let numbers = ["weight bits", "SQNR (dB)", "cosine", "greatest error"].map(Column::number);
    let row = |row: &PartRow| {
        vec![
            Cell::text(layer_label(row.index, &row.part)),
            Cell::text(&row.pattern),
            Cell::maybe(row.class.as_ref(), Cell::text),
            Cell::maybe(row.weight_bits, Cell::text),
            Cell::maybe(row.sqnr_db, Cell::decibel),
            Cell::maybe(row.cosine, Cell::number),
            Cell::number(row.max_error),
            Cell::maybe(row.float.as_ref(), Cell::text),
        ]
    };
    let columns = texts.into_iter().chain(numbers).chain([Column::text("in float, because")]);
    let table = Table::new("Parts", columns).rows(record.parts.iter().map(row));
    html! {
        @if !table.is_empty() {
            h3 { "Parts" }
            (table.markup())
            p.note { "Outputs compared with the float network, including the error of all earlier parts." }
        }
    }
}

fn tensors(record: &QuantizeRecord) -> Markup {
    let names = [
        "scale",
        "zero point",
        "values, least",
        "greatest",
        "covered, from",
        "to",
        "at least code",
        "at greatest",
    ];
    let row = |row: &TensorRow| {
        vec![
            Cell::text(&row.tensor),
            Cell::text(format!("{} [{}, {}]", row.dtype, row.code_min, row.code_max)),
            Cell::number(row.scale),
            Cell::text(row.zero_point),
            Cell::number(row.float_min),
            Cell::number(row.float_max),
            Cell::number(row.real_min),
            Cell::number(row.real_max),
            Cell::count(row.at_min),
            Cell::count(row.at_max),
        ]
    };
    let columns = ["tensor", "codes"].map(Column::text).into_iter().chain(names.map(Column::number));
    let table = Table::new("Tensors", columns).rows(record.tensors.iter().map(row));
    html! { @if !table.is_empty() { h3 { "Tensors" } (table.markup()) } }
}

fn layers(record: &QuantizeRecord) -> Markup {
    let numbers = [
        "bits",
        "dot products",
        "required bits (final sum, exact network)",
        "required bits (prefix, exact network)",
        "persistent",
        "share",
        "events",
    ];
    let row = |row: &LayerRow| {
        let share = row.persistent.and_then(|persistent| Fraction::of(persistent, row.dots));
        vec![
            Cell::layer(row.index, &row.name),
            Cell::text(&row.level),
            Cell::text(row.bits),
            Cell::count(row.dots),
            Cell::maybe(row.exact_required_final, Cell::text),
            Cell::maybe(row.exact_required_prefix, Cell::text),
            Cell::maybe(row.persistent, Cell::count),
            Cell::maybe(share, Cell::share),
            Cell::maybe(row.events, Cell::count),
        ]
    };
    let columns = ["layer", "level"].map(Column::text).into_iter().chain(numbers.map(Column::number));
    let table = Table::new("Accumulators", columns).rows(record.layers.iter().map(row));
    html! {
        @if !table.is_empty() {
            h3 { "Accumulators" }
            (table.markup())
            p.note {
                "On " (record.hw) ", " (counted(record.evaluated, "sample"))
                ". Required bits hold every final sum, or every prefix, of these samples. The share is that \
                 of persistent dot products."
            }
        }
    }
}

fn proofs(record: &QuantizeRecord) -> Markup {
    let row = |row: &ProofRow| {
        vec![
            Cell::layer(row.index, &row.name),
            Cell::text(&row.level),
            Cell::text(row.register_bits.map_or("auto".into(), |bits| bits.to_string())),
            Cell::text(row.proved_bits),
            Cell::text(if row.safe { "no" } else { "yes" }),
        ]
    };
    let numbers = ["register, bits", "proved, bits"].map(Column::number);
    let columns = ["layer", "level"].map(Column::text).into_iter().chain(numbers);
    let columns = columns.chain([Column::text("can overflow")]);
    let table = Table::new("Proved widths", columns).rows(record.proofs.iter().map(row));
    html! {
        @if !table.is_empty() {
            h3 { "Proved widths" }
            (table.markup())
            p.note { "Proved: the smallest width that does not overflow for any input of the layer, in any \
                      order of additions." }
        }
    }
}
