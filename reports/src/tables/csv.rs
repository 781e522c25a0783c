//! Rows as text: CSV files and the cells that other tables are made of.

use std::collections::HashMap;

use super::Row;
use crate::ReportError;
use crate::legal::legal_cell;

/// Rows as cells of text.
#[derive(Debug, Clone)]
pub struct Cells {
    columns: HashMap<&'static str, usize>,
    rows: Vec<::csv::StringRecord>,
}

/// The CSV file of `rows`: a header, which is there even without rows, then one line per row.
///
/// A text that a spreadsheet would take for a formula (it begins with `=`, `+`, `-`, `@`, a tab or a carriage return) has
/// `'` before it. Control characters, which a terminal would obey, are U+FFFD.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn write_csv<R: Row>(rows: &[R]) -> Result<Vec<u8>, ReportError> {
    write_csv_and(rows, &[])
}

/// The same with more columns behind those of the table: name and cells, one per row.
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

/// Whether a spreadsheet would compute a cell that is no number.
fn is_formula(cell: &str) -> bool {
    cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err()
}

/// The cells as they are.
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
    /// The cells of `rows`.
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

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The cell of a row and a column; empty if the table has no such column.
    pub fn get(&self, row: usize, column: &str) -> &str {
        self.columns.get(column).and_then(|&i| self.rows[row].get(i)).unwrap_or_default()
    }

    /// Several columns of every row.
    pub fn select(&self, columns: &[&str]) -> Vec<Vec<String>> {
        let cells = |row| columns.iter().map(|column| self.get(row, column).to_owned()).collect();
        (0..self.len()).map(cells).collect()
    }
}
