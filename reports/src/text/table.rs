//! Cells as aligned columns of text.

/// Returns `rows` under `columns` as aligned text: columns of numbers to the right, others to the left.
///
/// Every line ends with a newline, and no line ends with blanks.
pub fn text_table<C: AsRef<str>>(columns: &[C], rows: &[Vec<String>]) -> String {
    aligned(columns, rows, |cell| cell.is_empty() || cell == "auto" || cell.parse::<f64>().is_ok())
}

/// Returns a table like [`text_table`] whose last column, a text, continues on further lines where it exceeds `width`
/// characters.
pub fn wrapped_table<C: AsRef<str>>(columns: &[C], rows: &[Vec<String>], width: usize) -> String {
    let Some(last) = columns.len().checked_sub(1) else { return String::new() };
    let widest = |i: usize| {
        let cells = rows.iter().map(|row| row[i].chars().count());
        cells.chain([columns[i].as_ref().chars().count()]).max().unwrap_or(0)
    };
    let others: usize = (0..last).map(|i| widest(i) + 2).sum();
    let room = width.saturating_sub(others).max(LEAST);
    let split = |row: &Vec<String>| {
        let mut lines: Vec<String> = Vec::new();
        for word in row[last].split(' ') {
            match lines.last_mut() {
                Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                    *line += &format!(" {word}")
                }
                _ => lines.push(word.to_owned()),
            }
        }
        let head = |at: usize| if at == 0 { row[..last].to_vec() } else { vec![String::new(); last] };
        lines.into_iter().enumerate().map(|(at, line)| [head(at), vec![line]].concat()).collect::<Vec<_>>()
    };
    text_table(columns, &rows.iter().flat_map(split).collect::<Vec<_>>())
}

/// Least characters of a line of a column that is continued.
const LEAST: usize = 30;

/// Returns a table whose columns are to the right if all of their cells are numbers.
pub(super) fn aligned<C: AsRef<str>>(
    columns: &[C],
    rows: &[Vec<String>],
    is_number: fn(&str) -> bool,
) -> String {
    let width = |text: &str| text.chars().count();
    let mut out = String::new();
    let widths: Vec<usize> = (0..columns.len())
        .map(|i| rows.iter().map(|row| width(&row[i])).chain([width(columns[i].as_ref())]).max().unwrap_or(0))
        .collect();
    let right: Vec<bool> = (0..columns.len())
        .map(|i| rows.iter().all(|row| is_number(&row[i])) && rows.iter().any(|row| !row[i].is_empty()))
        .collect();
    let header: Vec<String> = columns.iter().map(|column| column.as_ref().to_owned()).collect();
    for row in std::iter::once(&header).chain(rows) {
        let mut line = String::new();
        for (i, cell) in row.iter().enumerate() {
            let blanks = " ".repeat(widths[i] - width(cell));
            let gap = if i == 0 { "" } else { "  " };
            let (left, right) = if right[i] { (blanks.as_str(), "") } else { ("", blanks.as_str()) };
            line.extend([gap, left, cell, right]);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_continues_below() {
        let rows = [["a", "one two three four five six seven eight"], ["bb", "short"]];
        let rows = rows.map(|row| row.map(String::from).to_vec());
        let shown = "c   details\na   one two three four five six\n    seven eight\nbb  short\n";
        assert_eq!(wrapped_table(&["c", "details"], &rows, 34), shown);
        assert_eq!(wrapped_table(&["c", "details"], &rows, 100), text_table(&["c", "details"], &rows));
    }
}
