//! Tables for terminals.

use crate::tables::{Cells, LayerRow, Row, SizeRow, SummaryRow};
use crate::{ReportError, TileRecord};

/// `rows` under `columns`, aligned: columns of numbers to the right, others to the left.
///
/// Every line ends with a newline and none with blanks.
pub fn text_table<C: AsRef<str>>(columns: &[C], rows: &[Vec<String>]) -> String {
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

/// The columns of [`layers_text`].
const LAYER_COLUMNS: [&str; 15] = [
    "index",
    "layer",
    "op",
    "level",
    "bits",
    "overflow",
    "dots",
    "events",
    "persistent",
    "transient",
    "wrong",
    "output_mismatch",
    "sqnr_db",
    "required_final",
    "required_prefix",
];

/// The most telling columns of `layers.csv`, layers by their short names.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn layers_text(rows: &[LayerRow]) -> Result<String, ReportError> {
    let mut cells = Cells::new(rows)?.select(&LAYER_COLUMNS);
    for (cells, row) in cells.iter_mut().zip(rows) {
        cells[1] = row.name.clone();
    }
    Ok(text_table(&LAYER_COLUMNS, &cells))
}

/// What the SRAMs hold at a time, layer after layer, layers by their short names.
pub fn tiles_text(tiles: &[TileRecord]) -> String {
    let columns = [
        "index",
        "layer",
        "tiles",
        "pixels",
        "channels",
        "terms",
        "order",
        "activations",
        "weights",
        "sums",
        "fits",
    ];
    let row = |tile: &TileRecord| {
        vec![
            tile.index.to_string(),
            tile.name.clone(),
            tile.count.to_string(),
            tile.pixels.to_string(),
            tile.channels.to_string(),
            tile.terms.to_string(),
            tile.order.clone(),
            tile.activation_bytes.to_string(),
            tile.weight_bytes.to_string(),
            tile.sum_bytes.to_string(),
            if tile.fits { "yes" } else { "no" }.to_owned(),
        ]
    };
    text_table(&columns, &tiles.iter().map(row).collect::<Vec<_>>())
}

/// `size.csv`, less its empty columns, layers by their short names.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn size_text(rows: &[SizeRow]) -> Result<String, ReportError> {
    let all = Cells::new(rows)?;
    let filled =
        |column: &&str| *column != "name" && (0..all.len()).any(|row| !all.get(row, column).is_empty());
    let columns: Vec<&str> = SizeRow::COLUMNS.iter().copied().filter(filled).collect();
    let mut cells = all.select(&columns);
    if let Some(layer) = columns.iter().position(|column| *column == "layer") {
        cells.iter_mut().zip(rows).for_each(|(cells, row)| cells[layer] = row.name.clone());
    }
    // The columns of widths are many: their common beginning says nothing here.
    let names: Vec<&str> = columns.iter().map(|name| name.strip_prefix("bits_").unwrap_or(name)).collect();
    Ok(text_table(&names, &cells))
}

/// `summary.csv`, less the columns that are the same, or empty, in every row of several.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn summary_text(rows: &[SummaryRow]) -> Result<String, ReportError> {
    let all = Cells::new(rows)?;
    let telling = |column: &&str| {
        let values = || (0..all.len()).map(|row| all.get(row, column));
        let describes = ["level", "mode", "samples", "model", "hw"].contains(column);
        let same = values().all(|value| value == all.get(0, column));
        !(values().all(str::is_empty) || describes && same)
    };
    let columns: Vec<&str> = SummaryRow::COLUMNS.iter().copied().filter(telling).collect();
    Ok(text_table(&columns, &all.select(&columns)))
}

fn is_number(cell: &str) -> bool {
    cell.is_empty() || cell == "auto" || cell.parse::<f64>().is_ok()
}
