//! Tables that fit the window of a terminal.

use super::table::aligned;

/// Width and extent of tables for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Characters of a line.
    pub width: usize,
    /// Whether tables have every row and column with exact numbers, whatever the width.
    pub all: bool,
}

/// Width of columns of text that are shortened only if no column can be left out instead.
const COMFORTABLE: usize = 20;
/// Least width to which a column of text is shortened.
const LEAST: usize = 8;

/// Table whose columns have ranks: those of the highest rank are left out first, and those of rank 0 never.
#[derive(Default)]
pub(crate) struct Fitted {
    columns: Vec<Column>,
    /// Whether the command has no `--all`, which would show more columns.
    without_all: bool,
}

struct Column {
    head: String,
    rank: u8,
    cells: Vec<String>,
}

impl Column {
    fn width(&self) -> usize {
        self.cells.iter().chain([&self.head]).map(|cell| length(cell)).max().unwrap_or(0)
    }

    fn is_text(&self) -> bool {
        !self.cells.iter().all(|cell| is_figure(cell))
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Returns whether a cell is a number, alone or followed by a unit of one word.
fn is_figure(cell: &str) -> bool {
    let number =
        cell.split_once(' ').map_or(cell, |(number, unit)| if unit.contains(' ') { cell } else { number });
    cell.is_empty()
        || cell == "auto"
        || number.replace(',', "").trim_end_matches(['k', 'M', 'G', 'T']).parse::<f64>().is_ok()
}

impl Fitted {
    /// Adds a column. Columns without values are left out.
    pub fn column(mut self, rank: u8, head: &str, cells: impl IntoIterator<Item = String>) -> Self {
        let cells: Vec<String> = cells.into_iter().collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            self.columns.push(Column { head: head.to_owned(), rank, cells });
        }
        self
    }

    /// Returns the first `most` rows within the width, and below them the common values of `every` row and what is
    /// left out: `3 more layers and 2 more columns: --all`. `more` describes the rows that are left out.
    pub fn text(
        mut self,
        view: &View,
        most: usize,
        every: &str,
        more: impl Fn(usize) -> Option<String>,
    ) -> String {
        let rows = self.columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
        let common = if rows > 1 { self.take_common() } else { Vec::new() };
        self.columns.iter_mut().for_each(|column| column.cells.truncate(most));
        let dropped = self.fit(view.width);
        let heads: Vec<&str> = self.columns.iter().map(|column| column.head.as_str()).collect();
        let row = |row: usize| self.columns.iter().map(|column| column.cells[row].clone()).collect();
        let mut text = aligned(&heads, &(0..rows.min(most)).map(row).collect::<Vec<_>>(), is_figure);
        if !common.is_empty() {
            text += &format!("In every {every}: {}\n", common.join(", "));
        }
        let columns = (dropped > 0 && !self.without_all).then(|| crate::counted(dropped, "more column"));
        let left: Vec<String> = more(rows.min(most)).into_iter().chain(columns).collect();
        if !left.is_empty() {
            text += &format!("{}: --all\n", left.join(" and "));
        }
        text
    }

    /// Returns all rows with the columns that fit, and below them the common values of `every` row, for commands
    /// without `--all`.
    pub fn every_row(mut self, view: &View, every: &str) -> String {
        self.without_all = true;
        self.text(view, usize::MAX, every, |_| None)
    }

    /// Takes out the columns that have one value in all rows.
    fn take_common(&mut self) -> Vec<String> {
        let is_common =
            |column: &Column| column.rank > 0 && column.cells.iter().all(|cell| *cell == column.cells[0]);
        let (common, columns) = std::mem::take(&mut self.columns).into_iter().partition(is_common);
        self.columns = columns;
        common.into_iter().map(|column: Column| format!("{} {}", column.head, column.cells[0])).collect()
    }

    /// Leaves out columns and shortens texts until a line has at most `width` characters. Returns the number of
    /// columns that are left out.
    fn fit(&mut self, width: usize) -> u64 {
        let mut dropped = 0;
        loop {
            let over = self.over(width, COMFORTABLE);
            let last = self.columns.iter().map(|column| column.rank).max().filter(|&rank| over && rank > 0);
            let Some(rank) = last else { break };
            let at = self.columns.iter().rposition(|column| column.rank == rank);
            at.into_iter().for_each(|at| drop(self.columns.remove(at)));
            dropped += 1;
        }
        while self.over(width, usize::MAX) {
            let widest = self.columns.iter_mut().filter(|column| column.is_text() && column.width() > LEAST);
            let Some(widest) = widest.max_by_key(|column| column.width()) else { break };
            let most = widest.width() - 1;
            widest.cells.iter_mut().for_each(|cell| *cell = elided(cell, most));
            if widest.width() > most {
                widest.head = elided(&widest.head, most);
            }
        }
        dropped
    }

    /// Returns whether a line is too wide even if columns of text have at most `least` characters.
    fn over(&self, width: usize, least: usize) -> bool {
        let own = |column: &Column| {
            let width = column.width();
            if column.is_text() { width.min(least.max(length(&column.head))) } else { width }
        };
        let gaps = 2 * self.columns.len().saturating_sub(1);
        self.columns.iter().map(own).sum::<usize>() + gaps > width
    }
}

/// Returns a text of at most `most` characters, without its middle if it is longer.
pub(crate) fn elided(text: &str, most: usize) -> String {
    let length = length(text);
    if length <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(2);
    let (start, end) = (kept.div_ceil(2), kept / 2);
    let chars: Vec<char> = text.chars().collect();
    let [start, end] = [&chars[..start], &chars[length - end..]].map(|part| part.iter().collect::<String>());
    format!("{start}..{end}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_middle_of_long_names_is_left_out() {
        assert_eq!(elided("conv_1", 8), "conv_1");
        assert_eq!(elided("block_12_depthwise", 10), "bloc..wise");
        assert_eq!(elided("層層層層層層", 5), "層層..層");
    }

    proptest! {
        /// No line is wider than the window while some column can be left out or shortened, and what is left out is
        /// counted.
        #[test]
        fn lines_fit(
            width in 40usize..160,
            most in 1usize..8,
            names in prop::collection::vec("[a-z_0-9]{1,60}", 2..12),
            figures in prop::collection::vec(0u64..1_000_000_000_000, 12),
            ranks in prop::collection::vec(1u8..9, 0..14),
        ) {
            let rows = names.len();
            let mut table = Fitted::default().column(0, "layer", names.clone());
            for (at, &rank) in ranks.iter().enumerate() {
                let cell = |row: usize| (figures[row] / (at as u64 + 1)).to_string();
                table = table.column(rank, &format!("column {at}"), (0..rows).map(cell));
            }
            let view = View { width, all: false };
            let more = |shown: usize| (shown < rows).then(|| format!("{} more", rows - shown));
            let text = table.text(&view, most, "layer", more);
            let table: Vec<&str> = text.lines().take(1 + rows.min(most)).collect();
            for line in &table {
                prop_assert!(length(line) <= width, "{line}");
            }
            prop_assert_eq!(text.contains(" more"), rows > most || text.contains("more column"));
            let columns = table[0].matches("column").count();
            let common = text.lines().find_map(|line| line.strip_prefix("In every layer: "));
            let common = common.map_or(0, |line| line.matches("column").count());
            let last = text.lines().last().unwrap_or_default();
            let dropped = last.split(" more column").next().filter(|_| last.contains(" more column"));
            let dropped = dropped.and_then(|text| text.rsplit(' ').next());
            let dropped = dropped.map_or(0, |count| count.parse().unwrap());
            prop_assert_eq!(columns + common + dropped, ranks.len());
        }
    }
}
