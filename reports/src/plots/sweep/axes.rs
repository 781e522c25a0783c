//! Accuracy over the axes of a sweep.

use super::NO_POINTS;
use crate::numbers::percentage;
use crate::plots::kit::{Content, DrawError, HeatCell, HeatRow, HeatTable, Ramp, figure};
use crate::plots::{Drawing, Plot};
use crate::{Fraction, PointRecord, SummaryRow};

pub(super) const PLOT: Plot<[PointRecord]> = Plot {
    name: "axes",
    title: "Accuracy over the axes",
    caption: "Share of samples whose top-1 class is the label, or without labels that of the exact network, at every point. \
              The values of one axis are the columns, those of the others the rows.",
    draw,
};

fn draw(points: &[PointRecord], title: &'static str) -> Result<Drawing, DrawError> {
    let Some(first) = points.first() else { return Ok(Drawing::Nothing(NO_POINTS.into())) };
    if first.parameters.is_empty() {
        return Ok(Drawing::Nothing("Nothing beside one register is varied.".into()));
    }
    let labelled = points.iter().any(|point| point.summary.accuracy.is_some());
    let share: fn(&SummaryRow) -> Option<Fraction> =
        if labelled { |row| row.accuracy } else { |row| row.top1_agreement };
    if points.iter().all(|point| share(&point.summary).is_none()) {
        return Ok(Drawing::Nothing("Accuracy and agreement are defined in propagated mode only.".into()));
    }
    let what = if labelled { "top-1 accuracy" } else { "top-1 agreement with the exact network" };
    let table = table(points, what, share);
    Ok(Drawing::Figure(figure(title, &format!("{} points", points.len()), &[table])?))
}

/// A cell per point. The columns are the axis with the most values of those whose values are short.
fn table(points: &[PointRecord], what: &str, share: fn(&SummaryRow) -> Option<Fraction>) -> Content<'static> {
    let axes = &points[0].parameters;
    let across = (0..axes.len()).filter(|&axis| values(points, axis).iter().all(|value| is_narrow(value)));
    let across = across.max_by_key(|&axis| values(points, axis).len());
    let columns = across.map_or(vec![""], |axis| values(points, axis));
    let mut rows: Vec<(Vec<&str>, Vec<(&str, Fraction)>)> = Vec::new();
    for point in points {
        let label = others(points, point, across);
        let column = across.map_or("", |axis| point.parameters[axis].value.as_str());
        let cell = share(&point.summary).map(|share| (column, share));
        match rows.iter_mut().find(|(known, _)| *known == label) {
            Some((_, cells)) => cells.extend(cell),
            None => rows.push((label, cell.into_iter().collect())),
        }
    }
    let row = |(label, cells): (Vec<&str>, Vec<(&str, Fraction)>)| {
        let cell = |column: &&str| {
            let (_, share) = cells.iter().find(|(name, _)| name == column)?;
            let (fill, ink) = (Ramp::BLUE.color(share.value()), Ramp::BLUE.ink(share.value()));
            Some(HeatCell { fill, ink, text: percentage(*share) })
        };
        let cells = columns.iter().map(cell).collect();
        HeatRow { label: cut(&label.join(" · ")), cells, note: String::new(), fence: None }
    };
    let rows = rows.into_iter().map(row).collect();
    let keys = |wanted: &dyn Fn(usize) -> bool| {
        let keys = axes.iter().enumerate().filter(|(axis, _)| wanted(*axis));
        keys.map(|(_, axis)| axis.short_key()).collect::<Vec<_>>().join(" · ")
    };
    let title = match (across, axes.len()) {
        (Some(axis), 1) => format!("{what} by {}", axes[axis].key),
        (Some(axis), _) => format!("{what} by {}; rows: {}", axes[axis].key, keys(&|other| other != axis)),
        (None, _) => format!("{what}; rows: {}", keys(&|_| true)),
    };
    let columns = columns.into_iter().map(String::from).collect();
    HeatTable { columns, title, note_title: String::new(), rows }.content()
}

/// The values of an axis, each once, in the order of the points.
fn values(points: &[PointRecord], axis: usize) -> Vec<&str> {
    let mut values: Vec<&str> = Vec::new();
    for point in points {
        let value = point.parameters[axis].value.as_str();
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// What tells a row: the axes but that of the columns, and network and accelerator where they differ.
fn others<'a>(points: &[PointRecord], point: &'a PointRecord, across: Option<usize>) -> Vec<&'a str> {
    let own = &point.summary;
    let alone = points.iter().all(|other| (&other.summary.model, &other.summary.hw) == (&own.model, &own.hw));
    let mut told: Vec<&str> = if alone { Vec::new() } else { vec![&own.model, &own.hw] };
    for (axis, one) in point.parameters.iter().enumerate() {
        if Some(axis) != across && !(["model", "hw"].contains(&one.key.as_str()) && !alone) {
            told.push(&one.value);
        }
    }
    told
}

fn is_narrow(value: &str) -> bool {
    value.chars().count() <= 7
}

/// A label that has room beside the cells.
fn cut(label: &str) -> String {
    const ROOM: usize = 34;
    let count = label.chars().count();
    if count <= ROOM { label.into() } else { label.chars().take(ROOM - 1).chain(['…']).collect() }
}
