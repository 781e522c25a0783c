//! The report of one run.

use std::collections::HashSet;

use maud::{Markup, html};

use super::{Column, Table, page, plots, settings, words};
use crate::numbers::{counted, grouped};
use crate::output::{About, Drawn};
use crate::tables::{EventRow, LayerRow};
use crate::{RunRecord, layer_label, run_headlines};

/// The page.
pub(crate) fn run(about: &About, run: &RunRecord, drawn: &[Drawn<RunRecord>]) -> String {
    let title = format!("{} on {}", run.model, run.hw);
    let samples = counted(run.outcome.samples, "sample");
    let subtitle = format!("guardbit run · {samples} · {} · statistics: {}", run.mode, run.stats);
    let body = html! {
        section {
            h2 { "What came out" }
            ul { @for line in run_headlines(run) { li { (line) } } }
        }
        (settings(about))
        (layers(run))
        (first_events(run))
        (plots(drawn))
        (words())
    };
    page(&title, &subtitle, about, &body)
}

fn layers(run: &RunRecord) -> Markup {
    let names = [
        "dots",
        "terms",
        "events",
        "touched",
        "persistent",
        "transient",
        "wrong",
        "harmless",
        "mismatch",
        "SQNR (dB)",
        "bits, final",
        "bits, prefix",
        "cycles",
        "first event",
    ];
    let mut columns = vec![Column::text("layer"), Column::text("op"), Column::text("level")];
    columns.push(Column::number("bits"));
    columns.push(Column::text("overflow"));
    columns.extend(names.map(Column::number));
    let count = |value: Option<u64>| value.map_or(String::new(), grouped);
    let row = |row: &LayerRow| {
        vec![
            layer_label(row.index, &row.layer, &row.op),
            row.op.clone(),
            row.level.clone(),
            row.bits.to_string(),
            row.overflow.clone().unwrap_or_default(),
            grouped(row.dots),
            grouped(row.terms as u64),
            count(row.events),
            count(row.outputs_touched),
            count(row.persistent),
            count(row.transient),
            count(row.wrong),
            count(row.harmless),
            count(row.output_mismatch),
            row.sqnr_db.map_or(String::new(), |sqnr| sqnr.to_string()),
            row.required_final.map_or(String::new(), |bits| bits.to_string()),
            row.required_prefix.map_or(String::new(), |bits| bits.to_string()),
            count(row.cycles),
            count(row.first_event_cycle),
        ]
    };
    let table = Table { columns, rows: run.layers.iter().map(row).collect() };
    html! {
        section {
            h2 { "Layers" }
            (table.markup())
            p.note {
                "One row per accumulation level, innermost first; what belongs to the layer as a whole stands in its \
                 last row. `dots` are dot products over all samples, `touched` those with an event, `first event` is the \
                 earliest cycle of one, from the layer's start. All columns and full names are in layers.csv."
            }
        }
    }
}

fn first_events(run: &RunRecord) -> Markup {
    let mut seen = HashSet::new();
    let mut firsts: Vec<&EventRow> = run.events.iter().filter(|event| seen.insert(event.index)).collect();
    firsts.sort_by_key(|event| event.index);
    let op = |event: &EventRow| {
        let row = run.layers.iter().find(|row| row.index == event.index);
        row.map_or(String::new(), |row| row.op.clone())
    };
    let row = |event: &EventRow| {
        let addend =
            if event.addend < 0 { format!("- {}", -event.addend) } else { format!("+ {}", event.addend) };
        vec![
            layer_label(event.index, &event.layer, &op(event)),
            event.level.clone(),
            format!("{} {addend} = {}", event.held, event.exact),
            format!("too {}", event.direction),
            event.sample.to_string(),
            format!("[{}, {}, {}, {}]", event.out_n, event.out_h, event.out_w, event.out_c),
            event.k.to_string(),
            grouped(event.cycle),
            format!("[{}, {}]", event.pe_row, event.pe_col),
        ]
    };
    let columns = vec![
        Column::text("layer"),
        Column::text("level"),
        Column::number("addition"),
        Column::text("direction"),
        Column::number("sample"),
        Column::text("output [n, h, w, c]"),
        Column::number("k"),
        Column::number("cycle"),
        Column::text("element [row, column]"),
    ];
    let table = Table { columns, rows: firsts.into_iter().map(row).collect() };
    html! {
        @if !table.rows.is_empty() {
            section {
                h2 { "First overflow of every layer" }
                (table.markup())
                p.note {
                    "The first event of the first sample that has one, in order of cycles: what the accumulator held, what was \
                     added, and their exact sum. `k` counts products in the order of addition. More events are in events.csv."
                }
            }
        }
    }
}
