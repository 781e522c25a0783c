//! Heat map of the accuracy over the axes of a sweep.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::NO_POINTS;
use super::dimensions::{Dimension, NOTHING_CLASSIFIED, NOTHING_VARIED, Shown, dimensions};
use crate::numbers::{counted, percentage};
use crate::plots::kit::{Content, DrawError, Extremes, HeatCell, HeatRow, HeatTable, Ramp, Sheet, figure};
use crate::plots::{Drawing, Plot};
use crate::{Fraction, PointRecord};

pub(super) const PLOT: Plot<[PointRecord]> = Plot {
    name: "axes",
    title: "Accuracy over the axes",
    caption: "Share of samples whose top-1 class is the label, or without labels that of the exact network, at every point. \
              The values of one axis are the columns, those of the others the rows.",
    draw,
};

fn draw(points: &[PointRecord], sheet: Sheet) -> Result<Drawing, DrawError> {
    let Some(first) = points.first() else { return Ok(Drawing::Nothing(NO_POINTS.into())) };
    if first.parameters.is_empty() {
        return Ok(Drawing::Nothing(NOTHING_VARIED.into()));
    }
    let Some(shown) = Shown::of(points) else { return Ok(Drawing::Nothing(NOTHING_CLASSIFIED.into())) };
    let (content, named) = table(points, shown);
    Ok(Drawing::Figure(figure(
        sheet,
        &format!("{}{named}", counted(points.len() as u64, "point")),
        &content,
    )?))
}

/// Values that identify a row, and its cells: name of the column, and share.
type Labelled<'a> = (Vec<&'a str>, Vec<(&'a str, Fraction)>);

/// Returns a table with one cell per point, and a sentence on its columns and rows. The columns are a
/// dimension with short values. Among those that leave the fewest cells blank, the dimension with the most
/// values is chosen; axes that vary together would leave most cells blank.
fn table(points: &[PointRecord], shown: Shown) -> (Vec<Content<'static>>, String) {
    let all = dimensions(points);
    let is_narrow = |dimension: &Dimension<'_>| {
        let values = dimension.values();
        values.len() <= COLUMNS && values.iter().all(|value| value.chars().count() <= 8)
    };
    let blanks = |at: &usize| {
        let rows: HashSet<Vec<&str>> = (0..points.len()).map(|index| row_of(&all, *at, index)).collect();
        (rows.len() * all[*at].values().len()).saturating_sub(points.len())
    };
    let narrow = (0..all.len()).filter(|&at| is_narrow(&all[at]));
    let across = narrow.max_by_key(|at| (Reverse(blanks(at)), all[*at].values().len()));
    let mut columns = across.map_or(vec![""], |at| all[at].values());
    // Sort numbers by value.
    if across.is_some_and(|at| all[at].numbers().is_some()) {
        columns.sort_by(|a, b| a.parse().unwrap_or(0.0f64).total_cmp(&b.parse().unwrap_or(0.0)));
    }
    let others = || (0..all.len()).filter(|&at| Some(at) != across);
    let mut rows: Vec<Labelled<'_>> = Vec::new();
    let mut known = HashMap::new();
    for (index, point) in points.iter().enumerate() {
        let label = row_of(&all, across.unwrap_or(all.len()), index);
        let column = across.map_or("", |at| all[at].of[index].as_str());
        let cell = shown.share(point).map(|share| (column, share));
        let at = *known.entry(label).or_insert_with_key(|label| {
            rows.push((label.clone(), Vec::new()));
            rows.len() - 1
        });
        rows[at].1.extend(cell);
    }
    let row = |(label, cells): Labelled<'_>| {
        let cell = |column: &&str| {
            let (_, share) = cells.iter().find(|(name, _)| name == column)?;
            let (fill, ink) = (Ramp::BLUE.color(share.value()), Ramp::BLUE.ink(share.value()));
            Some(HeatCell { fill, ink, text: percentage(*share) })
        };
        let cells = columns.iter().map(cell).collect();
        HeatRow { label: cut(&label.join(" · ")), cells, note: String::new(), fence: None }
    };
    let badness = |(_, cells): &Labelled<'_>| {
        -cells.iter().map(|(_, share)| share.value()).sum::<f64>() / cells.len().max(1) as f64
    };
    let rows = Extremes::of(rows, ROWS, badness);
    let note = rows.note("rows", &format!("{}, over their columns", shown.name()));
    let rows = rows.shown.into_iter().map(row).collect();
    let keys = others().map(|at| all[at].short_name()).collect::<Vec<_>>().join(" · ");
    let by = across.map_or(String::new(), |at| format!(" · columns: {}", all[at].short_name()));
    let rows_by = if keys.is_empty() { keys } else { format!(" · rows: {keys}") };
    let columns = columns.into_iter().map(String::from).collect();
    let title = shown.name().to_owned();
    let table = HeatTable { columns, title, note_title: String::new(), rows }.content();
    (std::iter::once(table).chain(note).collect(), by + &rows_by)
}

/// Greatest number of rows.
const ROWS: usize = 60;
/// Greatest number of columns; the names of more would not fit.
const COLUMNS: usize = 24;

/// Shortens a label to the room next to the cells.
fn cut(label: &str) -> String {
    const ROOM: usize = 30;
    let count = label.chars().count();
    if count <= ROOM { label.into() } else { label.chars().take(ROOM - 1).chain(['…']).collect() }
}

/// Returns a point's values of all dimensions except `across`.
fn row_of<'a>(all: &'a [Dimension<'_>], across: usize, index: usize) -> Vec<&'a str> {
    (0..all.len()).filter(|&at| at != across).map(|at| all[at].of[index].as_str()).collect()
}
