//! Tables of a page: plain HTML that the script sorts, filters and copies.

use std::fmt::Display;

use maud::{Markup, html};

use crate::layer_label;
use crate::numbers::{counted, figure, grouped, percentage};
use crate::{Decibel, Fraction};

/// Greatest number of rows of a table in a page. CSV files contain all rows.
const MOST_ROWS: usize = 2000;

/// Table of a page.
pub(super) struct Table {
    /// Name for screen readers and for the copied file.
    name: &'static str,
    columns: Vec<Column>,
    rows: Vec<Row>,
    /// What a row of the folded part is, in the singular, and what these rows have in common.
    quiet: [&'static str; 2],
}

/// Row of a table.
struct Row {
    cells: Vec<Cell>,
    is_quiet: bool,
}

/// Heading of a column.
pub(super) struct Column {
    name: String,
    is_text: bool,
    group: &'static str,
}

/// Cell of a table.
#[derive(Default)]
pub(super) struct Cell {
    text: String,
    /// Value with all its digits, unless the text has them.
    full: Option<String>,
    /// Layer or design that the row is about, with the name of its kind.
    subject: Option<(&'static str, usize)>,
}

impl Column {
    /// Returns a column of text.
    pub fn text(name: impl Into<String>) -> Self {
        Self { name: name.into(), is_text: true, group: "" }
    }

    /// Returns a column of numbers; the name ends with their unit.
    pub fn number(name: impl Into<String>) -> Self {
        Self { name: name.into(), is_text: false, group: "" }
    }

    /// Returns columns of numbers that are shown and hidden together.
    pub fn group<'a>(group: &'static str, names: &'a [&'a str]) -> impl Iterator<Item = Self> + 'a {
        names.iter().map(move |name| Self { group, ..Self::number(*name) })
    }

    /// Returns the column as a part of a group.
    pub fn of(self, group: &'static str) -> Self {
        Self { group, ..self }
    }
}

impl Cell {
    /// Returns a cell with the text of a value.
    pub fn text(value: impl Display) -> Self {
        Self { text: value.to_string(), ..Self::default() }
    }

    /// Returns a cell with a layer, which opens the layer's panel.
    pub fn layer(index: usize, name: &str) -> Self {
        Self { text: layer_label(index, name), full: None, subject: Some(("layer", index)) }
    }

    /// Returns a cell with the number of a design, which opens the design's panel.
    pub fn design(number: usize) -> Self {
        Self { subject: Some(("design", number)), ..Self::text(number) }
    }

    /// Returns a cell with a count in groups of three digits.
    pub fn count(value: u64) -> Self {
        Self::text(grouped(value))
    }

    /// Returns a cell with four significant digits.
    pub fn number(value: f64) -> Self {
        let (text, full) = (figure(value), value.to_string());
        let is_exact = text.replace(',', "") == full;
        Self { text, full: (!is_exact).then_some(full), subject: None }
    }

    /// Returns a cell with a percentage.
    pub fn share(value: Fraction) -> Self {
        Self { text: percentage(value), full: Some(value.to_string()), subject: None }
    }

    /// Returns a cell with a ratio in dB.
    pub fn decibel(value: Decibel) -> Self {
        match value.value() {
            finite if finite.is_finite() => Self::number(finite),
            _ => Self::text(value),
        }
    }

    /// Returns a cell, blank without a value.
    pub fn maybe<T>(value: Option<T>, cell: impl FnOnce(T) -> Self) -> Self {
        value.map_or_else(Self::default, cell)
    }
}

impl Table {
    /// Returns an empty table.
    pub fn new(name: &'static str, columns: impl IntoIterator<Item = Column>) -> Self {
        Self { name, columns: columns.into_iter().collect(), rows: Vec::new(), quiet: [""; 2] }
    }

    /// Adds rows.
    pub fn rows(mut self, rows: impl IntoIterator<Item = Vec<Cell>>) -> Self {
        self.rows.extend(rows.into_iter().map(|cells| Row { cells, is_quiet: false }));
        self
    }

    /// Adds rows, folding those that are quiet; `quiet` says what they are, e.g. `["level", "without events"]`.
    pub fn folded(
        mut self,
        quiet: [&'static str; 2],
        rows: impl IntoIterator<Item = (bool, Vec<Cell>)>,
    ) -> Self {
        self.quiet = quiet;
        self.rows.extend(rows.into_iter().map(|(is_quiet, cells)| Row { cells, is_quiet }));
        self
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the table; nothing without rows. Columns without any value are left out.
    pub fn markup(&self) -> Markup {
        let more = self.rows.len().saturating_sub(MOST_ROWS);
        let shown = &self.rows[..self.rows.len() - more];
        let (quiet, loud): (Vec<&Row>, Vec<&Row>) = shown.iter().partition(|row| row.is_quiet);
        let used: Vec<bool> = (0..self.columns.len())
            .map(|at| shown.iter().any(|row| row.cells.get(at).is_some_and(|cell| !cell.text.is_empty())))
            .collect();
        let [what, common] = self.quiet;
        html! {
            @if !shown.is_empty() {
                div.tables data-name=(self.name) {
                    @if !loud.is_empty() { (self.part(&loud, &used, self.name)) }
                    @if !quiet.is_empty() {
                        details open[loud.is_empty() && quiet.len() <= 8] {
                            summary { (counted(quiet.len() as u64, what)) " " (common) }
                            (self.part(&quiet, &used, &format!("{} {common}", self.name)))
                        }
                    }
                }
                @if more > 0 { p.note { (counted(more as u64, "more row")) ": the CSV files have them." } }
            }
        }
    }

    fn part(&self, rows: &[&Row], used: &[bool], name: &str) -> Markup {
        let columns = || self.columns.iter().enumerate().filter(|(at, _)| used[*at]);
        html! {
            div.table tabindex="0" role="region" aria-label=(name) {
                table {
                    thead { tr { @for (_, column) in columns() {
                        th scope="col" class=[column.is_text.then_some("text")]
                            data-group=[(!column.group.is_empty()).then_some(column.group)] { (column.name) }
                    } } }
                    tbody { @for row in rows { tr {
                        @for (at, column) in columns() {
                            @if let Some(cell) = row.cells.get(at) { (cell.markup(column, at == 0)) }
                        }
                    } } }
                }
            }
        }
    }
}

impl Cell {
    fn markup(&self, column: &Column, is_first: bool) -> Markup {
        let class = column.is_text.then_some("text");
        let layer = self.subject.filter(|(kind, _)| *kind == "layer").map(|(_, index)| index);
        let design = self.subject.filter(|(kind, _)| *kind == "design").map(|(_, index)| index);
        html! {
            @if is_first {
                th scope="row" class=[class] data-layer=[layer] data-design=[design] title=[&self.full] { (self.text) }
            } @else {
                td class=[class] data-layer=[layer] data-design=[design] title=[&self.full] { (self.text) }
            }
        }
    }
}

/// Returns a layer's name, which opens its panel.
pub(super) fn layer(index: usize, name: &str) -> Markup {
    html! { span data-layer=(index) { (layer_label(index, name)) } }
}
