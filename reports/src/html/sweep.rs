//! HTML report of a sweep.

use maud::{Markup, html};

use super::{Column, Table, accelerators, page, plots, settings, words};
use crate::about::About;
use crate::findings::group_findings;
use crate::numbers::{counted, grouped, percentage, probability};
use crate::parameters::parameter_keys;
use crate::plots::{Drawn, Extremes, Group, Groups, NO_WIDTH};
use crate::{Interval, PointRecord, SummaryRow, coverage_text, layer_label, not_swept_text};

/// Returns the page.
pub(crate) fn sweep(about: &About, points: &[PointRecord], drawn: &[Drawn<[PointRecord]>]) -> String {
    let groups = Groups::shown(points);
    let title = match groups.shown.as_slice() {
        [group] => format!("{} on {}", group.points[0].summary.model, group.points[0].summary.hw),
        [] => "Sweep".to_owned(),
        _ => "Accumulator width sweep".to_owned(),
    };
    let samples = points.iter().map(|point| point.summary.samples).max().unwrap_or(0);
    let mode = points.first().map_or("", |point| point.summary.mode.as_str());
    let points_run = counted(points.len() as u64, "point");
    let subtitle = format!("guardbit sweep · {points_run} · {} · {mode}", counted(samples, "sample"));
    let body = html! {
        (findings(points, &groups))
        (settings(about))
        (plots(drawn))
        @for group in &groups.shown { (layers(group)) }
        (summary(points, groups.shown.len() > 1))
        (accelerators(about))
        (words())
    };
    page(&title, &subtitle, about, &body)
}

fn findings(points: &[PointRecord], groups: &Groups<'_>) -> Markup {
    html! {
        section {
            h2 { "Results" }
            @if groups.shown.is_empty() { p { (NO_WIDTH) } }
            @for group in &groups.shown {
                @for mode in &group.modes {
                    h3 {
                        @if !group.heading.is_empty() { (group.heading) ", " }
                        "overflow: " (mode)
                    }
                    ul { @for finding in group_findings(group, mode) { li { (finding.text) } } }
                }
            }
            @if let Some(others) = groups.others() { p.note { (others) } }
            @for sentence in coverage_text(points) { p.note { (sentence) } }
            @for sentence in not_swept_text(points) { p.note { "Not swept: " (sentence) "." } }
        }
    }
}

/// Returns the table of the bits that each layer requires on its own.
fn layers(group: &Group<'_>) -> Markup {
    let Some(widest) = group.points.iter().rfind(|point| point.is_whole()) else { return html! {} };
    let mut columns = vec![
        Column::text("layer"),
        Column::text("op"),
        Column::number("terms"),
        Column::number("required bits (final sum, exact network)"),
        Column::number("required bits (prefix, exact network)"),
    ];
    columns.extend(group.modes.iter().map(|mode| Column::number(format!("exact from, {mode}"))));
    let swept = widest.layers.iter().filter(|row| row.level == widest.summary.level);
    let rows = swept.map(|row| {
        let bits = |bits: Option<u32>| bits.map_or(String::new(), |bits| bits.to_string());
        let mut cells = vec![
            layer_label(row.index, &row.name),
            row.op.clone(),
            grouped(row.terms as u64),
            bits(row.exact_required_final),
            bits(row.exact_required_prefix),
        ];
        cells.extend(group.modes.iter().map(|mode| exact_from(group, mode, row.index)));
        cells
    });
    let table = Table { columns, rows: rows.collect() };
    html! {
        section {
            h2 { "Layers" @if !group.heading.is_empty() { ": " (group.heading) } }
            (table.markup())
            p.note {
                "Required bits of the exact network hold every final sum (enough for wrapping), or every \
                 prefix (enough for saturation), if no accumulator overflows; a propagated sweep counts \
                 them with --stats values or full. \"Exact from\" is the smallest width from which on the \
                 layer delivers no wrong sum, or \"-\" if the widest point still delivers one."
            }
        }
    }
}

/// Returns the smallest width from which on a layer is exact, as text.
fn exact_from(group: &Group<'_>, mode: &str, layer: usize) -> String {
    let mut least = None;
    for point in group.of_mode(mode).into_iter().rev().take_while(|point| point.is_whole()) {
        let wrong = point.layers.iter().filter(|row| row.index == layer).find_map(|row| row.wrong);
        match wrong {
            None => return String::new(),
            Some(0) => least = Some(point.summary.width()),
            Some(_) => break,
        }
    }
    least.map_or("-".to_owned(), |bits| bits.to_string())
}

/// Table of all points with their settings and results.
struct Points<'a> {
    points: &'a [PointRecord],
    /// Whether there are several networks or accelerators.
    several: bool,
    /// Whether a register's width is swept.
    register: bool,
    /// Whether a trapped overflow ended one of the points.
    trapped: bool,
}

impl Points<'_> {
    fn columns(&self) -> Vec<Column> {
        let mut columns = Vec::new();
        if self.several {
            columns.extend([Column::text("model"), Column::text("hw")]);
        }
        if self.register {
            columns.extend([Column::number("bits"), Column::text("overflow")]);
        }
        columns.extend(parameter_keys(self.points).iter().map(|key| Column::text(key)));
        let names = [
            "accuracy",
            "95 %",
            "exact accuracy",
            "p",
            "agreement",
            "95 %",
            "output codes that differ",
            "output SQNR (dB)",
            "events",
            "persistent",
            "transient",
            "wrong",
        ];
        columns.extend(names.map(Column::number));
        columns.extend(self.trapped.then(|| Column::text("ended by")));
        columns
    }

    fn cells(&self, point: &PointRecord) -> Vec<String> {
        let row = &point.summary;
        let mut cells = Vec::new();
        if self.several {
            cells.extend([row.model.clone(), row.hw.clone()]);
        }
        if self.register {
            cells.extend([row.bits.map_or(String::new(), |bits| bits.to_string()), row.overflow.clone()]);
        }
        cells.extend(point.parameters.iter().map(|one| one.value.clone()));
        cells.extend(outcome(row));
        cells.extend(self.trapped.then(|| row.trapped.clone().unwrap_or_default()));
        cells
    }
}

/// Returns the result cells of a point.
fn outcome(row: &SummaryRow) -> [String; 12] {
    let share = |share: Option<crate::Fraction>| share.map_or(String::new(), percentage);
    let ends = |low, high| {
        let interval = Interval::between(low, high);
        interval.map_or(String::new(), |one| format!("{} to {}", percentage(one.low), percentage(one.high)))
    };
    let count = |count: Option<u64>| count.map_or(String::new(), grouped);
    [
        share(row.accuracy),
        ends(row.accuracy_low, row.accuracy_high),
        share(row.accuracy_exact),
        row.mcnemar_p.map_or(String::new(), probability),
        share(row.top1_agreement),
        ends(row.agreement_low, row.agreement_high),
        count(row.output_mismatch),
        row.output_sqnr_db.map_or(String::new(), |sqnr| sqnr.to_string()),
        count(row.events),
        count(row.persistent),
        count(row.transient),
        count(row.wrong),
    ]
}

/// Greatest number of points in the table.
const ROWS: usize = 400;

fn summary(points: &[PointRecord], several: bool) -> Markup {
    let badness = |point: &&PointRecord| {
        let row = &point.summary;
        let share = row.accuracy.or(row.top1_agreement).map(crate::Fraction::value);
        share.map_or(row.output_mismatch.map_or(f64::MAX, |codes| codes as f64), |share| -share)
    };
    let shown = Extremes::of(points.iter().collect(), ROWS, badness);
    let left_out = shown
        .left_out("points", "accuracy (agreement without labels; output codes that differ without classes)");
    let register = points.iter().any(|point| point.summary.bits.is_some());
    let all = Points { points, several, register, trapped: points.iter().any(|point| !point.is_whole()) };
    let rows = shown.shown.iter().map(|point| all.cells(point)).collect();
    let table = Table { columns: all.columns(), rows };
    html! {
        section {
            h2 { "Points" }
            (table.markup())
            @if let Some(left_out) = left_out { p.note { (left_out) " summary.csv has all." } }
            p.note {
                "Events, persistent and transient dot products are those of the swept level, wrong dot \
                 products those of the whole datapath; all are summed over the layers. \"95 %\" are \
                 Wilson's intervals; \"p\" is McNemar's p value of the accuracy against the exact network. \
                 Figures per layer are in sweep.csv, per class in classes.csv, comparisons of points in \
                 pairs.csv, and results per sample in predictions/."
            }
        }
    }
}
