//! Rows as text: CSV files and the cells that other tables are made of.

use std::collections::HashMap;

use super::Row;
use crate::ReportError;

/// Rows as cells of text, as they stand in the CSV file.
#[derive(Debug, Clone)]
pub struct Cells {
    columns: HashMap<&'static str, usize>,
    rows: Vec<::csv::StringRecord>,
}

/// The CSV file of `rows`: a header, which is there even without rows, then one line per row.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn write_csv<R: Row>(rows: &[R]) -> Result<Vec<u8>, ReportError> {
    let failed = |source| ReportError::Table { table: R::FILE, source };
    let mut writer = ::csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.write_record(R::COLUMNS).map_err(failed)?;
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
        let bytes = write_csv(rows)?;
        let records = ::csv::Reader::from_reader(&bytes[..]).into_records();
        let rows = records.collect::<Result<_, _>>();
        Ok(Self {
            columns: R::COLUMNS.iter().enumerate().map(|(i, name)| (*name, i)).collect(),
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
