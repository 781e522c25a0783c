//! Tables for terminals.

mod aligned;
mod compare;
mod fit;
mod layers;
mod quantize;
mod size;
mod sweep;
mod table;
mod tiles;

pub use aligned::aligned_text;
pub use compare::compare_text;
pub use fit::View;
pub use layers::layers_text;
pub use quantize::{parts_text, proofs_text};
pub use size::{fraction_bits_text, rates_text, size_text};
pub use sweep::summary_text;
pub use table::{text_table, wrapped_table};
pub use tiles::tiles_text;

use guardbit_hwmodels::InferenceBound;

use crate::numbers::{counted, figure, grouped, percentage};
use crate::tables::{PointRow, SensitivityRow, short_key};
use crate::{ExploreRecord, Fraction};
use fit::Fitted;

/// Greatest number of designs that are listed.
const DESIGNS: usize = 20;

/// Returns the Pareto front of an exploration as text, the axes first, with the columns that fit, or with `view.all`
/// completely. Empty columns are left out.
pub fn explore_text(record: &ExploreRecord, view: &View) -> String {
    let front = record.front();
    let columns = front_columns(record);
    let keys: Vec<&str> =
        record.parameters.first().map_or(Vec::new(), |one| one.iter().map(|one| one.key.as_str()).collect());
    if !view.all {
        let values = |axis: usize| front.iter().map(move |&row| record.parameters[row][axis].value.clone());
        let mut table = Fitted::default().column(0, "point", front.iter().map(ToString::to_string));
        for (axis, key) in keys.iter().enumerate() {
            let is_unique = keys.iter().filter(|other| short_key(other) == short_key(key)).count() == 1;
            let head = if is_unique { short_key(key) } else { (*key).to_owned() };
            table = table.column(0, &head, values(axis));
        }
        for (at, (name, cell)) in columns.iter().enumerate() {
            // Objectives and quality come first, apart from the widths, which tell what to build.
            let rank = if *name == "widths" { 3 } else { at as u8 + 1 };
            table = table.column(rank, name, front.iter().map(|&row| cell(&record.rows[row])));
        }
        let more =
            |shown| (shown < front.len()).then(|| counted((front.len() - shown) as u64, "more design"));
        return table.text(view, DESIGNS, "design", more);
    }
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

/// Returns, as text, how doubling one resource of the chosen design changes the figures: the keys that change any of
/// them, or with `view.all` all keys with their figures; empty without a design.
pub fn sensitivity_text(record: &ExploreRecord, view: &View) -> String {
    let Some(point) = record.sensitivity.first().map(|row| row.point) else { return String::new() };
    if !view.all {
        return changes_text(&format!("design {point}"), record, view);
    }
    doubled_text(&format!("design {point}"), &record.sensitivity, record.area_unit())
}

/// Returns, as text, how doubling one resource of `what` changes the figures.
pub fn doubled_text(what: &str, rows: &[SensitivityRow], area_unit: &str) -> String {
    let (heads, rows) = sensitivity_cells(rows, area_unit);
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    format!("{what} with a single key doubled:\n{}", text_table(&heads, &rows))
}

fn changes_text(what: &str, record: &ExploreRecord, view: &View) -> String {
    let ratios =
        |row: &SensitivityRow| [row.cycles_ratio, row.latency_ratio, row.area_ratio, row.energy_ratio];
    let acts = |row: &&SensitivityRow| ratios(row).iter().flatten().any(|ratio| *ratio != 1.0);
    let keys = record.sensitivity.iter().filter(|row| !row.doubled.is_empty());
    let (acting, idle): (Vec<&SensitivityRow>, Vec<&SensitivityRow>) = keys.partition(acts);
    let cells = |at: usize| acting.iter().map(move |row| ratios(row)[at].map_or(String::new(), change));
    let of = acting.iter().map(|row| row.value.map_or(String::new(), figure));
    let table = Fitted::default()
        .column(0, "doubled key", acting.iter().map(|row| row.doubled.clone()))
        .column(5, "of", of)
        .column(0, "cycles", cells(0))
        .column(2, "latency", cells(1))
        .column(3, "area", cells(2))
        .column(4, "energy", cells(3));
    let left = (!idle.is_empty()).then(|| format!("{} without effect", counted(idle.len() as u64, "key")));
    format!("{what} with a single key doubled:\n{}", table.text(view, acting.len(), "row", |_| left.clone()))
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
