//! What differs between finished results, and by how much.

use crate::numbers::{counted, figure, grouped, number, percentage};
use crate::{ComparedPoint, Comparison, Fraction};

/// Greatest number of folders that a sentence names after the first.
const NAMED: usize = 3;

/// Figure whose differences are better or worse.
pub(crate) struct Measure {
    pub column: &'static str,
    /// What it is, with its unit.
    pub words: &'static str,
    pub unit: Unit,
    /// Whether greater values are better.
    pub rises: bool,
}

/// How values are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Share,
    Decibel,
    Bits,
    Number,
}

/// Figures in the order in which they matter.
const MEASURES: [Measure; 31] = [
    measure("accuracy", "accuracy", Unit::Share, true),
    measure("top1_agreement", "top-1 agreement", Unit::Share, true),
    measure("auc", "area under the ROC curve", Unit::Number, true),
    measure("mse", "mean squared error", Unit::Number, false),
    measure("bits_recommended", "recommended width (bits)", Unit::Bits, false),
    measure("sum_sqnr_db", "SQNR of the sums (dB)", Unit::Decibel, true),
    measure("wrong", "wrong sums", Unit::Number, false),
    measure("output_mismatch", "outputs that differ", Unit::Number, false),
    measure("output_sqnr_db", "output SQNR (dB)", Unit::Decibel, true),
    measure("sqnr_db", "SQNR (dB)", Unit::Decibel, true),
    measure("vanished_share", "terms that vanish", Unit::Share, false),
    measure("cut_share", "terms that lose bits", Unit::Share, false),
    measure("required_result", "required fraction bits", Unit::Bits, false),
    measure("events", "overflow events", Unit::Number, false),
    measure("persistent", "persistent dot products", Unit::Number, false),
    measure("transient", "transient dot products", Unit::Number, false),
    measure("exact_required_final", "required bits (final sum, exact network)", Unit::Bits, false),
    measure("exact_required_prefix", "required bits (prefix, exact network)", Unit::Bits, false),
    measure("bits_data_prefix", "width for prefixes of the samples (bits)", Unit::Bits, false),
    measure("bits_data_final", "width for final sums of the samples (bits)", Unit::Bits, false),
    measure("bits_range", "width for any input (bits)", Unit::Bits, false),
    measure("latency_us", "time of one inference (\u{b5}s)", Unit::Number, false),
    measure("cycles", "cycles of the accelerator", Unit::Number, false),
    measure("host_cycles", "cycles of the host", Unit::Number, false),
    measure("stall_cycles", "stall cycles", Unit::Number, false),
    measure("energy_pj", "energy (pJ)", Unit::Number, false),
    measure("area", "area", Unit::Number, false),
    measure("utilization", "utilization", Unit::Share, true),
    measure("sram_bytes", "SRAM traffic (bytes)", Unit::Number, false),
    measure("dram_bytes", "DRAM traffic (bytes)", Unit::Number, false),
    measure("accuracy_exact", "accuracy of the exact network", Unit::Share, true),
];

/// Figures of the outputs that tell results of equal accuracy apart.
const FINER: [&str; 2] = ["output_sqnr_db", "output_mismatch"];

const fn measure(column: &'static str, words: &'static str, unit: Unit, rises: bool) -> Measure {
    Measure { column, words, unit, rises }
}

impl Measure {
    /// Returns the measure of a column or of an overall figure, e.g. `energy_pj (horowitz-45nm)`.
    pub fn of(name: &str) -> Option<&'static Self> {
        let column = name.split(" (").next().unwrap_or(name);
        MEASURES.iter().find(|measure| measure.column == column)
    }

    /// Returns the place of the measure in the order in which they matter.
    pub fn rank(&self) -> usize {
        MEASURES.iter().position(|measure| measure.column == self.column).unwrap_or(MEASURES.len())
    }

    /// Returns a value as text.
    pub fn text(&self, value: f64) -> String {
        match self.unit {
            Unit::Share => percentage(Fraction::new(value)),
            Unit::Bits => format!("{value} bits"),
            Unit::Decibel => format!("{} dB", figure(value)),
            Unit::Number if value.fract() == 0.0 && (0.0..1e15).contains(&value) => grouped(value as u64),
            Unit::Number => figure(value),
        }
    }

    /// Returns the size of a difference as text.
    pub fn difference(&self, change: f64) -> String {
        match self.unit {
            Unit::Share => {
                let points = (change.abs() * 1e4).round() / 1e2;
                format!("{} {}", figure(points), if points == 1.0 { "point" } else { "points" })
            }
            Unit::Bits => counted(change.abs() as u64, "bit"),
            _ => self.text(change.abs()),
        }
    }

    /// Returns how much worse `other` is than `first`: positive if it is worse, 0 if both are equal or infinite.
    pub fn worse(&self, first: f64, other: f64) -> f64 {
        let change = if first == other { 0.0 } else { other - first };
        if self.rises { -change } else { change }
    }
}

/// Returns a value of a table as a number; infinite for an infinite SQNR.
pub(crate) fn value(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| !number.is_nan())
}

/// Returns the figure that matters most of those which the rows of the comparison have, and its place among the columns.
/// Figures that differ come first.
pub(crate) fn lead(compared: &Comparison) -> Option<Column> {
    let quality = quality(compared);
    // Where accuracy, or else agreement, is equal, the outputs may still differ.
    let is_equal = quality.is_some_and(|(_, at)| !differs(compared, at));
    let finer =
        || FINER.iter().filter_map(|name| column(compared, name)).find(|(_, at)| differs(compared, *at));
    let found = |is: &dyn Fn(usize) -> bool| {
        MEASURES.iter().filter_map(|measure| column(compared, measure.column)).find(|(_, at)| is(*at))
    };
    let finer = if is_equal { finer() } else { None };
    finer
        .or(quality)
        .or_else(|| found(&|at| differs(compared, at)))
        .or_else(|| found(&|at| is_given(compared, at)))
}

/// A figure, and its place among the columns.
type Column = (&'static Measure, usize);

/// Returns the accuracy, or else the agreement, of points, which is worth saying even where it is equal.
fn quality(compared: &Comparison) -> Option<Column> {
    let given = MEASURES.iter().filter_map(|measure| column(compared, measure.column));
    let mut given = given.filter(|(_, at)| is_given(compared, *at));
    given.next().filter(|(measure, _)| measure.unit == Unit::Share && compared.command != "run")
}

fn column(compared: &Comparison, name: &str) -> Option<Column> {
    let at = compared.columns.iter().position(|column| column == name)?;
    Some((MEASURES.iter().find(|measure| measure.column == name)?, at))
}

/// Returns whether some row has numbers in all folders.
fn is_given(compared: &Comparison, at: usize) -> bool {
    compared.points.iter().any(|point| point.values[at].iter().all(|text| value(text).is_some()))
}

/// Returns whether some row has different numbers.
fn differs(compared: &Comparison, at: usize) -> bool {
    let is = |values: &[String]| {
        values.iter().all(|text| value(text).is_some()) && values.windows(2).any(|pair| pair[0] != pair[1])
    };
    compared.points.iter().any(|point| is(&point.values[at]))
}

/// Returns the rows in which a folder differs from the first, the most worsened first, with that measure.
pub(crate) fn ranked(compared: &Comparison) -> Vec<(f64, &ComparedPoint)> {
    let Some((measure, at)) = lead(compared) else { return Vec::new() };
    let worse = |point: &ComparedPoint| {
        let first = value(&point.values[at][0])?;
        let others = point.values[at][1..].iter().filter_map(|text| value(text));
        let size = |a: f64, b: f64| if b.abs() > a.abs() { b } else { a };
        Some(others.map(|other| measure.worse(first, other)).fold(0.0, size)).filter(|worse| *worse != 0.0)
    };
    let mut all: Vec<_> = compared.points.iter().filter_map(|point| Some((worse(point)?, point))).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    if all.iter().all(|(worse, _)| *worse < 0.0) {
        all.reverse();
    }
    all
}

/// Returns the index of the layer that a row is about.
pub(crate) fn index(compared: &Comparison, point: &ComparedPoint) -> Option<usize> {
    let at = compared.axes.iter().position(|axis| axis == "index")?;
    point.key.get(at)?.parse().ok()
}

/// Returns the name of a row without its index.
pub(crate) fn label<'a>(compared: &Comparison, point: &'a ComparedPoint) -> &'a str {
    match index(compared, point) {
        Some(index) => point.name.strip_prefix(&format!("{index} ")).unwrap_or(&point.name),
        None => &point.name,
    }
}

/// Returns what a row is.
pub(crate) fn row_name(compared: &Comparison) -> &'static str {
    match compared.command.as_str() {
        "run" | "size" if compared.axes.iter().any(|axis| axis == "level") => "level",
        "run" | "size" => "layer",
        "explore" => "design",
        _ => "point",
    }
}

/// Returns what the other folders change against the first.
pub fn compare_answer(compared: &Comparison) -> String {
    let names = &compared.names;
    if compared.totals.is_empty() && compared.rows.is_empty() {
        return format!(
            "{}: {} that they have in common {} equal.",
            names.join(", "),
            counted(compared.same as u64, "figure"),
            number(compared.same as u64, "is", "are")
        );
    }
    let of = |folder: usize| {
        let parts = match compared.command.as_str() {
            "run" => totals(compared, folder),
            _ => points(compared, folder).into_iter().collect(),
        };
        match parts.is_empty() {
            true => format!("{} differs in figures that are neither better nor worse", names[folder]),
            false => format!("{}{}", names[folder], parts.join(" and")),
        }
    };
    let others: Vec<String> = (1..names.len().min(NAMED + 1)).map(of).collect();
    let more = match names.len().saturating_sub(NAMED + 1) {
        0 => String::new(),
        more => format!("; {} in the tables", counted(more as u64, "more folder")),
    };
    format!("Against {}, {}{more}.", names[0], others.join("; "))
}

/// Returns what a run changes: the quality that its outputs have, then its time and energy.
fn totals(compared: &Comparison, folder: usize) -> Vec<String> {
    let all = || compared.totals.iter().chain(&compared.equal_totals);
    let text = |name: &str| {
        let row = all().find(|row| row.name.split(" (").next() == Some(name))?;
        let measure = Measure::of(name)?;
        let [first, other] = [0, folder].map(|at| value(&row.values[at]));
        Some((measure, first?, other?))
    };
    let quality = ["accuracy", "top1_agreement", "auc", "mse", "output_mismatch"].into_iter().find_map(text);
    // Where that is equal, the outputs may still differ.
    let is_equal = quality.is_some_and(|(_, first, other)| first == other);
    let sqnr = text("output_sqnr_db").filter(|(_, first, other)| is_equal && first != other);
    let sqnr = sqnr.map(|(measure, first, other)| {
        let [before, after] = [first, other].map(|value| measure.text(value));
        format!(" has an output SQNR of {after} instead of {before}")
    });
    let quality = quality.map(|(measure, first, other)| {
        let [before, after] = [first, other].map(|value| measure.text(value));
        match measure.worse(first, other) {
            0.0 => format!(" has the same {} ({before})", measure.words),
            worse if measure.unit == Unit::Share => format!(
                " {} {} of {} ({after} instead of {before})",
                if worse > 0.0 { "loses" } else { "gains" },
                measure.difference(worse),
                measure.words
            ),
            _ => format!(" has {after} {} instead of {before}", measure.words),
        }
    });
    let rest = [("latency_us", "time"), ("energy_pj", "energy")].into_iter().filter_map(|(name, word)| {
        let (_, first, other) = text(name)?;
        let ratio = (first > 0.0).then(|| figure(other / first)).filter(|ratio| ratio != "1")?;
        Some(format!(" takes {ratio} times the {word}"))
    });
    quality.into_iter().chain(sqnr).chain(rest).collect()
}

/// Returns at how many rows the folder is worse and better, each with the greatest difference, and the number of rows.
pub(crate) fn tally(compared: &Comparison, folder: usize) -> Option<([(u64, f64); 2], u64)> {
    let (measure, at) = lead(compared)?;
    let pairs = compared.points.iter().filter_map(|point| {
        let [first, other] = [0, folder].map(|folder| value(&point.values[at][folder]));
        Some(measure.worse(first?, other?))
    });
    let all: Vec<f64> = pairs.collect();
    let of = |sign: f64| {
        let own = all.iter().map(|worse| worse * sign).filter(|size| *size > 0.0);
        own.fold((0, 0.0), |(count, most): (u64, f64), size| (count + 1, most.max(size)))
    };
    Some(([of(1.0), of(-1.0)], all.len() as u64))
}

/// Returns at how many rows another folder is better and worse.
fn points(compared: &Comparison, folder: usize) -> Option<String> {
    let (measure, _) = lead(compared)?;
    let ([worse, better], all) = tally(compared, folder)?;
    let words = measure.words.trim_end_matches(" (bits)");
    let names = match measure.unit {
        Unit::Bits => ["wider", "narrower"],
        Unit::Share | Unit::Decibel => ["worse", "better"],
        Unit::Number if measure.rises => ["less", "more"],
        Unit::Number => ["more", "fewer"],
    };
    let part = |(name, (count, most)): (&str, (u64, f64))| {
        (count > 0).then(|| format!("{name} at {count} (by at most {})", measure.difference(most)))
    };
    let parts: Vec<String> = names.into_iter().zip([worse, better]).filter_map(part).collect();
    let count = counted(all, row_name(compared));
    let equal = quality(compared).filter(|(other, _)| other.column != measure.column);
    let equal = equal.map_or(String::new(), |(other, _)| format!("{} equal at all {count}, ", other.words));
    Some(match parts.as_slice() {
        [] => format!(": {equal}{words} equal at all {count}"),
        parts => format!(": {equal}{words} {} of {count}", parts.join(" and ")),
    })
}
