//! Data of the panel of a layer, as the script reads it.

use serde::Serialize;

use super::super::speed::bound_in_words;
use crate::RunRecord;
use crate::numbers::{counted, figure, grouped, percentage};
use crate::records::PATHS;

/// Data of one panel.
#[derive(Serialize)]
pub(super) struct Panel<'a> {
    pub index: usize,
    pub name: &'a str,
    pub full: &'a str,
    pub op: &'a str,
    /// What the layer is, and what it comes to, in a sentence.
    pub about: String,
    /// Stages of the datapath, in the order of the data.
    pub stages: Vec<Stage<'a>>,
    /// Names and values.
    pub facts: Vec<(&'static str, String)>,
    pub plots: Vec<Histogram>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<Places>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<[String; 8]>,
}

/// Stage of the datapath.
#[derive(Serialize)]
pub(super) struct Stage<'a> {
    pub name: &'a str,
    pub text: String,
    /// Required and available bits of a level, if both are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits: Option<[u32; 2]>,
    /// Whether it overflows.
    pub events: bool,
}

/// Counts of equal parts of an axis.
#[derive(Serialize, Default)]
pub(super) struct Histogram {
    pub title: String,
    /// What the axis shows.
    pub label: &'static str,
    /// Unit of a part that is one value wide.
    pub unit: &'static str,
    /// Start of the axis, and length of a part.
    pub low: f64,
    pub step: f64,
    /// Whether the first and the last part hold everything below and above.
    pub open: bool,
    /// Names of the series, and their counts of every part.
    pub series: Vec<&'static str>,
    pub counts: Vec<Vec<u64>>,
    /// Marks across the axis: value and name.
    pub fences: Vec<(f64, String)>,
    pub note: String,
}

/// Events by processing element.
#[derive(Serialize)]
pub(super) struct Places {
    pub rows: usize,
    pub cols: usize,
    /// Rows and columns of elements that one cell sums.
    pub cell: [usize; 2],
    /// Filled cells: index, row by row, and events.
    pub filled: Vec<[u64; 2]>,
}

/// Returns names and values of the time and traffic of a layer.
pub(super) fn facts(run: &RunRecord, index: usize) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut add = |name, value: Option<String>| facts.extend(value.map(|value| (name, value)));
    let bound = run.bottlenecks.iter().find(|other| other.index == index);
    let row = run.layers.iter().rfind(|row| row.index == index);
    add("cycles", bound.map(|bound| grouped(bound.cycles)));
    add("time", bound.map(|bound| format!("{} \u{b5}s", figure(bound.cycles as f64 / run.design.clock_mhz))));
    add("bound by its", bound.map(|bound| bound_in_words(&bound.bound).to_owned()));
    add("cycles if that is doubled", bound.map(|bound| grouped(bound.doubled_cycles)));
    add("utilization", bound.and_then(|bound| bound.utilization).map(percentage));
    add("waiting for SRAM", row.and_then(|row| row.stall_sram_cycles).map(|cycles| counted(cycles, "cycle")));
    add("waiting for DRAM", row.and_then(|row| row.stall_dram_cycles).map(|cycles| counted(cycles, "cycle")));
    let tile = run.timing.tiles.iter().find(|tile| tile.index == index);
    add(
        "tiles",
        tile.map(|tile| {
            let order = tile.order.replace('_', " ");
            format!("{} of {} pixels x {} channels, {order}", tile.count, tile.pixels, tile.channels)
        }),
    );
    let moved = run.design.layers.iter().find(|layer| layer.index == index);
    for (path, bytes) in PATHS.iter().zip(moved.into_iter().flat_map(|layer| layer.moved_bytes)) {
        add(path, (bytes > 0).then(|| counted(bytes, "byte")));
    }
    facts
}
