//! Data dictionary: the meaning of every column of every table.

use std::fmt::Write;

use guardbit_sim::{Needs, StatsLevel};

use super::arrays::{ARCHIVES, NpzFile, NpzKey};
use super::{
    AlignedBitsRow, AlignedRow, BottleneckRow, ChannelRow, ClassRow, Column, CostRow, EventRow, HeatMapRow,
    HistogramRow, HostRow, LayerRow, PARETO, PairRow, PartRow, PointRow, ProofRow, RequiredBitsRow, Row,
    SampleRow, SensitivityRow, SizeBitsRow, SizeChannelRow, SizeFloatRow, SizeGridRow, SizeLevelRow,
    SizeRateRow, SizeRow, SumRow, SummaryRow, SweepAlignedRow, SweepClassRow, SweepRequiredBitsRow, SweepRow,
    TensorRow, TimelineRow, TradeOffRow,
};

/// Table with its columns.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Command that writes the table.
    pub command: &'static str,
    /// Name of the file.
    pub file: &'static str,
    /// Subject of a row.
    pub about: &'static str,
    /// Columns of the table. The axes of a sweep or an exploration have further columns after these.
    pub columns: &'static [Column],
}

const fn table<R: Row>(command: &'static str) -> Table {
    Table { command, file: R::FILE, about: R::ABOUT, columns: R::COLUMNS }
}

/// All tables that guardbit writes.
pub const TABLES: &[Table] = &[
    table::<LayerRow>("run"),
    table::<ChannelRow>("run"),
    table::<EventRow>("run"),
    table::<SampleRow>("run"),
    table::<ClassRow>("run"),
    table::<BottleneckRow>("run"),
    table::<HostRow>("run"),
    table::<CostRow>("run"),
    table::<AlignedRow>("run"),
    table::<AlignedBitsRow>("run"),
    table::<SumRow>("run"),
    table::<RequiredBitsRow>("run"),
    table::<TimelineRow>("run"),
    table::<HeatMapRow>("run"),
    table::<SummaryRow>("sweep"),
    table::<SweepRow>("sweep"),
    table::<SweepAlignedRow>("sweep"),
    table::<SweepClassRow>("sweep"),
    table::<PairRow>("sweep"),
    table::<SweepRequiredBitsRow>("sweep"),
    table::<SizeRow>("size"),
    table::<SizeChannelRow>("size"),
    table::<SizeLevelRow>("size"),
    table::<SizeGridRow>("size"),
    table::<SizeRateRow>("size"),
    table::<SizeBitsRow>("size"),
    table::<SizeFloatRow>("size"),
    table::<PointRow>("explore"),
    Table {
        file: PARETO,
        about: "The designs of `points.csv` on the Pareto front, in the same columns.",
        ..table::<PointRow>("explore")
    },
    table::<SensitivityRow>("explore"),
    table::<PartRow>("quantize"),
    table::<TensorRow>("quantize"),
    table::<HistogramRow>("quantize"),
    table::<ProofRow>("quantize"),
    table::<TradeOffRow>("quantize"),
];

const INTRODUCTION: &str = "\
# Columns

This page lists every table that guardbit writes, column by column, in the order of its header. `sweep/points` and the JSON
files use the same names. [arithmetic.md](arithmetic.md) defines the terms. This page is generated:
`scripts/renew -p guardbit-reports` renews it.

\"May be blank\" lists when a cell is blank: with the `--stats` levels that do not count the column, or in the rows above the
last level's row of a layer, because the figure belongs to the layer as a whole. Otherwise a blank means that no value exists.
";

const ARRAYS: &str = "
## Arrays

This section lists every `.npz` archive that guardbit writes, for `numpy.load`. Codes have the narrowest dtype that holds them
(4-bit codes have 8 bits). Real value = scale * (code - zero point), with the figures that `guardbit inspect` prints. In the
key of a tensor, characters that are not valid in every file name appear as `%` and two hexadecimal digits.
";

/// Returns the data dictionary as Markdown.
pub fn columns_text() -> String {
    let mut text = INTRODUCTION.to_owned() + &contents();
    for &Table { command, file, about, columns } in TABLES {
        let heading = format!("\n## {file}\n\nWritten by `guardbit {command}`. {}\n\n", sentence(about));
        text.push_str(&heading);
        text.push_str("| column | values | unit | may be blank | meaning |\n|---|---|---|---|---|\n");
        for column in columns {
            let Column { name, kind, unit, meaning, .. } = column;
            let blank = blank(column);
            writeln!(text, "| `{name}` | {kind} | {unit} | {blank} | {} |", sentence(meaning))
                .expect("memory");
        }
    }
    text.push_str(ARRAYS);
    for archive in ARCHIVES {
        let NpzFile { command, file, about, keys } = archive;
        let heading = format!("\n### {file}\n\nWritten by `guardbit {command}`. {}\n\n", sentence(about));
        text.push_str(&heading);
        text.push_str("| key | dtype | shape | unit | present | meaning |\n|---|---|---|---|---|---|\n");
        for key in *keys {
            let NpzKey { name, dtype, shape, unit, when, meaning } = key;
            let when = if when.is_empty() { "always" } else { when };
            writeln!(text, "| `{name}` | {dtype} | {shape} | {unit} | {when} | {} |", sentence(meaning))
                .expect("memory");
        }
    }
    text
}

/// Returns links to the tables and archives of every command. Equal headings get anchors with a number.
fn contents() -> String {
    let tables = TABLES.iter().map(|table| (table.command, table.file));
    let archives = ARCHIVES.iter().map(|archive| (archive.command, archive.file));
    let mut seen: Vec<String> = Vec::new();
    let mut commands: Vec<(&str, Vec<String>)> = Vec::new();
    for (command, file) in tables.chain(archives) {
        let own: String = file
            .to_lowercase()
            .chars()
            .filter(|letter| letter.is_alphanumeric() || "_-".contains(*letter))
            .collect();
        let link = match seen.iter().filter(|other| **other == own).count() {
            0 => format!("[{file}](#{own})"),
            count => format!("[{file}](#{own}-{count})"),
        };
        seen.push(own);
        match commands.iter_mut().find(|(known, _)| *known == command) {
            Some((_, links)) => links.push(link),
            None => commands.push((command, vec![link])),
        }
    }
    let row = |(command, links): &(&str, Vec<String>)| format!("| `{command}` | {} |\n", links.join(", "));
    let rows: String = commands.iter().map(row).collect();
    format!("\n| command | tables and archives |\n|---|---|\n{rows}")
}

/// Returns documentation from the code as one line of a Markdown table.
fn sentence(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// Returns a sentence on when a cell of the column is blank.
fn blank(column: &Column) -> String {
    let levels = StatsLevel::ALL.into_iter().filter(|level| !level.meets(column.needs));
    let levels: Vec<String> = levels.map(|level| format!("`{}`", level.name())).collect();
    let stats = (column.needs != Needs::Nothing).then(|| format!("with `--stats` {}", levels.join(", ")));
    let rows = (!column.rows.is_empty()).then(|| format!("above the {}'s row", column.rows));
    match (column.optional, [stats, rows].into_iter().flatten().collect::<Vec<_>>().join("; ")) {
        (false, _) => String::new(),
        (true, why) if why.is_empty() => "yes".into(),
        (true, why) => why,
    }
}
