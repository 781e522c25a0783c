//! HTML report of a run.

use std::collections::HashSet;

use maud::{Markup, html};

use super::{Column, Table, accelerators, page, plots, settings, words};
use crate::about::About;
use crate::numbers::{counted, grouped, percentage};
use crate::plots::Drawn;
use crate::tables::{BottleneckRow, CostRow, EventRow, HostRow, LayerRow};
use crate::text::worth;
use crate::{RunRecord, TileRecord, layer_label, run_findings};

/// Returns the page.
pub(crate) fn run(about: &About, run: &RunRecord, drawn: &[Drawn<RunRecord>]) -> String {
    let title = format!("{} on {}", run.model, run.hw);
    let samples = counted(run.outcome.samples, "sample");
    let subtitle = format!("guardbit run · {samples} · {} · statistics: {}", run.mode, run.stats);
    let body = html! {
        section {
            h2 { "Results" }
            ul { @for line in run_findings(run) { li { (line) } } }
        }
        (settings(about))
        (levels(run))
        (layers(run))
        (times(run))
        (bottlenecks(run))
        (host(run))
        (costs(run))
        (tiles(run))
        (first_events(run))
        (plots(drawn))
        (accelerators(about))
        (words())
    };
    page(&title, &subtitle, about, &body)
}

/// Returns the table with one row per level.
fn levels(run: &RunRecord) -> Markup {
    let mut columns = vec![Column::text("layer"), Column::text("op"), Column::text("level")];
    columns.push(Column::number("bits"));
    columns.push(Column::text("overflow"));
    let counts = ["dot products", "terms", "events", "touched", "persistent", "transient"];
    columns.extend(counts.map(Column::number));
    columns.extend(
        ["required bits (final sum, exact network)", "required bits (prefix, exact network)", "met"]
            .map(Column::number),
    );
    let row = |row: &LayerRow| {
        vec![
            layer_label(row.index, &row.name),
            row.op.clone(),
            row.level.clone(),
            row.bits.to_string(),
            row.overflow.clone().unwrap_or_default(),
            grouped(row.dots),
            grouped(row.terms as u64),
            optional(row.events, grouped),
            optional(row.outputs_touched, grouped),
            optional(row.persistent, grouped),
            optional(row.transient, grouped),
            optional(row.exact_required_final, |bits| bits.to_string()),
            optional(row.exact_required_prefix, |bits| bits.to_string()),
            optional(row.required_final.zip(row.required_prefix), |(f, p)| format!("{f}, {p}")),
        ]
    };
    let table = Table { columns, rows: run.layers.iter().map(row).collect() };
    html! {
        section {
            h2 { "Accumulators" }
            (table.markup())
            p.note {
                "One row per accumulation level, innermost first. Dot products are over all samples; \
                 \"touched\" dot products have an event. Required bits of the exact network hold every \
                 final sum (enough for wrapping), or every prefix (enough for saturation), if no \
                 accumulator overflows: these are the widths to build. \"Met\" are the bits that final sums \
                 and prefixes of this run required, on activations that earlier overflow may have changed. \
                 All columns and full names are in layers.csv."
            }
        }
    }
}

/// Returns the table with one row per layer, taken from its last level.
fn layers(run: &RunRecord) -> Markup {
    let mut columns = vec![Column::text("layer")];
    let names = [
        "wrong sums",
        "harmless",
        "mean error",
        "greatest error",
        "differing codes",
        "SQNR (dB)",
        "first event at",
        "product events",
        "bias events",
    ];
    columns.extend(names.map(Column::number));
    let row = |row: &LayerRow| {
        let mean = row.sum_abs_err.zip(row.wrong.filter(|&wrong| wrong > 0));
        vec![
            layer_label(row.index, &row.name),
            optional(row.wrong, grouped),
            optional(row.harmless, grouped),
            optional(mean, |(sum, wrong)| format!("{:.1}", sum as f64 / wrong as f64)),
            optional(row.max_abs_err, |error| error.to_string()),
            optional(row.output_mismatch, grouped),
            optional(row.sqnr_db, |sqnr| sqnr.to_string()),
            optional(row.first_event_cycle, grouped),
            optional(row.product_events, grouped),
            optional(row.bias_events, grouped),
        ]
    };
    let last = run.layers.iter().filter(|row| row.cycles.is_some());
    let table = Table { columns, rows: last.map(row).collect() };
    html! {
        section {
            h2 { "Layers" }
            (table.markup())
            p.note {
                "Errors are those of the delivered sums, in units of one product; the mean is over the \
                 wrong sums. \"First event at\" is the earliest cycle of an event within one inference, \
                 counted from the layer's start."
            }
        }
    }
}

/// Returns the table of the time and data movement of each layer.
fn times(run: &RunRecord) -> Markup {
    let mut columns = vec![Column::text("layer")];
    let names = [
        "cycles",
        "computing",
        "waiting for SRAM",
        "waiting for DRAM",
        "utilization",
        "SRAM bytes",
        "DRAM bytes",
        "time (\u{b5}s)",
    ];
    columns.extend(names.map(Column::number));
    let row = |row: &LayerRow| {
        vec![
            layer_label(row.index, &row.name),
            optional(row.cycles, grouped),
            optional(row.compute_cycles, grouped),
            optional(row.stall_sram_cycles, grouped),
            optional(row.stall_dram_cycles, grouped),
            optional(row.utilization, percentage),
            optional(row.sram_bytes, grouped),
            optional(row.dram_bytes, grouped),
            optional(row.time_us, |time| time.to_string()),
        ]
    };
    let last = run.layers.iter().filter(|row| row.cycles.is_some());
    let mut rows: Vec<Vec<String>> = last.map(row).collect();
    let timing = &run.timing;
    let mut total = vec![String::new(); columns.len()];
    total[0] = "all layers".into();
    total[1] = grouped(timing.cycles);
    total[2] = grouped(timing.cycles - timing.stall_cycles);
    total[3] = grouped(timing.stall_sram_cycles);
    total[4] = grouped(timing.stall_dram_cycles);
    total[8] = timing.accelerator_us.to_string();
    rows.push(total);
    html! {
        section {
            h2 { "Time and traffic" }
            (Table { columns, rows }.markup())
            p.note {
                "Figures of one inference, by the timing convention " (timing.convention)
                ". Layers run one after the other; operations of the host are listed below. Cycles waiting \
                 for SRAM would remain with an infinitely fast external memory; the other stalls wait for \
                 the external memory (scalesim_v3 counts neither). Utilization is the number of products \
                 that the layer needs, as a share of those that the array could compute. SRAM bytes are \
                 transferred between the SRAMs and the array: operands, outputs and partial sums. DRAM bytes \
                 are transferred between the chip and the external memory."
            }
        }
    }
}

/// Returns the table of the operations that the host runs.
fn host(run: &RunRecord) -> Markup {
    let mut columns = vec![Column::text("operation"), Column::text("kind"), Column::text("bound by")];
    let names = ["elements", "operations", "bytes", "cycles", "share of the host"];
    columns.extend(names.map(Column::number));
    let row = |row: &HostRow| {
        vec![
            layer_label(row.index, &row.name),
            row.op.clone(),
            row.bound.clone(),
            grouped(row.elements as u64),
            grouped(row.operations),
            grouped(row.bytes),
            grouped(row.cycles),
            optional(row.share, percentage),
        ]
    };
    let table = Table { columns, rows: run.timing.host.iter().map(row).collect() };
    let timing = &run.timing;
    html! {
        @if !table.rows.is_empty() {
            section {
                h2 { "Host" }
                (table.markup())
                p.note {
                    "The operations on the host take " (counted(timing.host_cycles, "cycle"))
                    " of the accelerator's clock, at the rates of the section `host`: the larger of the \
                     time of its 32-bit operations and the time of its bytes. One inference takes "
                    (counted(timing.cycles + timing.host_cycles, "cycle")) " one operation after the other, and "
                    (grouped(timing.overlapped_cycles))
                    " if host and accelerator work at the same time, except where one waits for a result of \
                     the other."
                }
            }
        }
    }
}

/// Returns the table of the resource that bounds each layer.
fn bottlenecks(run: &RunRecord) -> Markup {
    let mut columns = vec![Column::text("layer"), Column::text("bound by")];
    let names = [
        "products",
        "share of cycles",
        "cycles",
        "if full",
        "array",
        "SRAM",
        "DRAM",
        "if doubled",
        "products per cycle",
        "per DRAM byte",
    ];
    columns.extend(names.map(Column::number));
    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.2}"));
    let row = |row: &BottleneckRow| {
        vec![
            layer_label(row.index, &row.name),
            worth(&row.bound, (row.cycles > 0).then(|| row.doubled_cycles as f64 / row.cycles as f64)),
            grouped(row.macs),
            optional(row.share, percentage),
            grouped(row.cycles),
            grouped(row.ideal_cycles),
            grouped(row.compute_cycles),
            grouped(row.sram_cycles),
            grouped(row.dram_cycles),
            grouped(row.doubled_cycles),
            number(row.macs_per_cycle),
            number(row.macs_per_dram_byte),
        ]
    };
    let table = Table { columns, rows: run.bottlenecks.iter().map(row).collect() };
    html! {
        @if !table.rows.is_empty() {
            section {
                h2 { "Bottlenecks" }
                (table.markup())
                p.note {
                    "Cycles in which the array, the ports of the SRAMs and the external memory are busy. A \
                     layer is bound by the resource that shortens it most if it is twice as fast (\"if \
                     doubled\": the resulting cycles). \"Mapping\" means that the array is this resource, \
                     and that the layer uses less than half of its products. \"If full\" are the cycles of \
                     an array that is always full: " (grouped(run.timing.macs)) " products in all, "
                    (grouped(run.timing.peak_macs_per_cycle)) " at most in a cycle."
                }
            }
        }
    }
}

/// Returns the table of energy and hardware by every cost model.
fn costs(run: &RunRecord) -> Markup {
    let mut columns = vec![Column::text("cost model"), Column::text("part"), Column::text("of")];
    columns.extend(["instances", "uses", "energy (pJ)", "area", "flip-flops"].map(Column::number));
    let row = |row: &CostRow| {
        let figure = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        vec![
            row.model.clone(),
            row.part.clone(),
            row.of.clone(),
            optional(row.instances, grouped),
            figure(row.accesses),
            figure(row.energy_pj),
            row.area.map_or(String::new(), |area| format!("{area} {}", row.area_unit)),
            figure(row.flip_flops),
        ]
    };
    let network = run.cost_rows.iter().filter(|row| row.index.is_none());
    let table = Table { columns, rows: network.map(row).collect() };
    html! {
        @if !run.costs.is_empty() {
            section {
                h2 { "Energy and area" }
                (table.markup())
                p.note {
                    "Energy of one inference, and area of hardware that can run every layer (in folded \
                     arrays, the sum over all layers). Figures that a model does not provide are blank and \
                     not part of its totals. No model includes bias adders, requantizers, operand buffers, \
                     wires and control. Layers are in costs.csv."
                }
                ul { @for cost in &run.costs { li {
                    (cost.model) ": " (cost.source) "."
                    @if !cost.leaves_out.is_empty() { " Not included: " (cost.leaves_out) "." }
                } } }
            }
        }
    }
}

/// Returns the table of the tiles that the SRAMs hold.
fn tiles(run: &RunRecord) -> Markup {
    let mut columns = vec![Column::text("layer")];
    columns.extend(["tiles", "pixels", "channels", "terms"].map(Column::number));
    columns.push(Column::text("order"));
    columns.extend(["activation bytes", "weight bytes", "sum bytes"].map(Column::number));
    columns.push(Column::text("fits"));
    let row = |tile: &TileRecord| {
        vec![
            layer_label(tile.index, &tile.name),
            grouped(tile.count as u64),
            grouped(tile.pixels as u64),
            grouped(tile.channels as u64),
            grouped(tile.terms as u64),
            tile.order.replace('_', " "),
            grouped(tile.activation_bytes),
            grouped(tile.weight_bytes),
            grouped(tile.sum_bytes),
            if tile.fits { "yes" } else { "no" }.to_owned(),
        ]
    };
    let table = Table { columns, rows: run.timing.tiles.iter().map(row).collect() };
    html! {
        @if !table.rows.is_empty() {
            section {
                h2 { "Tiles" }
                (table.markup())
                p.note {
                    "Contents of the SRAMs at a time. With overlapped timing, these are the tiles that fit \
                     (twice with double buffering) and take the fewest cycles; with other conventions, one \
                     filling of the array. \"channels outer\" walks all pixels of some channels, then the \
                     next channels."
                }
            }
        }
    }
}

fn optional<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or(String::new(), text)
}

fn first_events(run: &RunRecord) -> Markup {
    let mut seen = HashSet::new();
    let mut firsts: Vec<&EventRow> = run.events.iter().filter(|event| seen.insert(event.index)).collect();
    firsts.sort_by_key(|event| event.index);
    let row = |event: &EventRow| {
        let addend =
            if event.addend < 0 { format!("- {}", -event.addend) } else { format!("+ {}", event.addend) };
        vec![
            layer_label(event.index, &event.name),
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
                    "The first event in the first sample with an event, by cycle: the value of the \
                     accumulator, the addend, and their exact sum. \"k\" counts products in the order of \
                     addition. More events are in events.csv."
                }
            }
        }
    }
}
