//! Cells as aligned columns of text.

/// Returns `rows` under `columns` as aligned text: columns of numbers to the right, others to the left.
///
/// Every line ends with a newline, and no line ends with blanks.
pub fn text_table<C: AsRef<str>>(columns: &[C], rows: &[Vec<String>]) -> String {
    aligned(columns, rows, |cell| cell.is_empty() || cell == "auto" || cell.parse::<f64>().is_ok())
}

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
