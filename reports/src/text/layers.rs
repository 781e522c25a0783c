//! Table of the layers of a run.

use std::cmp::Ordering;

use super::fit::{Fitted, View};
use super::table::text_table;
use crate::numbers::{counted, decibels, human, percentage};
use crate::tables::{Cells, LayerRow};
use crate::{Fraction, ReportError};

/// Number of layers that are listed.
const LISTED: usize = 10;

/// Columns of every row.
const LAYER_COLUMNS: [&str; 15] = [
    "index",
    "layer",
    "op",
    "level",
    "bits",
    "overflow",
    "dots",
    "events",
    "persistent",
    "transient",
    "wrong",
    "output_mismatch",
    "sqnr_db",
    "exact_required_final",
    "exact_required_prefix",
];

/// Returns the layers of a run as text: the worst ones, or with `view.all` the most informative columns of
/// `layers.csv` for all.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn layers_text(rows: &[LayerRow], view: &View) -> Result<String, ReportError> {
    if view.all && !rows.is_empty() { every_row(rows) } else { Ok(worst(rows, view)) }
}

fn every_row(rows: &[LayerRow]) -> Result<String, ReportError> {
    let mut cells = Cells::new(rows)?.select(&LAYER_COLUMNS);
    for (cells, row) in cells.iter_mut().zip(rows) {
        cells[1] = row.name.clone();
    }
    Ok(text_table(&LAYER_COLUMNS, &cells))
}

/// Layer of a run: its levels, innermost first.
type Levels<'a> = Vec<&'a LayerRow>;

/// Returns the layers that overflow, worst first, and the number of others; if events were not counted, the layers
/// with the least room.
fn worst(rows: &[LayerRow], view: &View) -> String {
    let mut layers: Vec<Levels<'_>> = Vec::new();
    for row in rows {
        match layers.last_mut().filter(|levels| levels[0].index == row.index) {
            Some(levels) => levels.push(row),
            None => layers.push(vec![row]),
        }
    }
    let is_calm = |levels: &Levels<'_>| levels.iter().all(|row| row.events == Some(0));
    let (calm, mut layers): (Vec<Levels<'_>>, Vec<Levels<'_>>) = layers.into_iter().partition(is_calm);
    let badness = |levels: &Levels<'_>| {
        let of_row = |row: &&LayerRow| {
            row.touched_share().map(Fraction::value).or_else(|| row.room().map(|bits| -f64::from(bits)))
        };
        levels.iter().filter_map(of_row).fold(f64::NEG_INFINITY, f64::max)
    };
    layers.sort_by(|a, b| badness(b).partial_cmp(&badness(a)).unwrap_or(Ordering::Equal));
    let mut text = String::new();
    if !layers.is_empty() {
        let most = layers.iter().take(LISTED).map(Vec::len).sum();
        let left = layers.len().saturating_sub(LISTED) as u64;
        let more = |_| (left > 0).then(|| counted(left, "more layer"));
        text = table(&layers.concat()).text(view, most, "row", more);
    }
    if !calm.is_empty() {
        let rows = || calm.iter().flatten();
        let room = |row: &LayerRow| Some(row.bits.bits()? as i32 - row.required_prefix? as i32);
        let tight = rows().filter_map(|row| Some((room(row)?, *row))).min_by_key(|(room, _)| *room);
        let tight = tight.map_or(String::new(), |(_, row)| {
            let required = row.required_prefix.unwrap_or_default();
            format!("; {} has the least room: {required} of {} bits required", row.name, row.bits)
        });
        text += &format!("{} without overflow{tight}\n", counted(calm.len() as u64, "layer"));
    }
    text
}

fn table(rows: &[&LayerRow]) -> Fitted {
    let cells = |cell: &dyn Fn(&LayerRow) -> Option<String>| {
        rows.iter().map(|row| cell(row).unwrap_or_default()).collect::<Vec<_>>()
    };
    let count = |count: Option<u64>| count.map(human);
    Fitted::default()
        .column(0, "layer", cells(&|row| Some(row.name.clone())))
        .column(7, "index", cells(&|row| Some(row.index.to_string())))
        .column(9, "op", cells(&|row| Some(row.op.clone())))
        .column(2, "level", cells(&|row| Some(row.level.clone())))
        .column(1, "bits", cells(&|row| Some(row.bits.to_string())))
        .column(3, "overflow", cells(&|row| row.overflow.clone()))
        .column(8, "dots", cells(&|row| count(Some(row.dots))))
        .column(0, "events", cells(&|row| count(row.events)))
        .column(1, "touched", cells(&|row| row.touched_share().map(percentage)))
        .column(6, "persistent", cells(&|row| count(row.persistent)))
        .column(6, "transient", cells(&|row| count(row.transient)))
        .column(1, "wrong", cells(&|row| count(row.wrong)))
        .column(4, "codes differ", cells(&|row| count(row.output_mismatch)))
        .column(5, "SQNR", cells(&|row| row.sqnr_db.map(|sqnr| decibels(sqnr.value()))))
        .column(0, "bits required", cells(&|row| row.needed().map(|bits| bits.to_string())))
}
