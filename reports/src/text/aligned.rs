//! Table of the layers of floating-point codes of a run.

use super::table::text_table;
use crate::ReportError;
use crate::tables::{AlignedRow, Cells};

/// Columns that are shown, and their headings.
const COLUMNS: [(&str, &str); 11] = [
    ("layer", "layer"),
    ("activations", "activations"),
    ("weights", "weights"),
    ("products", "products"),
    ("fraction_bits", "bits"),
    ("cut_share", "cut terms"),
    ("vanished_share", "vanished"),
    ("wrong_share", "wrong sums"),
    ("max_ulps", "max ulps"),
    ("sum_sqnr_db", "SQNR (dB)"),
    ("required_result", "required bits"),
];

/// Returns the layers of floating-point codes of a run as text; empty if there are none.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn aligned_text(rows: &[AlignedRow]) -> Result<String, ReportError> {
    if rows.is_empty() {
        return Ok(String::new());
    }
    let mut cells = Cells::new(rows)?.select(&COLUMNS.map(|(column, _)| column));
    for (cells, row) in cells.iter_mut().zip(rows) {
        cells[0] = row.name.clone();
    }
    Ok(text_table(&COLUMNS.map(|(_, heading)| heading), &cells))
}
