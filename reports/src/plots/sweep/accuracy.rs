//! Accuracy and agreement against width.

use super::NO_POINTS;
use super::group::{Group, mode_legend, subtitle};
use crate::numbers::percentage;
use crate::plots::kit::{Area, Axis, DrawError, Entry, GREY, Mark, Scale, chart, figure, mode_look, panels};
use crate::plots::{Drawing, Plot};
use crate::{Fraction, PointRecord, SummaryRow};

pub(super) const PLOT: Plot<[PointRecord]> = Plot {
    name: "accuracy",
    title: "Accuracy and agreement against accumulator width",
    caption: "Accuracy: share of samples whose top-1 class is the label; the dashed line is the exact network. Agreement: \
              share of samples whose top-1 class is that of the exact network, which needs no labels. One curve per \
              overflow mode.",
    draw,
};

/// One panel.
struct Panel<'a> {
    group: &'a Group<'a>,
    title: &'static str,
    value: fn(&SummaryRow) -> Option<Fraction>,
    exact: Option<Fraction>,
    note: String,
}

fn draw(points: &[PointRecord], title: &'static str) -> Result<Drawing, DrawError> {
    let groups = Group::all(points);
    if groups.is_empty() {
        return Ok(Drawing::Nothing(NO_POINTS.into()));
    }
    let mut shown: Vec<Panel<'_>> = Vec::new();
    for group in &groups {
        let has = |value: fn(&SummaryRow) -> Option<Fraction>| {
            group.points.iter().any(|point| value(&point.summary).is_some())
        };
        let mut add = |title, note: String, value: fn(&SummaryRow) -> Option<Fraction>, exact| {
            if has(value) {
                let note = [group.heading.clone(), note].into_iter().filter(|part| !part.is_empty());
                let note = note.collect::<Vec<_>>().join(" · ");
                shown.push(Panel { group, title, value, exact, note });
            }
        };
        let exact = group.points.iter().find_map(|point| point.summary.accuracy_exact);
        let note = exact.map_or(String::new(), |exact| format!("exact network: {}", percentage(exact)));
        add("top-1 accuracy", note, |row| row.accuracy, exact);
        let note = "needs no labels".to_owned();
        add("top-1 agreement with the exact network", note, |row| row.top1_agreement, None);
    }
    if shown.is_empty() {
        let why = "Accuracy and agreement are defined in propagated mode only.";
        return Ok(Drawing::Nothing(why.into()));
    }
    let reference = shown.iter().any(|panel| panel.exact.is_some());
    let reference = reference.then(|| Entry::new(Mark::Dashes(GREY), "accuracy of the exact network"));
    let columns = shown.len().min(2);
    let mut content = vec![mode_legend(&groups, reference)];
    content.extend(panels(shown, columns, 340, draw_panel));
    Ok(Drawing::Figure(figure(title, &subtitle(&groups), &content)?))
}

fn draw_panel(area: &Area<'_>, panel: &Panel<'_>) -> Result<(), DrawError> {
    let y = Axis::new("samples", Scale::percent());
    let x = panel.group.width_axis(20);
    let mut chart = chart(area, (panel.title, &panel.note), &x, &y)?;
    if let Some(exact) = panel.exact {
        chart.level(exact.value(), GREY)?;
    }
    for mode in &panel.group.modes {
        let of_mode = panel.group.of_mode(mode);
        let value = |point: &&PointRecord| {
            Some((f64::from(point.summary.width()), (panel.value)(&point.summary)?.value()))
        };
        let curve: Vec<(f64, f64)> = of_mode.iter().filter_map(value).collect();
        chart.line(&curve, mode_look(mode))?;
    }
    Ok(())
}
