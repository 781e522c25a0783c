//! Table of the floating-point layers of a run.

use super::fit::{Fitted, View};
use super::table::text_table;
use crate::numbers::{counted, decibels, human, percentage};
use crate::tables::{AlignedRow, Cells};
use crate::{Fraction, ReportError};

/// Number of layers that are listed.
const LISTED: usize = 10;

/// Columns of every row, and their headings.
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

/// Returns the floating-point layers of a run as text: those with the least SQNR first, or with `view.all` all in
/// order of execution. Empty if there are none.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn aligned_text(rows: &[AlignedRow], view: &View) -> Result<String, ReportError> {
    if rows.is_empty() {
        return Ok(String::new());
    }
    if view.all {
        let mut cells = Cells::new(rows)?.select(&COLUMNS.map(|(column, _)| column));
        for (cells, row) in cells.iter_mut().zip(rows) {
            let [activations, weights] = row.formats();
            cells[..3].clone_from_slice(&[row.name.clone(), activations, weights]);
        }
        return Ok(text_table(&COLUMNS.map(|(_, heading)| heading), &cells));
    }
    let mut rows: Vec<&AlignedRow> = rows.iter().collect();
    rows.sort_by(|a, b| a.sum_sqnr().total_cmp(&b.sum_sqnr()));
    let left = rows.len().saturating_sub(LISTED) as u64;
    let more = |_| (left > 0).then(|| counted(left, "more layer"));
    Ok(table(&rows).text(view, LISTED, "row", more))
}

fn table(rows: &[&AlignedRow]) -> Fitted {
    let cells = |cell: &dyn Fn(&AlignedRow) -> Option<String>| {
        rows.iter().map(|row| cell(row).unwrap_or_default()).collect::<Vec<_>>()
    };
    let share = |share: Option<Fraction>| share.map(percentage);
    Fitted::default()
        .column(0, "layer", cells(&|row| Some(row.name.clone())))
        .column(5, "activations", cells(&|row| Some(row.formats()[0].clone())))
        .column(6, "weights", cells(&|row| Some(row.formats()[1].clone())))
        .column(3, "products", cells(&|row| Some(human(row.products as u64))))
        .column(1, "bits", cells(&|row| Some(row.fraction_bits.to_string())))
        .column(1, "cut terms", cells(&|row| share(row.cut_share)))
        .column(2, "vanished", cells(&|row| share(row.vanished_share)))
        .column(2, "wrong sums", cells(&|row| share(row.wrong_share)))
        .column(0, "SQNR", cells(&|row| Some(decibels(row.sum_sqnr()))))
        .column(0, "required bits", cells(&|row| row.required_result.map(|bits| bits.to_string())))
}
