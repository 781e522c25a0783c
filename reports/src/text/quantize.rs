//! Tables of a quantization: parts of the float network, and proved widths.

use super::fit::{Fitted, View};
use super::table::text_table;
use crate::ReportError;
use crate::numbers::{counted, decibels};
use crate::tables::{Cells, PartRow, ProofRow};

/// Number of parts, and of registers, that are listed.
const LISTED: usize = 10;

/// Returns the parts of the float network as text: those that stay in float, then those with the least SQNR, or with
/// `view.all` the most informative columns of `parts.csv` for all.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn parts_text(rows: &[PartRow], view: &View) -> Result<String, ReportError> {
    if view.all {
        let columns = ["index", "part", "pattern", "class", "weight_bits", "sqnr_db", "cosine", "float"];
        return Ok(text_table(&columns, &Cells::new(rows)?.select(&columns)));
    }
    let sqnr = |row: &PartRow| row.sqnr_db.map_or(f64::INFINITY, |sqnr| sqnr.value());
    let mut rows: Vec<&PartRow> = rows.iter().collect();
    rows.sort_by(|a, b| {
        (a.float.is_none(), sqnr(a)).partial_cmp(&(b.float.is_none(), sqnr(b))).expect("no NaN")
    });
    let cells = |cell: &dyn Fn(&PartRow) -> Option<String>| {
        rows.iter().map(|row| cell(row).unwrap_or_default()).collect::<Vec<_>>()
    };
    let table = Fitted::default()
        .column(0, "part", cells(&|row| Some(row.part.clone())))
        .column(3, "index", cells(&|row| Some(row.index.to_string())))
        .column(5, "pattern", cells(&|row| Some(row.pattern.clone())))
        .column(4, "class", cells(&|row| row.class.clone()))
        .column(2, "layer of a run", cells(&|row| layer_of_run(row)))
        .column(
            2,
            "weight bits",
            cells(&|row| row.weight_bits.filter(|_| row.weights.is_none()).map(|bits| bits.to_string())),
        )
        .column(2, "weights", cells(&|row| row.weights.clone()))
        .column(2, "activations", cells(&|row| row.activations.clone()))
        .column(0, "SQNR", cells(&|row| row.sqnr_db.map(|sqnr| decibels(sqnr.value()))))
        .column(6, "cosine", cells(&|row| row.cosine.map(|cosine| format!("{cosine:.6}"))))
        .column(1, "in float, because", cells(&|row| row.float.clone()));
    let more = |shown| (shown < rows.len()).then(|| counted((rows.len() - shown) as u64, "more part"));
    Ok(table.text(view, LISTED, "part", more))
}

/// Returns the name and index of the layer of a part, if a run lists it under another name.
fn layer_of_run(row: &PartRow) -> Option<String> {
    let layer = row.layer.as_ref().filter(|layer| **layer != row.part)?;
    Some(row.layer_index.map_or(layer.clone(), |index| format!("{layer} ({index})")))
}

/// Returns the proved width of every level next to that of its register as text: those that are not safe first, then
/// those with the least room, or with `view.all` all of `proofs.csv`. Empty without rows.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn proofs_text(rows: &[ProofRow], view: &View) -> Result<String, ReportError> {
    if rows.is_empty() {
        return Ok(String::new());
    }
    if view.all {
        let columns = ["index", "name", "level", "register_bits", "proved_bits", "safe"];
        return Ok(text_table(&columns, &Cells::new(rows)?.select(&columns)));
    }
    let room = |row: &ProofRow| {
        row.register_bits.map_or(i64::MAX, |bits| i64::from(bits) - i64::from(row.proved_bits))
    };
    let mut rows: Vec<&ProofRow> = rows.iter().collect();
    rows.sort_by_key(|row| (row.safe, room(row)));
    let cells = |cell: &dyn Fn(&ProofRow) -> String| rows.iter().map(|row| cell(row)).collect::<Vec<_>>();
    let table = Fitted::default()
        .column(0, "layer", cells(&|row| row.name.clone()))
        .column(2, "index", cells(&|row| row.index.to_string()))
        .column(1, "level", cells(&|row| row.level.clone()))
        .column(
            0,
            "register bits",
            cells(&|row| row.register_bits.map_or("auto".into(), |bits| bits.to_string())),
        )
        .column(0, "proved bits", cells(&|row| row.proved_bits.to_string()))
        .column(0, "safe", cells(&|row| if row.safe { "yes" } else { "no" }.into()));
    let more = |shown| (shown < rows.len()).then(|| counted((rows.len() - shown) as u64, "more level"));
    Ok(table.text(view, LISTED, "level", more))
}
