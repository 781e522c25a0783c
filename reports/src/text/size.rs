//! Tables of a sizing.

use super::fit::{Fitted, View};
use super::table::text_table;
use crate::numbers::{counted, decibels, human, percentage};
use crate::tables::{Cells, SizeBitsRow, SizeLevelRow, SizeRateRow, SizeRow};
use crate::{Fraction, ReportError};

/// Number of layers, and of widths, that are listed.
const LISTED: usize = 10;
const RATES: usize = 12;

/// Ranks of columns in a table that fits; that of others is higher.
const RANKS: [(&str, u8); 12] = [
    ("layer", 0),
    ("recommended", 0),
    ("budget", 0),
    ("level", 1),
    ("range", 1),
    ("data_prefix", 1),
    ("data_final", 2),
    ("type", 3),
    ("weights", 4),
    ("a2q", 5),
    ("terms", 6),
    ("index", 7),
];

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

/// Returns every level of every layer with the widths that it needs as text, those that need most bits first, or
/// with `view.all` in the order of the network. Empty columns are left out, and names of layers are shortened.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn size_text(layers: &[SizeRow], levels: &[SizeLevelRow], view: &View) -> Result<String, ReportError> {
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
    if !view.all {
        return Ok(fitted(&columns, levels, &rows, view));
    }
    let filled: Vec<bool> = (0..columns.len()).map(|i| rows.iter().any(|row| !row[i].is_empty())).collect();
    let keep = |cells: &mut Vec<String>| {
        let mut filled = filled.iter();
        cells.retain(|_| *filled.next().unwrap_or(&true));
    };
    keep(&mut columns);
    rows.iter_mut().for_each(keep);
    Ok(text_table(&columns, &rows))
}

/// Returns the layers that need the most bits, with as many columns as fit.
fn fitted(columns: &[String], levels: &[SizeLevelRow], rows: &[Vec<String>], view: &View) -> String {
    let mut layers: Vec<usize> = levels.iter().map(|row| row.index).collect();
    layers.dedup();
    let need = |layer: &usize| {
        let own = levels.iter().filter(|row| row.index == *layer);
        own.map(|row| (row.bits_recommended.bits(), row.bits_data_prefix)).max()
    };
    layers.sort_by_key(|layer| std::cmp::Reverse(need(layer)));
    let of_layer = |layer: &usize| {
        levels
            .iter()
            .zip(rows)
            .filter(|(level, _)| level.index == *layer)
            .map(|(_, row)| row)
            .collect::<Vec<_>>()
    };
    let sorted: Vec<&Vec<String>> = layers.iter().flat_map(of_layer).collect();
    let mut table = Fitted::default();
    for (at, head) in columns.iter().enumerate() {
        let rank = RANKS.iter().find(|(name, _)| name == head).map_or(9, |(_, rank)| *rank);
        table = table.column(rank, head, sorted.iter().map(|row| row[at].clone()));
    }
    let most = layers.iter().take(LISTED).flat_map(of_layer).count();
    let left = layers.len().saturating_sub(LISTED) as u64;
    table.text(view, most, "row", |_| (left > 0).then(|| counted(left, "more layer")))
}

/// Returns the results of the network by the fraction bits of its floating-point layers, without columns that are empty.
/// Empty if there are no such layers.
pub fn fraction_bits_text(rows: &[SizeBitsRow], view: &View) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let share = |share: Option<Fraction>| share.map(percentage);
    let count = |count: Option<u64>| count.map(human);
    let mark = |row: &SizeBitsRow| match (row.recommended, row.within_budget) {
        (true, _) => Some("recommended".to_owned()),
        (false, Some(false)) => Some("exceeds the budget".to_owned()),
        _ => None,
    };
    let cells = |cell: &dyn Fn(&SizeBitsRow) -> Option<String>| {
        rows.iter().map(|row| cell(row).unwrap_or_default()).collect::<Vec<_>>()
    };
    let sqnr = |row: &SizeBitsRow| row.output_sqnr_db.map(|sqnr| decibels(sqnr.value()));
    Fitted::default()
        .column(0, "fraction bits", cells(&|row| Some(row.fraction_bits.to_string())))
        .column(0, "accuracy", cells(&|row| share(row.accuracy)))
        .column(2, "same class", cells(&|row| share(row.top1_agreement)))
        .column(3, "wrong outputs", cells(&|row| Some(human(row.output_mismatch))))
        .column(0, "output SQNR", cells(&sqnr))
        .column(1, "LUT", cells(&|row| count(row.lut)))
        .column(1, "FF", cells(&|row| count(row.ff)))
        .column(0, "", cells(&mark))
        .text(view, rows.len(), "row", |_| None)
}

/// Returns how many dot products of all layers do not fit each width: widths that lose some, or with `view.all`
/// every width.
pub fn rates_text(rates: &[SizeRateRow], view: &View) -> String {
    let loses = |row: &&SizeRateRow| {
        let shares = [row.rate_final, row.rate_prefix, row.rate_transient];
        shares.into_iter().flatten().any(|share| share.value() > 0.0)
    };
    let shown: Vec<&SizeRateRow> = rates.iter().filter(|row| view.all || loses(row)).collect();
    let percent = |share: Option<Fraction>| {
        share.map_or(String::new(), |share| format!("{:.2}", share.value() * 100.0))
    };
    let row = |row: &&SizeRateRow| {
        let shares = [row.rate_final, row.rate_prefix, row.rate_transient].map(percent);
        [vec![row.level.clone(), row.bits.to_string()], shares.into()].concat()
    };
    let columns = ["level", "bits", "out of range, final sums (%)", "prefixes (%)", "transient (%)"];
    let most = if view.all { shown.len() } else { RATES };
    // The widest lose least, which is where the choice is made.
    let skipped = shown.len().saturating_sub(most);
    let mut text = text_table(&columns, &shown[skipped..].iter().map(row).collect::<Vec<_>>());
    if skipped > 0 {
        text += &format!("{}: --all\n", counted(skipped as u64, "narrower width"));
    }
    text
}
