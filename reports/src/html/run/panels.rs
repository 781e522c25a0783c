//! Data of the panel of a layer: its datapath, sums, events and time.

use maud::Markup;
use serde::Serialize;

use super::super::page::data as element;
use super::speed::bound_in_words;
use super::tables::addition;
use crate::about::About;
use crate::numbers::{counted, figure, grouped, percentage};
use crate::records::PATHS;
use crate::tables::{EventRow, LayerRow, sum};
use crate::{Fraction, LayerActivity, LevelHistogram, RunRecord, SumHistogram, SumKind};

/// Greatest number of layers with a panel of their own.
const LAYERS: usize = 400;
/// Greatest number of events that a panel lists.
const EVENTS: usize = 12;
/// Greatest number of rows and columns of a map of elements; larger arrays share cells.
const SIDE: usize = 64;
/// Greatest number of filled cells in the maps of all layers.
const CELLS: usize = 60_000;
/// Greatest number of distributions of sums.
const SUMS: usize = 300;

/// Data of all panels.
#[derive(Serialize)]
struct Panels<'a> {
    layers: Vec<Panel<'a>>,
    /// Command that repeats the run; the script adds a layer to it.
    command: &'a str,
}

/// Data of one panel.
#[derive(Serialize)]
struct Panel<'a> {
    index: usize,
    name: &'a str,
    full: &'a str,
    op: &'a str,
    /// What the layer is, and what it comes to, in a sentence.
    about: String,
    /// Stages of the datapath that are no level.
    stages: Vec<&'a str>,
    levels: Vec<LevelPanel<'a>>,
    /// Names and values.
    facts: Vec<(&'static str, String)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sums: Vec<Distribution<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bits: Vec<Bits<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    places: Option<Places>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline: Option<Timeline<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<[String; 8]>,
}

/// Level of the datapath.
#[derive(Serialize)]
struct LevelPanel<'a> {
    name: &'a str,
    stage: &'a str,
    bits: String,
    overflow: &'a str,
    events: Option<u64>,
    /// Bits that final sums and prefixes require, if they were counted.
    required: [Option<u32>; 2],
}

/// Distribution of the sums of a level.
#[derive(Serialize)]
struct Distribution<'a> {
    level: &'a str,
    low: f64,
    width: f64,
    rails: [f64; 2],
    /// Counts of final sums, least prefixes and greatest prefixes, with a bin below and a bin above.
    counts: [Vec<u64>; 3],
}

/// Bits that the sums of a level require.
#[derive(Serialize)]
struct Bits<'a> {
    level: &'a str,
    bits: Option<u32>,
    finals: &'a [u64],
    prefixes: &'a [u64],
}

/// Events by processing element.
#[derive(Serialize)]
struct Places {
    rows: usize,
    cols: usize,
    /// Rows and columns of elements that one cell sums.
    cell: [usize; 2],
    /// Filled cells: index, row by row, and events.
    filled: Vec<[u64; 2]>,
}

/// Events over the cycles.
#[derive(Serialize)]
struct Timeline<'a> {
    cycles: u64,
    parts: &'a [u64],
    tiles: usize,
}

/// Returns the data of the panels.
pub(super) fn data(about: &About, run: &RunRecord) -> Markup {
    let mut groups: Vec<&[LayerRow]> = run.layers.chunk_by(|a, b| a.index == b.index).collect();
    if groups.len() > LAYERS {
        // Layers with many events are looked at first.
        groups.sort_by_key(|rows| std::cmp::Reverse(sum(*rows, |row| row.events).unwrap_or(0)));
        groups.truncate(LAYERS);
        groups.sort_by_key(|rows| rows[0].index);
    }
    let mut room = Room { cells: CELLS, sums: SUMS };
    let layers = groups.into_iter().map(|rows| panel(run, rows, &mut room)).collect();
    element("layers-data", &Panels { layers, command: &about.command })
}

/// What may still be stored.
struct Room {
    cells: usize,
    sums: usize,
}

fn panel<'a>(run: &'a RunRecord, rows: &'a [LayerRow], room: &mut Room) -> Panel<'a> {
    let last = &rows[rows.len() - 1];
    let index = last.index;
    let design = run.design.layers.iter().find(|layer| layer.index == index);
    let all: &[String] = design.map_or(&[], |layer| &layer.stages);
    let of_level = |row: &LayerRow| {
        let own = |stage: &&String| stage.strip_prefix(&row.level).is_some_and(|rest| rest.starts_with(": "));
        all.iter().find(own).map_or("", |stage| &stage[row.level.len() + 2..])
    };
    let is_level = |stage: &str| rows.iter().any(|row| stage.starts_with(&format!("{}: ", row.level)));
    let level = |row: &'a LayerRow| LevelPanel {
        name: &row.level,
        stage: of_level(row),
        bits: row.bits.to_string(),
        overflow: row.overflow.as_deref().unwrap_or_default(),
        events: row.events,
        required: [
            row.exact_required_final.or(row.required_final),
            row.exact_required_prefix.or(row.required_prefix),
        ],
    };
    let own_sums: Vec<&SumHistogram> = run.sums.iter().filter(|sums| sums.index == index).collect();
    let sums = if own_sums.len() <= room.sums { own_sums } else { Vec::new() };
    room.sums -= sums.len();
    let activity = run.activity.iter().find(|layer| layer.index == index && layer.events() > 0);
    let tiles = run.timing.tiles.iter().find(|tile| tile.index == index).map_or(0, |tile| tile.count);
    let own_bits = run.histograms.iter().filter(|bits| bits.index == index);
    Panel {
        index,
        name: &last.name,
        full: &last.layer,
        op: &last.op,
        about: about_layer(last),
        stages: all.iter().map(String::as_str).filter(|stage| !is_level(stage)).collect(),
        levels: rows.iter().map(level).collect(),
        facts: facts(run, last),
        sums: sums.into_iter().map(distribution).collect(),
        bits: own_bits.map(bits).collect(),
        places: activity.and_then(|activity| places(activity, room)),
        timeline: activity.map(|one| Timeline { cycles: one.cycles, parts: &one.timeline, tiles }),
        events: run.events.iter().filter(|event| event.index == index).take(EVENTS).map(event).collect(),
    }
}

fn about_layer(row: &LayerRow) -> String {
    let mut text = format!("{} of {} terms", counted(row.dots, "dot product"), grouped(row.terms as u64));
    if let Some(share) = row.wrong.and_then(|wrong| Fraction::of(wrong, row.dots)) {
        text += &format!("; {} of the sums are wrong", percentage(share));
    }
    match row.sqnr_db.map(|sqnr| sqnr.value()) {
        Some(sqnr) if sqnr.is_finite() => text += &format!("; output SQNR {} dB", figure(sqnr)),
        Some(sqnr) if sqnr > 0.0 => text += "; the output is exact",
        _ => {}
    }
    text + "."
}

fn facts(run: &RunRecord, row: &LayerRow) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut add = |name, value: Option<String>| facts.extend(value.map(|value| (name, value)));
    let bound = run.bottlenecks.iter().find(|other| other.index == row.index);
    add("cycles", row.cycles.map(grouped));
    add("time", row.time_us.map(|time| format!("{} \u{b5}s", figure(time))));
    add("bound by its", bound.map(|bound| bound_in_words(&bound.bound).to_owned()));
    add("cycles if that is doubled", bound.map(|bound| grouped(bound.doubled_cycles)));
    add("utilization", row.utilization.map(percentage));
    add("waiting for SRAM", row.stall_sram_cycles.map(|cycles| counted(cycles, "cycle")));
    add("waiting for DRAM", row.stall_dram_cycles.map(|cycles| counted(cycles, "cycle")));
    let tile = run.timing.tiles.iter().find(|tile| tile.index == row.index);
    add(
        "tiles",
        tile.map(|tile| {
            let order = tile.order.replace('_', " ");
            format!("{} of {} pixels x {} channels, {order}", tile.count, tile.pixels, tile.channels)
        }),
    );
    let moved = run.design.layers.iter().find(|layer| layer.index == row.index);
    for (path, bytes) in PATHS.iter().zip(moved.into_iter().flat_map(|layer| layer.moved_bytes)) {
        add(path, (bytes > 0).then(|| counted(bytes, "byte")));
    }
    facts
}

fn distribution(sums: &SumHistogram) -> Distribution<'_> {
    Distribution {
        level: &sums.level,
        low: sums.bins.low as f64,
        width: sums.bins.width as f64,
        rails: [sums.range.0 as f64, sums.range.1 as f64],
        counts: SumKind::ALL.map(|kind| sums.total(kind)),
    }
}

fn bits(one: &LevelHistogram) -> Bits<'_> {
    Bits {
        level: &one.level,
        bits: one.bits.bits(),
        finals: &one.required_final,
        prefixes: &one.required_prefix,
    }
}

/// Returns the map of a layer if there is room for it.
fn places(activity: &LayerActivity, room: &mut Room) -> Option<Places> {
    let (rows, cols) = (activity.rows, activity.cols);
    let cell = [rows.div_ceil(SIDE).max(1), cols.div_ceil(SIDE).max(1)];
    let (down, across) = (rows.div_ceil(cell[0]), cols.div_ceil(cell[1]));
    let mut events = vec![0u64; down * across];
    for (at, &count) in activity.heat_map.iter().enumerate() {
        events[at / cols / cell[0] * across + at % cols / cell[1]] += count;
    }
    let filled: Vec<[u64; 2]> = events
        .into_iter()
        .enumerate()
        .filter(|(_, count)| *count > 0)
        .map(|(at, count)| [at as u64, count])
        .collect();
    room.cells = room.cells.checked_sub(filled.len())?;
    Some(Places { rows: down, cols: across, cell, filled })
}

fn event(event: &EventRow) -> [String; 8] {
    let place = [event.out_n, event.out_h, event.out_w, event.out_c].map(|at| at.to_string()).join(", ");
    [
        event.level.clone(),
        addition(event),
        format!("too {}", event.direction),
        event.stored.to_string(),
        grouped(event.sample as u64),
        format!("[{place}]"),
        grouped(event.k as u64),
        grouped(event.cycle),
    ]
}
