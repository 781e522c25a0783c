//! Cells as aligned columns of text.

/// Returns `rows` under `columns` as aligned text: columns of numbers to the right, others to the left.
///
/// Every line ends with a newline, and no line ends with blanks.
pub fn text_table<C: AsRef<str>>(columns: &[C], rows: &[Vec<String>]) -> String {
    aligned(columns, rows, |cell| cell.is_empty() || cell == "auto" || cell.parse::<f64>().is_ok())
}

/// Returns a table like [`text_table`] whose last column, a text, continues on further lines where it exceeds `width`
/// characters. Where the least width of this column is still too wide, so does the widest of the others.
pub fn wrapped_table<C: AsRef<str>>(columns: &[C], rows: &[Vec<String>], width: usize) -> String {
    let Some(last) = columns.len().checked_sub(1) else { return String::new() };
    let widest = |i: usize| {
        let cells = rows.iter().map(|row| row[i].chars().count());
        cells.chain([columns[i].as_ref().chars().count()]).max().unwrap_or(0)
    };
    let mut rooms: Vec<usize> = (0..=last).map(widest).collect();
    let widest_other = (0..last).max_by_key(|&i| rooms[i]);
    for column in [Some(last), widest_other].into_iter().flatten() {
        let over = (rooms.iter().sum::<usize>() + 2 * last).saturating_sub(width);
        rooms[column] = rooms[column].saturating_sub(over).max(LEAST.min(rooms[column]));
    }
    let split = |row: &Vec<String>| {
        let cells: Vec<Vec<String>> = row.iter().zip(&rooms).map(|(cell, &room)| lines(cell, room)).collect();
        let line = |at: usize| cells.iter().map(|lines| lines.get(at).cloned().unwrap_or_default()).collect();
        (0..cells.iter().map(Vec::len).max().unwrap_or(0)).map(line).collect::<Vec<Vec<String>>>()
    };
    text_table(columns, &rows.iter().flat_map(split).collect::<Vec<_>>())
}

/// Splits a text at blanks into lines of up to `room` characters. A longer word has its own line.
fn lines(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                *line += &format!(" {word}")
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
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
        let wide =
            vec![vec!["a b".into(), "1".into(), "one two three four five six seven eight nine".into()]; 2];
        for row in wrapped_table(&["c", "n", "details"], &wide, 20).lines() {
            assert!(row.chars().count() <= 6 + LEAST, "{row}");
        }
        let two = vec![vec![
            "the first of two long texts in one row of a table".into(),
            "the other text, which is as long".into(),
        ]];
        for row in wrapped_table(&["c", "details"], &two, 62).lines() {
            assert!(row.chars().count() <= 62, "{row}");
        }
        assert_eq!(wrapped_table(&["c", "details"], &rows, 100), text_table(&["c", "details"], &rows));
    }
}
