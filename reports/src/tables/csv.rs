//! Rows as text: CSV files, and the cells from which other tables are built.

use std::collections::HashMap;
use std::io::{self, Write};

use super::Row;
use crate::ReportError;
use crate::legal::legal_cell;

/// Cells of rows as text.
#[derive(Debug, Clone)]
pub struct Cells {
    columns: HashMap<&'static str, usize>,
    rows: Vec<::csv::StringRecord>,
}

/// Returns the CSV file of `rows`: a header, which is present even without rows, then one line per row.
///
/// A text that a spreadsheet would interpret as a formula (it begins with `=`, `+`, `-`, `@`, a tab or a
/// carriage return) is prefixed with `'`. Control characters, which a terminal would execute, are replaced
/// with U+FFFD.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn write_csv<R: Row>(rows: &[R]) -> Result<Vec<u8>, ReportError> {
    write_csv_and(rows, &[])
}

/// Writes the CSV file of rows that arrive piece by piece, so that they need not be in memory together:
/// see [`write_csv`].
///
/// # Errors
/// Errors of the pieces, and [`ReportError::Table`] if a row cannot be serialized or written.
pub fn write_csv_pieces<R: Row, E: From<ReportError>>(
    out: &mut impl Write,
    pieces: impl IntoIterator<Item = Result<Vec<R>, E>>,
) -> Result<(), E> {
    let failed = |source: io::Error| ReportError::Table { table: R::FILE, source: source.into() };
    let header = write_csv::<R>(&[])?;
    out.write_all(&header).map_err(failed)?;
    for piece in pieces {
        out.write_all(&write_csv(&piece?)?[header.len()..]).map_err(failed)?;
    }
    Ok(())
}

/// Returns the CSV file of `rows` with further columns after those of the table. Each further column holds
/// its name, then one cell per row.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub(crate) fn write_csv_and<R: Row>(rows: &[R], more: &[Vec<String>]) -> Result<Vec<u8>, ReportError> {
    let failed = |source| ReportError::Table { table: R::FILE, source };
    let plain = serialized(rows)?;
    let mut writer = ::csv::Writer::from_writer(Vec::with_capacity(plain.len()));
    let records = ::csv::ReaderBuilder::new().has_headers(false).from_reader(&plain[..]).into_records();
    for (line, record) in records.enumerate() {
        let more = more.iter().filter_map(|column| column.get(line)).map(String::as_str);
        for cell in record.map_err(failed)?.iter().chain(more) {
            let cell = legal_cell(cell);
            let quoted = is_formula(&cell).then(|| format!("'{cell}"));
            writer.write_field(quoted.as_deref().unwrap_or(&cell)).map_err(failed)?;
        }
        writer.write_record(None::<&[u8]>).map_err(failed)?;
    }
    writer.into_inner().map_err(|error| failed(error.into_error().into()))
}

/// Returns whether a spreadsheet would evaluate the cell as a formula; numbers are not formulas.
fn is_formula(cell: &str) -> bool {
    cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err()
}

/// Returns the rows as CSV without changes to their cells.
fn serialized<R: Row>(rows: &[R]) -> Result<Vec<u8>, ReportError> {
    let failed = |source| ReportError::Table { table: R::FILE, source };
    let mut writer = ::csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.write_record(R::COLUMNS.iter().map(|column| column.name)).map_err(failed)?;
    for row in rows {
        writer.serialize(row).map_err(failed)?;
    }
    writer.into_inner().map_err(|error| failed(error.into_error().into()))
}

impl Cells {
    /// Returns the cells of `rows`.
    ///
    /// # Errors
    /// [`ReportError::Table`] if a row cannot be serialized.
    pub fn new<R: Row>(rows: &[R]) -> Result<Self, ReportError> {
        let bytes = serialized(rows)?;
        let records = ::csv::Reader::from_reader(&bytes[..]).into_records();
        let rows = records.collect::<Result<_, _>>();
        Ok(Self {
            columns: R::COLUMNS.iter().enumerate().map(|(i, column)| (column.name, i)).collect(),
            rows: rows.map_err(|source| ReportError::Table { table: R::FILE, source })?,
        })
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the cell in a row and a column; empty if the table has no such column.
    pub fn get(&self, row: usize, column: &str) -> &str {
        self.columns.get(column).and_then(|&i| self.rows[row].get(i)).unwrap_or_default()
    }

    /// Returns the cells of several columns for every row.
    pub fn select(&self, columns: &[&str]) -> Vec<Vec<String>> {
        let cells = |row| columns.iter().map(|column| self.get(row, column).to_owned()).collect();
        (0..self.len()).map(cells).collect()
    }
}
