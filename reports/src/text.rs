//! Tables for terminals.

use guardbit_hwmodels::InferenceBound;

use crate::numbers::{figure, grouped, percentage};
use crate::parameters::parameter_keys;
use crate::tables::{
    Cells, LayerRow, PartRow, PointRow, ProofRow, Row, SensitivityRow, SizeLevelRow, SizeRow, SummaryRow,
};
use crate::{ExploreRecord, Fraction, PointRecord, ReportError, TileRecord};

/// Returns `rows` under `columns` as aligned text: columns of numbers to the right, others to the left.
///
/// Every line ends with a newline, and no line ends with blanks.
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

/// Columns of [`layers_text`].
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

/// Returns the most informative columns of `layers.csv` as text, with layers by their short names.
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

/// Returns the most informative columns of `parts.csv` as text.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn parts_text(rows: &[PartRow]) -> Result<String, ReportError> {
    let columns = ["index", "part", "pattern", "class", "weight_bits", "sqnr_db", "cosine", "float"];
    Ok(text_table(&columns, &Cells::new(rows)?.select(&columns)))
}

/// Returns the proved width of every level next to that of its register as text: columns of `proofs.csv`,
/// with layers by their short names.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn proofs_text(rows: &[ProofRow]) -> Result<String, ReportError> {
    let columns = ["index", "name", "level", "register_bits", "proved_bits", "safe"];
    Ok(text_table(&columns, &Cells::new(rows)?.select(&columns)))
}

/// Returns the tile of every layer as text, with layers by their short names.
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

/// Columns of `size_levels.csv` with the widths that a level needs, by every method.
const LEVEL_WIDTHS: [&str; 7] = [
    "bits_type",
    "bits_weights",
    "bits_range",
    "bits_data_final",
    "bits_data_prefix",
    "bits_budget",
    "bits_recommended",
];
/// Columns of `size.csv` for the layer as a whole, which are shown in the row of its last level.
const LAYER_SIZES: [&str; 8] =
    ["bits_a2q_type", "bits_a2q", "bits_a2q_plus", "adder_bits", "register_bits", "psum_bytes", "lut", "ff"];

/// Returns every level of every layer with the widths that it needs as text. Empty columns are left out, and
/// names of layers are shortened.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn size_text(layers: &[SizeRow], levels: &[SizeLevelRow]) -> Result<String, ReportError> {
    let (of_layers, of_levels) = (Cells::new(layers)?, Cells::new(levels)?);
    let mut columns: Vec<String> =
        ["index", "layer", "op", "terms", "channels", "level"].map(String::from).into();
    // Drop the common prefix of the many width columns, to keep the table narrow.
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

/// Returns the Pareto front of an exploration as text, the axes first. Empty columns are left out.
pub fn explore_text(record: &ExploreRecord) -> String {
    let front = record.front();
    let columns = front_columns(record);
    let keys =
        record.parameters.first().map_or(Vec::new(), |one| one.iter().map(|one| one.key.as_str()).collect());
    let row = |&row: &usize| {
        let values = record.parameters[row].iter().map(|one| one.value.clone());
        let cells = columns.iter().map(|(_, cell)| cell(&record.rows[row]));
        std::iter::once(row.to_string()).chain(values).chain(cells).collect()
    };
    let heads: Vec<&str> =
        std::iter::once("point").chain(keys).chain(columns.iter().map(|(name, _)| *name)).collect();
    text_table(&heads, &front.iter().map(row).collect::<Vec<_>>())
}

/// Column of the tables of designs for people: its name, and the function that returns a cell.
pub(crate) type FrontColumn = (&'static str, fn(&PointRow) -> String);

/// Returns the columns by which designs are compared: the objectives, then the quality. Columns without a
/// figure are left out.
pub(crate) fn front_columns(record: &ExploreRecord) -> Vec<FrontColumn> {
    let objectives: [(&str, FrontColumn); 4] = [
        ("cycles", ("cycles", |row| grouped(row.cycles))),
        ("latency", ("latency (us)", |row| figure(row.latency_us))),
        ("area", ("area", |row| row.area.map_or(String::new(), figure))),
        ("energy", ("energy (pJ)", |row| row.energy_pj.map_or(String::new(), figure))),
    ];
    let is_objective = |name: &str| record.objectives.iter().any(|objective| objective == name);
    let first = record.objectives.iter().filter_map(|name| objectives.iter().find(|(own, _)| own == name));
    let others = objectives.iter().filter(|(name, _)| !is_objective(name));
    let quality: [(&str, &[FrontColumn]); 3] = [
        ("accuracy", &[("accuracy", |row| shown(row.accuracy))]),
        ("top1_agreement", &[("agreement", |row| shown(row.top1_agreement))]),
        (
            "output_mismatch",
            &[
                ("mismatch", |row| shown(row.mismatch_share)),
                ("differing codes", |row| row.output_mismatch.map_or(String::new(), grouped)),
            ],
        ),
    ];
    let compared = quality.iter().filter(|(name, _)| *name == record.quality);
    let rest = quality.iter().filter(|(name, _)| *name != record.quality);
    let interval: FrontColumn = ("interval", |row| {
        let ends = row.interval_low.zip(row.interval_high);
        ends.map_or(String::new(), |(low, high)| format!("{} to {}", percentage(low), percentage(high)))
    });
    let within: FrontColumn = ("within", |row| match (row.recommended, row.within) {
        (true, _) => "recommended".to_owned(),
        (_, Some(true)) => "yes".to_owned(),
        (_, Some(false)) => "no".to_owned(),
        _ => String::new(),
    });
    let mut columns: Vec<FrontColumn> = first.map(|(_, column)| *column).collect();
    columns.extend(compared.flat_map(|(_, columns)| *columns));
    columns.push(interval);
    columns.push(within);
    columns.extend(others.map(|(_, column)| *column));
    columns.extend(rest.flat_map(|(_, columns)| *columns));
    columns.push(("host cycles", |row| grouped(row.host_cycles)));
    columns.push(("bound", |row| worth(&row.bound, row.bound_ratio)));
    // Elsewhere the accelerator's bound is that of the inference.
    columns.push(("accelerator bound", |row| match row.bound == InferenceBound::HOST {
        true => worth(&row.accelerator_bound, row.accelerator_bound_ratio),
        false => String::new(),
    }));
    columns.push(("utilization", |row| shown(row.utilization)));
    columns.push(("widths", |row| row.widths.clone()));
    columns.retain(|(_, cell)| record.rows.iter().any(|row| row.front && !cell(row).is_empty()));
    columns
}

fn shown(share: Option<Fraction>) -> String {
    share.map_or(String::new(), percentage)
}

/// Returns a bound with the change of cycles if the resource is twice as fast: `dram (-0.1 %)`.
pub fn worth(bound: &str, ratio: Option<f64>) -> String {
    ratio.map_or(bound.to_owned(), |ratio| format!("{bound} ({})", change(ratio)))
}

/// Returns a ratio as a change: `-12.3 %`.
fn change(ratio: f64) -> String {
    match ratio {
        1.0 => "=".to_owned(),
        ratio if (ratio - 1.0).abs() < 0.0005 => "< 0.1 %".to_owned(),
        ratio => format!("{:+.1} %", (ratio - 1.0) * 100.0),
    }
}

/// Returns, as text, how doubling one resource of the chosen design changes the figures; empty without a
/// design.
pub fn sensitivity_text(record: &ExploreRecord) -> String {
    let Some(point) = record.sensitivity.first().map(|row| row.point) else { return String::new() };
    doubled_text(&format!("design {point}"), &record.sensitivity, record.area_unit())
}

/// Returns, as text, how doubling one resource of `what` changes the figures.
pub fn doubled_text(what: &str, rows: &[SensitivityRow], area_unit: &str) -> String {
    let (heads, rows) = sensitivity_cells(rows, area_unit);
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    format!("{what} with a single key doubled:\n{}", text_table(&heads, &rows))
}

/// Returns headings and cells of the table of sensitivities: figures, each with its change.
pub(crate) fn sensitivity_cells(rows: &[SensitivityRow], area_unit: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let change = |ratio: Option<f64>| ratio.map_or(String::new(), change);
    let real = |value: Option<f64>| value.map_or(String::new(), figure);
    let first = rows.first();
    let (area, energy) =
        (first.is_some_and(|row| row.area.is_some()), first.is_some_and(|row| row.energy_pj.is_some()));
    let mut heads = ["doubled key", "of", "cycles", "", "latency (us)", ""].map(String::from).to_vec();
    let both = [(area, format!("area ({area_unit})")), (energy, "energy (pJ)".to_owned())];
    heads.extend(both.into_iter().filter(|(is, _)| *is).flat_map(|(_, head)| [head, String::new()]));
    let row = |row: &SensitivityRow| {
        let mut cells = vec![
            if row.doubled.is_empty() { "nothing".to_owned() } else { row.doubled.clone() },
            real(row.value),
            grouped(row.cycles),
            change(row.cycles_ratio),
            figure(row.latency_us),
            change(row.latency_ratio),
        ];
        if area {
            cells.extend([real(row.area), change(row.area_ratio)]);
        }
        if energy {
            cells.extend([real(row.energy_pj), change(row.energy_ratio)]);
        }
        cells
    };
    (heads, rows.iter().map(row).collect())
}

/// Columns of `summary.csv` that tables for terminals leave out.
const IN_FILES_ALONE: [&str; 15] = [
    // Long text.
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
    // Figures of the host, which do not depend on widths.
    "host_cycles",
    "overlapped_cycles",
    // Counts, which are shown as shares.
    "agreeing",
    "right_exact",
    "right",
];

/// Returns `summary.csv` as text, the axes first. Of several rows, columns that are equal or empty in all
/// rows are left out.
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

/// Returns whether the column may repeat an axis, in which case it is left out.
fn describes_axis(column: &str) -> bool {
    ["bits", "overflow", "mode", "samples", "model", "hw"].contains(&column)
}

fn is_number(cell: &str) -> bool {
    cell.is_empty() || cell == "auto" || cell.parse::<f64>().is_ok()
}
