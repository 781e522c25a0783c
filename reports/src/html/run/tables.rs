//! Tables of a run.

use std::collections::HashSet;

use maud::{Markup, html};

use super::super::page::note;
use super::super::table::{Cell, Column, Table};
use super::speed::bound_in_words;
use crate::numbers::{counted, grouped};
use crate::tables::{ClassRow, CostRow, EventRow, HostRow, LayerRow};
use crate::{Fraction, RunRecord};

/// Returns the table with one row per level, with the figures of the layer in the row of its last level.
pub(super) fn levels(run: &RunRecord) -> Markup {
    if run.is_float() {
        return Markup::default();
    }
    let counts = [
        "dot products",
        "terms",
        "events",
        "above",
        "below",
        "with event",
        "persistent",
        "transient",
        "share",
    ];
    let widths = ["bits", "required, final sum", "required, prefix", "met, final sum", "met, prefix"];
    let errors = [
        "wrong sums",
        "harmless",
        "mean error",
        "greatest error",
        "differing codes",
        "SQNR (dB)",
        "product events",
        "bias events",
    ];
    let time = ["cycles", "first event (cycle)", "utilization", "time (\u{b5}s)"];
    let columns = ["layer", "op", "level", "overflow"]
        .map(Column::text)
        .into_iter()
        .chain(Column::group("widths", &widths))
        .chain(Column::group("counts", &counts))
        .chain(Column::group("errors", &errors))
        .chain(Column::group("time", &time));
    let row = |row: &LayerRow| {
        let mean = row.sum_abs_err.zip(row.wrong.filter(|&wrong| wrong > 0));
        let is_quiet = row.events == Some(0) && row.wrong.unwrap_or(0) == 0;
        let cells = vec![
            Cell::layer(row.index, &row.name),
            Cell::text(&row.op),
            Cell::text(&row.level),
            Cell::maybe(row.overflow.as_ref(), Cell::text),
            Cell::text(row.bits),
            Cell::maybe(row.exact_required_final, Cell::text),
            Cell::maybe(row.exact_required_prefix, Cell::text),
            Cell::maybe(row.required_final, Cell::text),
            Cell::maybe(row.required_prefix, Cell::text),
            Cell::count(row.dots),
            Cell::count(row.terms as u64),
            Cell::maybe(row.events, Cell::count),
            Cell::maybe(row.events_high, Cell::count),
            Cell::maybe(row.events_low, Cell::count),
            Cell::maybe(row.outputs_touched, Cell::count),
            Cell::maybe(row.persistent, Cell::count),
            Cell::maybe(row.transient, Cell::count),
            Cell::maybe(row.touched_share(), Cell::share),
            Cell::maybe(row.wrong, Cell::count),
            Cell::maybe(row.harmless, Cell::count),
            Cell::maybe(mean, |(sum, wrong)| Cell::number(sum as f64 / wrong as f64)),
            Cell::maybe(row.max_abs_err, |error| Cell::number(error as f64)),
            Cell::maybe(row.output_mismatch, Cell::count),
            Cell::maybe(row.sqnr_db, Cell::decibel),
            Cell::maybe(row.product_events, Cell::count),
            Cell::maybe(row.bias_events, Cell::count),
            Cell::maybe(row.cycles, Cell::count),
            Cell::maybe(row.first_event_cycle, Cell::count),
            Cell::maybe(row.utilization, Cell::share),
            Cell::maybe(row.time_us, Cell::number),
        ];
        (is_quiet, cells)
    };
    let table =
        Table::new("Accumulators", columns).folded(["level", "without events"], run.layers.iter().map(row));
    html! {
        h3 { "Accumulators" }
        (table.markup())
        (note(
            "One row per accumulation level, innermost first; errors and time are in the row of a layer's last \
             level. Dot products are over all samples; \"share\" is that of the dot products with an event. \
             Required bits of the exact network hold every final sum (enough for wrapping), or every prefix \
             (enough for saturation), if no accumulator overflows: these are widths to build for these samples, and `guardbit size` proves \
             widths for every input. \"Met\" are the bits of this run, whose activations earlier overflow may have changed. Errors are those of the \
             delivered sums, in units of one product; their mean is over the wrong sums. All columns and full \
             names are in layers.csv."
        ))
    }
}

/// Returns the table of the first event of every layer.
pub(super) fn first_events(run: &RunRecord) -> Markup {
    let mut seen = HashSet::new();
    let mut firsts: Vec<&EventRow> = run.events.iter().filter(|event| seen.insert(event.index)).collect();
    firsts.sort_by_key(|event| event.index);
    let row = |event: &EventRow| {
        vec![
            Cell::layer(event.index, &event.name),
            Cell::text(&event.level),
            Cell::text(addition(event)),
            Cell::text(format!("too {}", event.direction)),
            Cell::text(event.stored),
            Cell::count(event.sample as u64),
            Cell::text(format!("[{}, {}, {}, {}]", event.out_n, event.out_h, event.out_w, event.out_c)),
            Cell::count(event.k as u64),
            Cell::count(event.cycle),
            Cell::text(format!("[{}, {}]", event.pe_row, event.pe_col)),
        ]
    };
    let columns = vec![
        Column::text("layer"),
        Column::text("level"),
        Column::number("addition"),
        Column::text("direction"),
        Column::number("stored"),
        Column::number("sample"),
        Column::text("output [n, h, w, c]"),
        Column::number("k"),
        Column::number("cycle"),
        Column::text("element [row, column]"),
    ];
    let table = Table::new("First overflow of every layer", columns).rows(firsts.into_iter().map(row));
    html! {
        @if !run.events.is_empty() {
            h3 { "First overflow of every layer" }
            (table.markup())
            (note(
                "The first event in the first sample with an event, by cycle: the value of the accumulator, the \
                 addend, their exact sum, and what the accumulator holds afterwards. \"k\" counts products in \
                 the order of addition. More events are in events.csv."
            ))
        }
    }
}

/// Returns an addition with its exact result.
pub(super) fn addition(event: &EventRow) -> String {
    let addend =
        if event.addend < 0 { format!("- {}", -event.addend) } else { format!("+ {}", event.addend) };
    format!("{} {addend} = {}", event.held, event.exact)
}

/// Returns the table of time, bound, traffic and tiles of each layer.
pub(super) fn times(run: &RunRecord) -> Markup {
    let timing = &run.timing;
    let time = [
        "cycles",
        "share of cycles",
        "waiting for SRAM (cycles)",
        "waiting for DRAM (cycles)",
        "utilization",
        "time (\u{b5}s)",
    ];
    let bound = [
        "products",
        "full array (cycles)",
        "array (cycles)",
        "SRAM ports (cycles)",
        "DRAM (cycles)",
        "if doubled (cycles)",
        "products per cycle",
    ];
    let traffic = ["SRAM (bytes)", "DRAM (bytes)", "products per DRAM byte"];
    let tiles =
        ["tiles", "pixels", "channels", "terms", "activations (bytes)", "weights (bytes)", "sums (bytes)"];
    let columns = ["layer", "bound by"]
        .map(Column::text)
        .into_iter()
        .chain(Column::group("time", &time))
        .chain(Column::group("bound", &bound))
        .chain(Column::group("traffic", &traffic))
        .chain(Column::group("tiles", &tiles))
        .chain([Column::text("order of tiles").of("tiles"), Column::text("fits").of("tiles")]);
    let row = |row: &LayerRow| {
        let bound = run.bottlenecks.iter().find(|other| other.index == row.index);
        let tile = timing.tiles.iter().find(|other| other.index == row.index);
        vec![
            Cell::layer(row.index, &row.name),
            Cell::maybe(bound, |bound| Cell::text(bound_in_words(&bound.bound))),
            Cell::maybe(row.cycles, Cell::count),
            Cell::maybe(bound.and_then(|bound| bound.share), Cell::share),
            Cell::maybe(row.stall_sram_cycles, Cell::count),
            Cell::maybe(row.stall_dram_cycles, Cell::count),
            Cell::maybe(row.utilization, Cell::share),
            Cell::maybe(row.time_us, Cell::number),
            Cell::maybe(bound, |bound| Cell::count(bound.macs)),
            Cell::maybe(bound, |bound| Cell::count(bound.ideal_cycles)),
            Cell::maybe(bound, |bound| Cell::count(bound.compute_cycles)),
            Cell::maybe(bound, |bound| Cell::count(bound.sram_cycles)),
            Cell::maybe(bound, |bound| Cell::count(bound.dram_cycles)),
            Cell::maybe(bound, |bound| Cell::count(bound.doubled_cycles)),
            Cell::maybe(bound.and_then(|bound| bound.macs_per_cycle), Cell::number),
            Cell::maybe(row.sram_bytes, Cell::count),
            Cell::maybe(row.dram_bytes, Cell::count),
            Cell::maybe(bound.and_then(|bound| bound.macs_per_dram_byte), Cell::number),
            Cell::maybe(tile, |tile| Cell::count(tile.count as u64)),
            Cell::maybe(tile, |tile| Cell::count(tile.pixels as u64)),
            Cell::maybe(tile, |tile| Cell::count(tile.channels as u64)),
            Cell::maybe(tile, |tile| Cell::count(tile.terms as u64)),
            Cell::maybe(tile, |tile| Cell::count(tile.activation_bytes)),
            Cell::maybe(tile, |tile| Cell::count(tile.weight_bytes)),
            Cell::maybe(tile, |tile| Cell::count(tile.sum_bytes)),
            Cell::maybe(tile, |tile| Cell::text(tile.order.replace('_', " "))),
            Cell::maybe(tile, |tile| Cell::text(if tile.fits { "yes" } else { "no" })),
        ]
    };
    let last = run.layers.iter().filter(|row| row.cycles.is_some());
    let table = Table::new("Time, traffic and tiles", columns).rows(last.map(row));
    html! {
        @if !run.layers.is_empty() {
            h3 { "Time, traffic and tiles" }
            (table.markup())
            p.note {
                "Figures of one inference, by the timing convention " (timing.convention) ": "
                (counted(timing.cycles, "cycle")) " on the accelerator, of which "
                (grouped(timing.stall_sram_cycles)) " wait for SRAM and " (grouped(timing.stall_dram_cycles))
                " for DRAM. A layer is bound by the resource that shortens it most if it is twice as fast (\"if \
                 doubled\": the resulting cycles). \"Mapping\" means that the array is this resource, and that \
                 the layer uses less than half of its products. Cycles waiting for SRAM would remain with an \
                 infinitely fast external memory. Tiles are the contents of the SRAMs at a time: with \
                 overlapped timing those that fit and take the fewest cycles."
            }
        }
    }
}

/// Returns the table of the operations that the host runs.
pub(super) fn host(run: &RunRecord) -> Markup {
    let columns = ["operation", "kind", "bound by"]
        .map(Column::text)
        .into_iter()
        .chain(["elements", "operations", "bytes", "cycles", "share of the host"].map(Column::number));
    let row = |row: &HostRow| {
        let cells = vec![
            Cell::text(crate::layer_label(row.index, &row.name)),
            Cell::text(&row.op),
            Cell::text(&row.bound),
            Cell::count(row.elements as u64),
            Cell::count(row.operations),
            Cell::count(row.bytes),
            Cell::count(row.cycles),
            Cell::maybe(row.share, Cell::share),
        ];
        (row.cycles == 0, cells)
    };
    let timing = &run.timing;
    let table =
        Table::new("Host", columns).folded(["operation", "without cycles"], timing.host.iter().map(row));
    html! {
        @if !timing.host.is_empty() {
            h3 { "Host" }
            (table.markup())
            p.note {
                "The operations on the host take " (counted(timing.host_cycles, "cycle"))
                " of the accelerator's clock, at the rates of the section " code { "host" } ": the larger of the time of its \
                 32-bit operations and the time of its bytes. One inference takes "
                (counted(timing.cycles + timing.host_cycles, "cycle")) " one operation after the other, and "
                (grouped(timing.overlapped_cycles))
                " if host and accelerator work at the same time, except where one waits for a result of the \
                 other."
            }
        }
    }
}

/// Returns the table of energy and hardware by every cost model.
pub(super) fn costs(run: &RunRecord) -> Markup {
    let columns = ["cost model", "part", "of", "size"]
        .map(Column::text)
        .into_iter()
        .chain(["instances", "uses", "energy (pJ)", "energy", "area"].map(Column::number))
        .chain([Column::text("unit of the area"), Column::number("flip-flops")]);
    let share = |row: &CostRow| {
        let total = run.costs.iter().find(|cost| cost.model == row.model)?.energy_pj?;
        (total > 0.0).then_some(Fraction::new(row.energy_pj? / total))
    };
    let row = |row: &CostRow| {
        vec![
            Cell::text(&row.model),
            Cell::text(&row.part),
            Cell::text(&row.of),
            Cell::text(&row.size),
            Cell::maybe(row.instances, Cell::count),
            Cell::maybe(row.accesses, Cell::number),
            Cell::maybe(row.energy_pj, Cell::number),
            Cell::maybe(share(row), Cell::share),
            Cell::maybe(row.area, Cell::number),
            Cell::text(&row.area_unit),
            Cell::maybe(row.flip_flops, Cell::number),
        ]
    };
    let network = run.cost_rows.iter().filter(|row| row.index.is_none());
    let table = Table::new("Energy and area", columns).rows(network.map(row));
    html! {
        @if !run.costs.is_empty() {
            h3 { "Energy and area" }
            (table.markup())
            (note(
                "Energy of one inference, and area of hardware that can run every layer (in folded arrays, the \
                 sum over all layers). Figures that a model does not provide are blank and not part of its \
                 totals. No model includes bias adders, requantizers, operand buffers, wires and control. Layers \
                 are in costs.csv."
            ))
            ul { @for cost in &run.costs { li {
                (cost.model) ": " (cost.source) "."
                @if !cost.leaves_out.is_empty() { " Not included: " (cost.leaves_out) "." }
            } } }
        }
    }
}

/// Returns the table of the results per class.
pub(super) fn classes(run: &RunRecord) -> Markup {
    let names = [
        "samples",
        "right",
        "right in the exact network",
        "accuracy",
        "95 %, from",
        "95 %, to",
        "predicted",
        "predicted by the exact network",
    ];
    let row = |row: &ClassRow| {
        vec![
            Cell::text(row.class),
            Cell::maybe(row.labelled, Cell::count),
            Cell::maybe(row.right, Cell::count),
            Cell::maybe(row.right_exact, Cell::count),
            Cell::maybe(row.accuracy, Cell::share),
            Cell::maybe(row.accuracy_low, Cell::share),
            Cell::maybe(row.accuracy_high, Cell::share),
            Cell::maybe(row.predicted, Cell::count),
            Cell::count(row.predicted_exact),
        ]
    };
    let columns = std::iter::once(Column::number("class")).chain(names.map(Column::number));
    let table = Table::new("Classes", columns).rows(run.classes.iter().map(row));
    html! { @if !run.classes.is_empty() { h3 { "Classes" } (table.markup()) } }
}
