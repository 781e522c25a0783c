//! Tables for terminals.

use crate::output::parameter_keys;
use crate::tables::{Cells, LayerRow, PartRow, ProofRow, Row, SizeLevelRow, SizeRow, SummaryRow};
use crate::{ExploreRecord, PointRecord, ReportError, TileRecord};

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
    "exact_required_final",
    "exact_required_prefix",
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

/// The most telling columns of `parts.csv`.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn parts_text(rows: &[PartRow]) -> Result<String, ReportError> {
    let columns = ["index", "part", "pattern", "class", "weight_bits", "sqnr_db", "cosine", "float"];
    Ok(text_table(&columns, &Cells::new(rows)?.select(&columns)))
}

/// The proved width of every level beside that of its register: columns of `proofs.csv`, layers by their short names.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn proofs_text(rows: &[ProofRow]) -> Result<String, ReportError> {
    let columns = ["index", "name", "level", "register_bits", "proved_bits", "safe"];
    Ok(text_table(&columns, &Cells::new(rows)?.select(&columns)))
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

/// What a level needs, by every way of knowing: columns of `size_levels.csv`.
const LEVEL_WIDTHS: [&str; 7] = [
    "bits_type",
    "bits_weights",
    "bits_range",
    "bits_data_final",
    "bits_data_prefix",
    "bits_budget",
    "bits_recommended",
];
/// Of the layer as a whole, in its last level's row: columns of `size.csv`.
const LAYER_SIZES: [&str; 8] =
    ["bits_a2q_type", "bits_a2q", "bits_a2q_plus", "adder_bits", "register_bits", "psum_bytes", "lut", "ff"];

/// Every level of every layer with the widths that it needs, less empty columns, names of layers shortened.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn size_text(layers: &[SizeRow], levels: &[SizeLevelRow]) -> Result<String, ReportError> {
    let (of_layers, of_levels) = (Cells::new(layers)?, Cells::new(levels)?);
    let mut columns: Vec<String> =
        ["index", "layer", "op", "terms", "channels", "level"].map(String::from).into();
    // The columns of widths are many: their common beginning says nothing here.
    let short = |name: &&str| name.strip_prefix("bits_").unwrap_or(name).to_owned();
    columns.extend(LEVEL_WIDTHS.iter().chain(&LAYER_SIZES).map(short));
    let row = |(at, level): (usize, &SizeLevelRow)| {
        let own = layers.iter().position(|row| row.index == level.index);
        let is_last = levels.get(at + 1).is_none_or(|next| next.index != level.index);
        let layer = |name: &str| own.map_or(String::new(), |own| of_layers.get(own, name).to_owned());
        let mut cells = vec![level.index.to_string(), level.name.clone()];
        cells.extend(["op", "terms", "channels"].map(layer));
        cells.push(level.level.clone());
        cells.extend(LEVEL_WIDTHS.iter().map(|name| of_levels.get(at, name).to_owned()));
        cells.extend(LAYER_SIZES.iter().map(|name| if is_last { layer(name) } else { String::new() }));
        cells
    };
    let mut rows: Vec<Vec<String>> = levels.iter().enumerate().map(row).collect();
    let filled: Vec<bool> = (0..columns.len()).map(|i| rows.iter().any(|row| !row[i].is_empty())).collect();
    let keep = |cells: &mut Vec<String>| {
        let mut filled = filled.iter();
        cells.retain(|_| *filled.next().unwrap_or(&true));
    };
    keep(&mut columns);
    rows.iter_mut().for_each(keep);
    Ok(text_table(&columns, &rows))
}

/// The front of an exploration, less the columns that are empty; the axes come first.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn explore_text(record: &ExploreRecord) -> Result<String, ReportError> {
    const COLUMNS: [&str; 13] = [
        "widths",
        "accuracy",
        "top1_agreement",
        "interval_low",
        "interval_high",
        "output_mismatch",
        "cycles",
        "host_cycles",
        "latency_us",
        "area",
        "energy_pj",
        "within",
        "recommended",
    ];
    let front = record.front();
    let all = Cells::new(&record.rows)?;
    let filled = |column: &&str| front.iter().any(|&row| !all.get(row, column).is_empty());
    let columns: Vec<&str> = COLUMNS.into_iter().filter(filled).collect();
    let keys =
        record.parameters.first().map_or(Vec::new(), |one| one.iter().map(|one| one.key.as_str()).collect());
    let row = |&row: &usize| {
        let values = record.parameters[row].iter().map(|one| one.value.clone());
        let cells = columns.iter().map(|column| all.get(row, column).to_owned());
        std::iter::once(row.to_string()).chain(values).chain(cells).collect()
    };
    let heads: Vec<&str> = std::iter::once("point").chain(keys).chain(columns.iter().copied()).collect();
    Ok(text_table(&heads, &front.iter().map(row).collect::<Vec<_>>()))
}
/// Columns of `summary.csv` that tables for terminals leave out.
const IN_FILES_ALONE: [&str; 13] = [
    // A sentence.
    "trapped",
    "accuracy_exact_low",
    "accuracy_exact_high",
    "agreement_low",
    "agreement_high",
    "lost",
    "gained",
    "mcnemar_test",
    "task",
    "output_mse",
    // As shares.
    "agreeing",
    "right_exact",
    "right",
];

/// `summary.csv`, less the columns that are the same, or empty, in every row of several; the axes come first.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn summary_text(points: &[PointRecord]) -> Result<String, ReportError> {
    let rows: Vec<SummaryRow> = points.iter().map(|point| point.summary.clone()).collect();
    let all = Cells::new(&rows)?;
    let telling = |column: &&str| {
        let values = || (0..all.len()).map(|row| all.get(row, column));
        let describes = ["level", "mode", "samples", "model", "hw"].contains(column);
        let same = values().all(|value| value == all.get(0, column));
        let is_axis = (0..points.first().map_or(0, |point| point.parameters.len())).any(|axis| {
            let axis = points.iter().map(|point| point.parameters[axis].value.as_str());
            describes_axis(column) && values().eq(axis)
        });
        !(values().all(str::is_empty) || describes && same || is_axis || IN_FILES_ALONE.contains(column))
    };
    let columns: Vec<&str> = SummaryRow::COLUMNS.iter().map(|column| column.name).filter(telling).collect();
    let axes = parameter_keys(points);
    let values = points.iter().map(|point| point.parameters.iter().map(|one| one.value.clone()));
    let rows = values.zip(all.select(&columns)).map(|(values, cells)| values.chain(cells).collect());
    Ok(text_table(&[axes, columns].concat(), &rows.collect::<Vec<_>>()))
}

/// Whether an axis may have the same values as a column, which then says nothing.
fn describes_axis(column: &str) -> bool {
    ["bits", "overflow", "mode", "samples", "model", "hw"].contains(&column)
}

fn is_number(cell: &str) -> bool {
    cell.is_empty() || cell == "auto" || cell.parse::<f64>().is_ok()
}
