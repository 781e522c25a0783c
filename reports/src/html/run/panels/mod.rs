//! Data of the panel of a layer: its datapath, sums, events and time.

mod data;
mod float;

use maud::Markup;
use serde::Serialize;

use super::super::page::data as element;
use super::tables::addition;
use crate::about::About;
use crate::numbers::{counted, figure, grouped, percentage};
use crate::records::{FractionBits, MOST_STARTS};
use crate::tables::{EventRow, LayerRow, sum};
use crate::{Fraction, LayerActivity, LayerDesign, LevelHistogram, RunRecord, SumHistogram, SumKind};
use data::{Histogram, Panel, Places, Stage, facts};

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
    let counts = FractionBits::all(run);
    let floats = run.aligned.iter().take(LAYERS - groups.len()).map(|row| float::panel(run, row, &counts));
    let mut layers: Vec<Panel<'_>> =
        groups.into_iter().map(|rows| panel(run, rows, &mut room)).chain(floats).collect();
    layers.sort_by_key(|layer| layer.index);
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
    let own_sums: Vec<&SumHistogram> = run.sums.iter().filter(|sums| sums.index == index).collect();
    let sums = if own_sums.len() <= room.sums { own_sums } else { Vec::new() };
    room.sums -= sums.len();
    let activity = run.activity.iter().find(|layer| layer.index == index && layer.events() > 0);
    let mut plots: Vec<Histogram> = sums.into_iter().map(distribution).collect();
    if plots.is_empty() {
        plots = run.histograms.iter().filter(|bits| bits.index == index).map(bits).collect();
    }
    plots.extend(activity.map(|activity| timeline(activity, design)));
    Panel {
        index,
        name: &last.name,
        full: &last.layer,
        op: &last.op,
        about: about_layer(last),
        stages: stages(design.map_or(&[], |layer| &layer.stages), rows),
        facts: facts(run, index),
        plots,
        places: activity.and_then(|activity| places(activity, room)),
        events: run.events.iter().filter(|event| event.index == index).take(EVENTS).map(event).collect(),
    }
}

/// Returns the stages of a datapath, with the levels after the product.
fn stages<'a>(all: &'a [String], rows: &'a [LayerRow]) -> Vec<Stage<'a>> {
    let of = |stage: &'a str, row: &LayerRow| stage.strip_prefix(row.level.as_str())?.strip_prefix(": ");
    let is_level = |stage: &str| rows.iter().any(|row| stage.starts_with(&format!("{}: ", row.level)));
    let plain = |stage: &'a String| {
        let whole = ["zero point", "model's requantization"].into_iter().find(|name| stage.starts_with(name));
        let end = whole.map_or_else(|| stage.find(' ').unwrap_or(stage.len()), str::len);
        let (name, text) = stage.split_at(end);
        Stage { name, text: text.trim_start().to_owned(), bits: None, events: false }
    };
    let level = |row: &'a LayerRow| {
        let finals = row.exact_required_final.or(row.required_final);
        let prefixes = row.exact_required_prefix.or(row.required_prefix);
        let own = all.iter().find_map(|stage| of(stage, row));
        let register = || format!("{} bits {}", row.bits, row.overflow.as_deref().unwrap_or_default());
        let mut parts = vec![own.map_or_else(register, str::to_owned)];
        parts.extend(row.events.map(|events| counted(events, "event")));
        if finals.or(prefixes).is_some() {
            let [finals, prefixes] =
                [finals, prefixes].map(|bits| bits.map_or("-".to_owned(), |bits| bits.to_string()));
            parts.push(format!("requires {finals} bits for final sums, {prefixes} for prefixes"));
        }
        let bits = prefixes.or(finals).zip(row.bits.bits()).map(|(needs, available)| [needs, available]);
        Stage { name: &row.level, text: parts.join("; "), bits, events: row.events > Some(0) }
    };
    let product = all.iter().position(|stage| stage.starts_with("product")).map_or(0, |at| at + 1);
    let before = all[..product].iter().filter(|stage| !is_level(stage)).map(plain);
    let after = all[product..].iter().filter(|stage| !is_level(stage)).map(plain);
    before.chain(rows.iter().map(level)).chain(after).collect()
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

fn distribution(sums: &SumHistogram) -> Histogram {
    let rail = |value: i128| (value as f64, grouped_signed(value));
    Histogram {
        title: format!("Sums of {} against its rails", sums.level),
        label: "sum",
        low: sums.bins.low as f64 - sums.bins.width as f64,
        step: sums.bins.width as f64,
        open: true,
        series: vec!["final sums", "least prefixes", "greatest prefixes"],
        counts: SumKind::ALL.map(|kind| sums.total(kind)).into(),
        fences: vec![rail(sums.range.0), rail(sums.range.1)],
        ..Histogram::default()
    }
}

fn grouped_signed(value: i128) -> String {
    let sign = if value < 0 { "-" } else { "" };
    u64::try_from(value.unsigned_abs())
        .map_or_else(|_| value.to_string(), |size| sign.to_owned() + &grouped(size))
}

fn bits(one: &LevelHistogram) -> Histogram {
    let width = one.bits.bits();
    let parts = one.required_final.len().max(one.required_prefix.len()).max(width.unwrap_or(0) as usize + 2);
    let filled = |counts: &[u64]| (0..parts).map(|at| counts.get(at).copied().unwrap_or(0)).collect();
    Histogram {
        title: format!("Required bits of the sums of {}", one.level),
        label: "required bits",
        unit: "bits",
        low: -0.5,
        step: 1.0,
        series: vec!["final sums", "prefixes"],
        counts: vec![filled(&one.required_final), filled(&one.required_prefix)],
        fences: width.map(|bits| (f64::from(bits) + 0.5, format!("{bits} bits"))).into_iter().collect(),
        ..Histogram::default()
    }
}

/// Returns the events over the cycles, with the starts of tiles.
fn timeline(activity: &LayerActivity, design: Option<&LayerDesign>) -> Histogram {
    let tiles = design.map_or(0, |layer| layer.tiles);
    let starts: &[u64] = design.map_or(&[], |layer| &layer.tile_starts);
    let note = match tiles.div_ceil(MOST_STARTS) {
        _ if tiles < 2 => String::new(),
        1 => format!("Lines: starts of {tiles} tiles."),
        each => format!("Lines: starts of every {each} of {} tiles.", grouped(tiles)),
    };
    Histogram {
        title: "Events over the cycles".into(),
        label: "cycle",
        step: activity.cycles.max(1) as f64 / activity.timeline.len().max(1) as f64,
        series: vec!["events"],
        counts: vec![activity.timeline.clone()],
        fences: starts.iter().map(|&start| (start as f64, String::new())).collect(),
        note,
        ..Histogram::default()
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
