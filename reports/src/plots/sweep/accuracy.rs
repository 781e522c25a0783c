//! Plot of accuracy and agreement against width.

use super::by_width;
use super::group::{Group, mode_legend, subtitle};
use crate::numbers::percentage;
use crate::plots::kit::{Area, Axis, DrawError, Entry, GREY, Mark, Scale, Sheet, chart, figure, mode_look};
use crate::plots::{Drawing, Plot};
use crate::{Fraction, Interval, PointRecord, SummaryRow};

pub(super) const PLOT: Plot<[PointRecord]> = Plot {
    name: "accuracy",
    title: "Accuracy and agreement against accumulator width",
    caption: "Accuracy: share of samples whose top-1 class is the label; the dashed line is the exact \
              network. Agreement: share of samples whose top-1 class is that of the exact network, which \
              needs no labels. One curve per overflow mode; bars are Wilson's 95 % intervals.",
    draw,
};

/// Panel of the figure.
struct Panel<'a> {
    group: &'a Group<'a>,
    title: &'static str,
    axis: &'static str,
    shown: Shown,
    exact: Option<Fraction>,
    note: String,
}

/// Share with its interval.
#[derive(Clone, Copy)]
struct Shown {
    value: fn(&SummaryRow) -> Option<Fraction>,
    interval: fn(&SummaryRow) -> Option<Interval>,
}

const ACCURACY: Shown = Shown {
    value: |row| row.accuracy,
    interval: |row| Interval::between(row.accuracy_low, row.accuracy_high),
};
const AGREEMENT: Shown = Shown {
    value: |row| row.top1_agreement,
    interval: |row| Interval::between(row.agreement_low, row.agreement_high),
};

fn draw(points: &[PointRecord], sheet: Sheet) -> Result<Drawing, DrawError> {
    let groups = match by_width(points) {
        Ok(groups) => groups,
        Err(nothing) => return Ok(nothing),
    };
    let mut shown: Vec<Panel<'_>> = Vec::new();
    for group in &groups.shown {
        let has = |value: fn(&SummaryRow) -> Option<Fraction>| {
            group.points.iter().any(|point| value(&point.summary).is_some())
        };
        let mut add = |[axis, title]: [&'static str; 2], note: String, what: Shown, exact| {
            if has(what.value) {
                let note = [group.heading.clone(), note].into_iter().filter(|part| !part.is_empty());
                let note = note.collect::<Vec<_>>().join(" · ");
                shown.push(Panel { group, title, axis, shown: what, exact, note });
            }
        };
        let exact = group.points.iter().find_map(|point| point.summary.accuracy_exact);
        let note = exact.map_or(String::new(), |exact| format!("exact network: {}", percentage(exact)));
        add(["top-1 accuracy"; 2], note, ACCURACY, exact);
        let note = "needs no labels".to_owned();
        add(["top-1 agreement", "top-1 agreement with the exact network"], note, AGREEMENT, None);
    }
    if shown.is_empty() {
        let why = "Accuracy and agreement are defined in propagated mode only.";
        return Ok(Drawing::Nothing(why.into()));
    }
    let reference = shown.iter().any(|panel| panel.exact.is_some());
    let reference = reference.then(|| Entry::new(Mark::Dashes(GREY), "accuracy of the exact network"));
    let columns = shown.len().min(2);
    let mut content = vec![mode_legend(&groups.shown, reference)];
    let least = shown.iter().flat_map(Panel::values).fold(1.0, f64::min);
    content.extend(sheet.panels(shown, columns, 340, move |area, panel| draw_panel(area, panel, least)));
    content.extend(groups.others_note());
    Ok(Drawing::Figure(figure(sheet, &subtitle(&groups), &content)?))
}

impl Panel<'_> {
    /// Returns every value, and the ends of every interval.
    fn values(&self) -> impl Iterator<Item = f64> {
        let of_row = |row: &SummaryRow| {
            let low = (self.shown.interval)(row).map(|interval| interval.low.value());
            (self.shown.value)(row).map(|value| low.unwrap_or(value.value()))
        };
        let values = self.group.points.iter().filter_map(move |point| of_row(&point.summary));
        values.chain(self.exact.map(Fraction::value))
    }
}

/// Draws a panel. No value of any panel is below `least`, so that all have the same axis.
fn draw_panel(area: &Area<'_>, panel: &Panel<'_>, least: f64) -> Result<(), DrawError> {
    let y = Axis::new(panel.axis, Scale::percent_from(least));
    let x = panel.group.width_axis(20);
    let mut chart = chart(area, panel.title, &panel.note, &x, &y)?;
    if let Some(exact) = panel.exact {
        chart.level(exact.value(), GREY)?;
    }
    for mode in &panel.group.modes {
        let of_mode = panel.group.of_mode(mode);
        let look = mode_look(mode);
        for point in &of_mode {
            if let Some(Interval { low, high }) = (panel.shown.interval)(&point.summary) {
                let (x, ends) = (f64::from(point.summary.width()), (low.value(), high.value()));
                chart.whisker(x, ends, look.color)?;
            }
        }
        let value = |point: &&PointRecord| {
            Some((f64::from(point.summary.width()), (panel.shown.value)(&point.summary)?.value()))
        };
        let curve: Vec<(f64, f64)> = of_mode.iter().filter_map(value).collect();
        chart.line(&curve, look)?;
    }
    Ok(())
}
