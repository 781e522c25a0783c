//! A comparison of finished results in a terminal.

use super::fit::{Fitted, View};
use super::table::text_table;
use crate::findings::{Measure, compare_answer, index, label, ranked, row_name, value};
use crate::numbers::counted;
use crate::{Compared, Comparison};

/// Number of rows that differ most, and of settings and overall figures, that are listed.
const ROWS: usize = 10;
const OVERALL: usize = 20;
/// Maximum number of rows missing in some folder that are listed.
const UNMATCHED: usize = 10;

/// Returns what differs in settings, in overall figures and in the rows that differ most, then what gets better or
/// worse. With `view.all`, every figure that differs has a line, with its exact value.
pub fn compare_text(compared: &Comparison, view: &View) -> String {
    let mut text = if view.all { every_figure(compared) } else { fitted(compared, view) };
    let equal = counted(compared.same as u64, "other figure");
    text += &format!("\n{equal} {} equal\n", if compared.same == 1 { "is" } else { "are" });
    let listed = if view.all { usize::MAX } else { UNMATCHED };
    for row in compared.unmatched.iter().take(listed) {
        text += &format!("not in all folders: {row}\n");
    }
    match compared.unmatched.len().saturating_sub(listed) {
        0 => {}
        more => text += &format!("and {more} more that are not in all folders: --all\n"),
    }
    text + "\n" + &compare_answer(compared) + "\n"
}

fn every_figure(compared: &Comparison) -> String {
    let table = |heads: &[&str], rows: Vec<Vec<String>>| {
        let names = compared.names.iter().map(String::as_str);
        let heads: Vec<&str> = heads.iter().copied().chain(names).collect();
        text_table(&heads, &rows)
    };
    let cells = |row: &Compared| [vec![row.name.clone()], row.values.clone()].concat();
    let settings = match compared.settings.as_slice() {
        [] => "All settings are equal.\n".to_owned(),
        settings => table(&["setting"], settings.iter().map(cells).collect()),
    };
    let mut parts = vec![settings];
    if !compared.totals.is_empty() {
        parts.push(table(&["figure"], compared.totals.iter().map(cells).collect()));
    }
    if !compared.rows.is_empty() {
        let rows = compared.rows.iter();
        let rows = rows.map(|row| [vec![row.row.clone(), row.column.clone()], row.values.clone()].concat());
        parts.push(table(&[row_name(compared), "figure"], rows.collect()));
    }
    parts.join("\n")
}

fn fitted(compared: &Comparison, view: &View) -> String {
    let settings = match compared.settings.as_slice() {
        [] => "All settings are equal.\n".to_owned(),
        settings => {
            let short = |row: &Compared| row.name.trim_start_matches("hw.resolved.").to_owned();
            let of = |folder: usize| settings.iter().map(move |row| row.values[folder].clone());
            side_by_side(compared, "setting", settings.iter().map(short), of).text(
                view,
                OVERALL,
                "folder",
                |shown| more(settings.len() - shown, "setting"),
            )
        }
    };
    let mut parts = vec![settings];
    let measured: Vec<_> =
        compared.totals.iter().filter_map(|row| Some((row, Measure::of(&row.name)?))).collect();
    if !measured.is_empty() {
        let names = measured.iter().map(|(row, measure)| match row.name.split_once(" (") {
            Some((_, model)) => format!("{}, {}", measure.words, model.trim_end_matches(')')),
            None => measure.words.to_owned(),
        });
        let of =
            |folder: usize| measured.iter().map(move |(row, measure)| written(measure, &row.values[folder]));
        let table = side_by_side(compared, "figure", names, of);
        let all = compared.totals.len();
        parts.push(table.text(view, OVERALL, "figure", |shown| more(all - shown, "figure")));
    }
    parts.extend(rows(compared, view));
    parts.join("\n")
}

/// Returns a table with one column per folder.
fn side_by_side<V: Iterator<Item = String>>(
    compared: &Comparison,
    head: &str,
    names: impl Iterator<Item = String>,
    of: impl Fn(usize) -> V,
) -> Fitted {
    let table = Fitted::default().column(0, head, names);
    compared.names.iter().enumerate().fold(table, |table, (folder, name)| table.column(0, name, of(folder)))
}

/// Returns the table of the rows that differ most: the figure that matters most first, then others while there is
/// room.
fn rows(compared: &Comparison, view: &View) -> Option<String> {
    let ranked = ranked(compared);
    let differ = |at: usize| {
        ranked.iter().any(|(_, point)| point.values[at].windows(2).any(|pair| pair[0] != pair[1]))
    };
    let mut measures: Vec<_> = (0..compared.columns.len())
        .filter(|&at| differ(at))
        .filter_map(|at| Some((at, Measure::of(&compared.columns[at])?)))
        .collect();
    measures.sort_by_key(|(_, measure)| measure.rank());
    let what = row_name(compared);
    let points = || ranked.iter().map(|(_, point)| *point);
    let indices =
        points().map(|point| index(compared, point).map_or(String::new(), |index| index.to_string()));
    let names = points().map(|point| label(compared, point).to_owned());
    let table = Fitted::default().column(0, "index", indices).column(0, what, names);
    let table = measures.iter().enumerate().fold(table, |table, (rank, &(at, measure))| {
        let cells = points().map(|point| {
            let values: Vec<String> = point.values[at].iter().map(|text| written(measure, text)).collect();
            values.join(" \u{2192} ")
        });
        table.column(rank.min(usize::from(u8::MAX)) as u8, &compared.columns[at], cells)
    });
    let text = || {
        let order = compared.names.join(" \u{2192} ");
        let table = table.text(view, ROWS, what, |shown| more(ranked.len() - shown, what));
        format!("Values of {order}:\n{table}")
    };
    (!ranked.is_empty()).then(text)
}

/// Returns a value as a person reads it; text stays as it is.
fn written(measure: &Measure, text: &str) -> String {
    value(text).map_or_else(|| text.to_owned(), |value| measure.text(value))
}

fn more(count: usize, what: &str) -> Option<String> {
    (count > 0).then(|| counted(count as u64, &format!("more {what}")))
}
