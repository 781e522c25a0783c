//! Table of the points of a sweep.

use super::fit::{Fitted, View};
use super::table::text_table;
use crate::numbers::{counted, decibels, figure, human, percentage, probability};
use crate::parameters::parameter_keys;
use crate::tables::{Cells, Row, SummaryRow, short_key};
use crate::{PointRecord, ReportError};

/// Number of points that are listed.
const LISTED: usize = 40;

/// Columns of `summary.csv` that tables for terminals leave out.
const IN_FILES_ALONE: [&str; 17] = [
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
    "cross_entropy_exact",
    "cross_entropy",
    // Figures of the host, which do not depend on widths.
    "host_cycles",
    "overlapped_cycles",
    // Counts, which are shown as shares.
    "agreeing",
    "right_exact",
    "right",
];

/// Returns the points of a sweep as text, the axes first: the first ones, or with `view.all` `summary.csv` without
/// columns that are equal or empty in all rows.
///
/// # Errors
/// [`ReportError::Table`] if a row cannot be serialized.
pub fn summary_text(points: &[PointRecord], view: &View) -> Result<String, ReportError> {
    if view.all { every_row(points) } else { Ok(fitted(points, view)) }
}

fn every_row(points: &[PointRecord]) -> Result<String, ReportError> {
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

fn fitted(points: &[PointRecord], view: &View) -> String {
    let mut table = Fitted::default();
    let keys = parameter_keys(points);
    let values = |axis: usize| points.iter().map(move |point| point.parameters[axis].value.as_str());
    for (axis, key) in keys.iter().enumerate() {
        let is_unique = keys.iter().filter(|other| short_key(other) == short_key(key)).count() == 1;
        let head = if is_unique { short_key(key) } else { (*key).to_owned() };
        table = table.column(0, &head, values(axis).map(str::to_owned));
    }
    let cells = |cell: &dyn Fn(&SummaryRow) -> Option<String>| {
        points.iter().map(|point| cell(&point.summary).unwrap_or_default()).collect::<Vec<_>>()
    };
    // The swept register may be an axis as well.
    let bits = cells(&|row| row.bits.map(|bits| bits.to_string()));
    let modes = cells(&|row| Some(row.overflow.clone()));
    for (rank, name, cells) in [(0, "bits", bits), (1, "overflow", modes)] {
        if !(0..keys.len()).any(|axis| values(axis).eq(cells.iter().map(String::as_str))) {
            table = table.column(rank, name, cells);
        }
    }
    let count = |count: Option<u64>| count.map(human);
    let ends = |ends: Option<(crate::Fraction, crate::Fraction)>| {
        ends.map(|(low, high)| format!("{} to {}", percentage(low).trim_end_matches(" %"), percentage(high)))
    };
    let table = table
        .column(0, "accuracy", cells(&|row| row.accuracy.map(percentage)))
        .column(3, "95 %", cells(&|row| ends(row.accuracy_low.zip(row.accuracy_high))))
        .column(2, "exact network", cells(&|row| row.accuracy_exact.map(percentage)))
        .column(1, "agreement", cells(&|row| row.top1_agreement.map(percentage)))
        .column(1, "MSE", cells(&|row| row.mse.map(figure)))
        .column(2, "MSE, exact", cells(&|row| row.mse_exact.map(figure)))
        .column(1, "AUC", cells(&|row| row.auc.map(|auc| auc.to_string())))
        .column(2, "AUC, exact", cells(&|row| row.auc_exact.map(|auc| auc.to_string())))
        .column(2, "codes differ", cells(&|row| count(row.output_mismatch)))
        .column(4, "SQNR", cells(&|row| row.output_sqnr_db.map(|sqnr| decibels(sqnr.value()))))
        .column(3, "events", cells(&|row| count(row.events)))
        .column(5, "persistent", cells(&|row| count(row.persistent)))
        .column(5, "transient", cells(&|row| count(row.transient)))
        .column(3, "wrong", cells(&|row| count(row.wrong)))
        .column(6, "p", cells(&|row| row.mcnemar_p.map(probability)))
        .column(6, "cycles", cells(&|row| count(row.cycles)))
        .column(7, "not swept", cells(&|row| row.not_swept.clone()));
    table.text(view, LISTED, "point", |shown| {
        (shown < points.len()).then(|| counted((points.len() - shown) as u64, "more point"))
    })
}
