//! Timeline of one inference in Chrome's trace event format (JSON), which Perfetto and `chrome://tracing`
//! open. Source of the format: Google, *Trace Event Format*, "JSON Object Format".
//!
//! Accelerator and host run one operation after the other, as `latency_us` counts them. Times are in
//! microseconds, rounded to nanoseconds; `args` have the cycles.

use std::ops::Range;

use guardbit_graph::NodeId;
use guardbit_hwmodels::timing::Span;
use guardbit_hwmodels::{Program, Step, TimedLayer};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::records::LayerActivity;
use crate::{BottleneckRow, RunRecord};

/// Start of every timeline.
pub const TRACE_START: &str = r#"{"otherData":{"writer":"guardbit","#;

/// Most spans of a kind in one trace; beyond it, spans of several tiles are one.
const MOST_SPANS: u64 = 20_000;
/// Most groups of rows of the array with a track of their events.
const ROW_GROUPS: usize = 8;

/// Process of a track.
const ACCELERATOR: u32 = 1;
const HOST: u32 = 2;
const OVERFLOW: u32 = 3;

/// Tracks of the accelerator, in the order of their thread numbers from 1.
const TRACKS: [&str; 8] = [
    "layers",
    "time by cause",
    "tiles",
    "loads from external memory",
    "stores to external memory",
    "activation port",
    "weight port",
    "accumulator port",
];
const LAYERS: u32 = 1;
const CAUSES: u32 = 2;
const TILES: u32 = 3;
const LOADS: u32 = 4;
const STORES: u32 = 5;
/// The first of three ports.
const PORTS: u32 = 6;

/// Document. Field order is that of the file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    other_data: About<'a>,
    display_time_unit: &'static str,
    trace_events: Vec<Event>,
}

/// Description of the run.
#[derive(Serialize)]
struct About<'a> {
    writer: &'static str,
    model: &'a str,
    accelerator: &'a str,
    convention: &'a str,
    clock_mhz: f64,
    cycles: u64,
    host_cycles: u64,
}

/// One trace event.
#[derive(Serialize)]
struct Event {
    name: String,
    ph: &'static str,
    pid: u32,
    tid: u32,
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    args: Value,
}

/// Events so far, and the clock.
struct Timeline {
    events: Vec<Event>,
    clock_mhz: f64,
    /// Cycle in which the current operation starts.
    now: u64,
    /// Most spans of a layer.
    most: u64,
}

/// Returns the timeline of a program with the counts of its run, as a JSON document.
pub fn trace(program: &Program, record: &RunRecord) -> Vec<u8> {
    let mut timed = program.timed_layers();
    let layers = program.timed_layers().count() as u64;
    let clock_mhz = program.accelerator.clock_mhz;
    let mut line =
        Timeline { events: Vec::new(), clock_mhz, now: 0, most: (MOST_SPANS / layers.max(1)).max(1) };
    line.name_tracks(record);
    let mut activity = record.activity.iter().peekable();
    // Rows are in the order of the layers.
    let (mut levels, mut bounds) = (record.layers.iter().peekable(), record.bottlenecks.iter().peekable());
    for (node, step) in program.graph.nodes_with_ids().map(|(node, _)| node).zip(&program.steps) {
        match step {
            Step::Mac(_) | Step::Float(_) => {
                let Some(layer) = timed.next() else { continue };
                let index = layer.node.index();
                let mut events = Map::new();
                while let Some(row) = levels.next_if(|row| row.index == index) {
                    events.extend(row.events.map(|count| (row.level.clone(), count.into())));
                }
                line.layer(layer, bounds.next_if(|row| row.index == index), events);
                if let Some(activity) = activity.next_if(|activity| activity.index == layer.node.index()) {
                    line.activity(activity);
                }
                line.now = line.now.saturating_add(layer.timing.cycles);
            }
            Step::Host(_) => line.host(program, node),
        }
    }
    let document = Document {
        other_data: About {
            writer: "guardbit",
            model: &record.model,
            accelerator: &record.hw,
            convention: &record.timing.convention,
            clock_mhz: line.clock_mhz,
            cycles: record.timing.cycles,
            host_cycles: record.timing.host_cycles,
        },
        display_time_unit: "ns",
        trace_events: line.events,
    };
    serde_json::to_vec(&document).expect("text and numbers")
}

impl Timeline {
    fn name_tracks(&mut self, record: &RunRecord) {
        let array = format!("accelerator {}", record.hw);
        for (pid, name) in [(ACCELERATOR, array.as_str()), (HOST, "host"), (OVERFLOW, "overflow events")] {
            self.describe("process_name", pid, 0, json!({ "name": name }));
            self.describe("process_sort_index", pid, 0, json!({ "sort_index": pid }));
        }
        for (tid, name) in (1..).zip(TRACKS) {
            self.describe("thread_name", ACCELERATOR, tid, json!({ "name": name }));
            self.describe("thread_sort_index", ACCELERATOR, tid, json!({ "sort_index": tid }));
        }
        self.describe("thread_name", HOST, 1, json!({ "name": "operations" }));
        let rows = record.activity.iter().map(|activity| activity.rows).max().unwrap_or(0);
        for (tid, (first, last)) in (1..).zip(row_groups(rows)) {
            let name = if first == last { format!("row {first}") } else { format!("rows {first} to {last}") };
            self.describe("thread_name", OVERFLOW, tid, json!({ "name": name }));
            self.describe("thread_sort_index", OVERFLOW, tid, json!({ "sort_index": tid }));
        }
    }

    fn layer(&mut self, layer: TimedLayer<'_>, bound: Option<&BottleneckRow>, events: Map<String, Value>) {
        let cost = &layer.timing.cost;
        let cycles = layer.timing.cycles;
        let mut args = json!({
            "index": layer.node.index(),
            "layer": layer.name,
            "op": layer.op,
            "cycles": cycles,
            "bound": bound.map(|row| row.bound.as_str()),
            "macs": cost.macs,
            "utilization": cost.utilization(),
            "dram_bytes": cost.dram_bytes,
            "tiles": layer.timing.tiles(),
        });
        if !events.is_empty() {
            args["events"] = events.into();
        }
        self.slice(layer.short_name, (ACCELERATOR, LAYERS), 0..cycles, args);

        let busiest = (PORTS..).zip(cost.port_cycles).max_by_key(|(_, cycles)| *cycles);
        let port = busiest.map_or("ports", |(track, _)| TRACKS[track as usize - 1]);
        let stalls = [
            ("compute".to_owned(), cost.compute_cycles),
            (format!("stall: {port}"), cost.stall_sram_cycles),
            ("stall: external memory".to_owned(), cost.stall_dram_cycles),
        ];
        let mut from = 0;
        for (cause, cycles) in stalls {
            self.slice(&cause, (ACCELERATOR, CAUSES), from..from + cycles, json!({ "cycles": cycles }));
            from += cycles;
        }

        let spans = layer.timing.spans(self.most);
        for (track, of, list) in
            [(TILES, "tile", &spans.tiles), (LOADS, "load", &spans.loads), (STORES, "store", &spans.stores)]
        {
            for span in list {
                let args =
                    json!({ "cycles": span.cycles.end - span.cycles.start, "layer": layer.short_name });
                self.slice(&tiles(of, span), (ACCELERATOR, track), span.cycles.clone(), args);
            }
        }
        let first = spans.tiles.first().map_or(0, |span| span.cycles.start);
        for (track, busy) in (PORTS..).zip(cost.port_cycles) {
            let start = first.min(cycles.saturating_sub(busy));
            let args = json!({ "cycles": busy });
            self.slice(layer.short_name, (ACCELERATOR, track), start..start + busy, args);
        }
    }

    /// Adds where and when a layer's events happened, over all samples.
    fn activity(&mut self, activity: &LayerActivity) {
        let bins = activity.timeline.len() as u128;
        for (index, &events) in (0u128..).zip(&activity.timeline) {
            let start = u128::from(activity.cycles) * index / bins;
            self.counter(start as u64, events);
        }
        self.counter(activity.cycles, 0);
        let cols = activity.cols.max(1);
        for (tid, (first, last)) in (1..).zip(row_groups(activity.rows)) {
            let cells = activity.heat_map.get(first * cols..(last + 1) * cols).unwrap_or_default();
            let events: u64 = cells.iter().sum();
            if events > 0 {
                let args = json!({ "events": events, "rows": [first, last] });
                self.slice(&activity.name, (OVERFLOW, tid), 0..activity.cycles, args);
            }
        }
    }

    fn host(&mut self, program: &Program, node: NodeId) {
        let Some(time) = program.host_time(node) else { return };
        let graph = &program.graph;
        let args = json!({
            "index": node.index(),
            "layer": graph.node_name(node),
            "op": graph.node(node).op.name(),
            "cycles": time.cycles,
            "operations": time.work.operations,
            "bytes": time.work.bytes,
            "bound": time.bound.name(),
        });
        self.slice(graph.short_name(node), (HOST, 1), 0..time.cycles, args);
        self.now = self.now.saturating_add(time.cycles);
    }

    /// Adds a span of the current operation, unless it takes no time.
    fn slice(&mut self, name: &str, (pid, tid): (u32, u32), cycles: Range<u64>, args: Value) {
        if cycles.is_empty() {
            return;
        }
        let [ts, end] = [cycles.start, cycles.end].map(|cycle| self.nanoseconds(cycle));
        let dur = Some((end - ts) / 1e3);
        self.events.push(Event { name: name.into(), ph: "X", pid, tid, ts: ts / 1e3, dur, args });
    }

    fn counter(&mut self, cycle: u64, events: u64) {
        let ts = self.nanoseconds(cycle) / 1e3;
        let args = json!({ "events": events });
        self.events.push(Event {
            name: "events".into(),
            ph: "C",
            pid: OVERFLOW,
            tid: 0,
            ts,
            dur: None,
            args,
        });
    }

    fn describe(&mut self, name: &str, pid: u32, tid: u32, args: Value) {
        self.events.push(Event { name: name.into(), ph: "M", pid, tid, ts: 0.0, dur: None, args });
    }

    /// Returns the time of a cycle of the current operation, rounded.
    fn nanoseconds(&self, cycle: u64) -> f64 {
        (self.now.saturating_add(cycle) as f64 * 1e3 / self.clock_mhz).round()
    }
}

/// Returns the name of a span: `tile 3` or `tiles 0 to 9`.
fn tiles(of: &str, Span { tiles, .. }: &Span) -> String {
    match tiles.end - tiles.start {
        1 => format!("{of} {}", tiles.start),
        _ => format!("{of}s {} to {}", tiles.start, tiles.end - 1),
    }
}

/// Returns the first and last rows of at most [`ROW_GROUPS`] equal groups of rows.
fn row_groups(rows: usize) -> impl Iterator<Item = (usize, usize)> {
    let each = rows.div_ceil(ROW_GROUPS).max(1);
    (0..rows.div_ceil(each)).map(move |group| (group * each, ((group + 1) * each).min(rows) - 1))
}
