//! HTML report of a quantization.

use maud::{Markup, html};

use super::{Column, Table, accelerators, page, plots, settings, words};
use crate::about::About;
use crate::numbers::{counted, grouped, number, percentage};
use crate::plots::Drawn;
use crate::tables::{LayerRow, PartRow, ProofRow, TensorRow};
use crate::{Fraction, QuantizeRecord, layer_label};

/// Returns the page.
pub(crate) fn quantize(about: &About, record: &QuantizeRecord, drawn: &[Drawn<QuantizeRecord>]) -> String {
    let title = format!("{} quantized", record.model);
    let samples = counted(record.samples, "calibration sample");
    let subtitle = format!("guardbit quantize · {} · {samples}", record.method);
    let body = html! {
        (findings(record))
        (settings(about))
        (parts(record))
        (tensors(record))
        (layers(record))
        (proofs(record))
        (plots(drawn))
        (accelerators(about))
        (words())
    };
    page(&title, &subtitle, about, &body)
}

fn findings(record: &QuantizeRecord) -> Markup {
    let accuracies = [
        ("Accuracy of the float network: ", record.accuracy_float),
        ("Accuracy of the quantized network with wide accumulators: ", record.accuracy),
        ("Accuracy of the quantized network on the accelerator: ", record.accuracy_hw),
    ];
    let share = |share: Fraction| percentage(share);
    let float = record.parts.iter().filter(|part| part.float.is_some()).count();
    let rounded: u64 = record.parts.iter().map(|part| part.rounded_sums).sum();
    html! {
        section {
            h2 { "Results" }
            ul {
                @for (what, accuracy) in accuracies { @if let Some(accuracy) = accuracy {
                    li { (what) (share(accuracy)) "." }
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
}

fn parts(record: &QuantizeRecord) -> Markup {
    let texts = ["part", "pattern", "class"].map(Column::text);
    let numbers = ["weight bits", "SQNR (dB)", "cosine", "greatest error"].map(Column::number);
    let row = |row: &PartRow| {
        vec![
            layer_label(row.index, &row.part),
            row.pattern.clone(),
            row.class.clone().unwrap_or_default(),
            row.weight_bits.map_or(String::new(), |bits| bits.to_string()),
            row.sqnr_db.map_or(String::new(), |sqnr| sqnr.to_string()),
            row.cosine.map_or(String::new(), |cosine| format!("{cosine:.6}")),
            format!("{:.4}", row.max_error),
            row.float.clone().unwrap_or_default(),
        ]
    };
    let columns = texts.into_iter().chain(numbers).chain([Column::text("in float, because")]).collect();
    let table = Table { columns, rows: record.parts.iter().map(row).collect() };
    html! {
        section {
            h2 { "Parts" }
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
            row.tensor.clone(),
            format!("{} [{}, {}]", row.dtype, row.code_min, row.code_max),
            format!("{:.6}", row.scale),
            row.zero_point.to_string(),
            format!("{:.4}", row.float_min),
            format!("{:.4}", row.float_max),
            format!("{:.4}", row.real_min),
            format!("{:.4}", row.real_max),
            grouped(row.at_min),
            grouped(row.at_max),
        ]
    };
    let columns =
        ["tensor", "codes"].map(Column::text).into_iter().chain(names.map(Column::number)).collect();
    let table = Table { columns, rows: record.tensors.iter().map(row).collect() };
    html! { section { h2 { "Tensors" } (table.markup()) } }
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
    let optional = |count: Option<u64>| count.map_or(String::new(), grouped);
    let row = |row: &LayerRow| {
        let share = row.persistent.and_then(|persistent| Fraction::of(persistent, row.dots));
        vec![
            layer_label(row.index, &row.name),
            row.level.clone(),
            row.bits.to_string(),
            grouped(row.dots),
            row.exact_required_final.map_or(String::new(), |bits| bits.to_string()),
            row.exact_required_prefix.map_or(String::new(), |bits| bits.to_string()),
            optional(row.persistent),
            share.map_or(String::new(), percentage),
            optional(row.events),
        ]
    };
    let columns =
        ["layer", "level"].map(Column::text).into_iter().chain(numbers.map(Column::number)).collect();
    let table = Table { columns, rows: record.layers.iter().map(row).collect() };
    html! {
        section {
            h2 { "Accumulators" }
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
            layer_label(row.index, &row.name),
            row.level.clone(),
            row.register_bits.map_or("auto".into(), |bits| bits.to_string()),
            row.proved_bits.to_string(),
            if row.safe { "no" } else { "yes" }.into(),
        ]
    };
    let numbers = ["register, bits", "proved, bits"].map(Column::number);
    let columns = ["layer", "level"].map(Column::text).into_iter().chain(numbers);
    let columns = columns.chain([Column::text("can overflow")]).collect();
    let table = Table { columns, rows: record.proofs.iter().map(row).collect() };
    html! {
        section {
            h2 { "Proved widths" }
            (table.markup())
            p.note { "Proved: the smallest width that does not overflow for any input of the layer, in any \
                      order of additions." }
        }
    }
}
