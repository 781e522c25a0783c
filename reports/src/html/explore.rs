//! HTML report of an exploration.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde::Serialize;

use super::page::{Front, Page, Section, data, sentences};
use super::plot::{Axis, Kind, Point, Series, Spec, svg_of};
use super::table::{Cell, Column, Table};
use super::{accelerators, settings};
use crate::ExploreRecord;
use crate::about::About;
use crate::findings::{best_first, explore_answer, recommended, takes};
use crate::numbers::{counted, figure, number};
use crate::plots::{Drawn, Extremes, quality};
use crate::tables::PointRow;
use crate::text::{front_columns, sensitivity_cells, worth};

/// Greatest number of rows in the table.
const MOST_ROWS: usize = 200;
/// Greatest number of warnings, and of designs that a warning names.
const MOST_WARNINGS: usize = 20;
const MOST_NAMED: usize = 10;
/// Greatest number of designs in the plots, on the front and off it.
const FRONT: usize = 400;
const OTHERS: usize = 1000;

/// Returns the page.
pub(crate) fn explore(about: &About, record: &ExploreRecord, drawn: &[Drawn<ExploreRecord>]) -> String {
    let shown = Shown::of(record);
    // The drawn plot shows all objectives at once.
    let mut instead = svg_of(drawn, "pareto");
    let mut plots = record.objectives.iter().filter_map(|objective| shown.plot(objective, instead.take()));
    let first = plots.next().unwrap_or_default();
    let others: Vec<Markup> = plots.collect();
    let sections = vec![
        Section::new(
            "designs",
            "Which designs are best?",
            [sentences(findings(record)), super::page::side_by_side(others), front(record)],
        ),
        Section::new("bound", "What bounds them?", [sensitivity(record), warnings(record)]),
        Section::new("cost", "Where do the costs come from?", [costs(record)]),
        Section::new(
            "what",
            "What was run?",
            [
                sentences(record.coverage.sentences().iter().map(|sentence| format!("{sentence}."))),
                settings(about),
                accelerators(about),
            ],
        ),
    ];
    Page {
        title: format!("Designs of {} for {}", record.hw, record.model),
        subtitle: format!("guardbit explore · {}", counted(record.samples, "sample")),
        about,
        front: Front {
            answer: explore_answer(record),
            figures: figures(record),
            picture: first,
            worst: best(record),
        },
        sections,
        data: data("designs-data", &shown.panels()),
    }
    .document()
}

/// Returns the key figures.
fn figures(record: &ExploreRecord) -> Vec<(&'static str, String, String)> {
    let text = |count: usize| crate::numbers::grouped(count as u64);
    let mut all = vec![
        ("Designs", text(record.rows.len()), format!("{} simulated", text(record.simulated))),
        ("Pareto front", text(record.front().len()), format!("of {}", record.objectives.join(", "))),
    ];
    if let Some(row) = recommended(record) {
        all.push(("Recommended", format!("design {}", row.point), row.widths.clone()));
        all.push(("Bound by", worth(&row.bound, row.bound_ratio), String::new()));
    }
    if let Some(exact) = record.rows.iter().find_map(|row| row.accuracy_exact) {
        all.push(("Exact network", crate::numbers::percentage(exact), "accuracy".into()));
    }
    all
}

/// Returns the designs of the front that lose the least.
fn best(record: &ExploreRecord) -> (&'static str, Vec<Markup>) {
    let item = |&index: &usize| {
        let row = &record.rows[index];
        // The widths of a design that the search found are those of its layers, not a value of an axis.
        let (set, searched): (Vec<_>, Vec<_>) =
            record.parameters[index].iter().partition(|one| !one.value.is_empty());
        let mut settings: Vec<String> = set.iter().map(|one| format!("{} {}", one.key, one.value)).collect();
        settings.extend((!searched.is_empty()).then(|| format!("bits by layer: {}", row.widths)));
        html! {
            span data-design=(row.point) { "Design " (row.point) } ": " (takes(record, row).join(", ")) "; "
            (settings.join(", ")) @if !row.bound.is_empty() { "; bound by " (worth(&row.bound, row.bound_ratio)) } "."
        }
    };
    ("Designs that lose the least", best_first(record).iter().take(3).map(item).collect())
}

/// Designs in the plots.
struct Shown<'a> {
    record: &'a ExploreRecord,
    /// Rows with their quality and its interval.
    rows: Vec<(usize, [f64; 3])>,
    note: Option<String>,
}

/// Data of the panels of designs.
#[derive(Serialize)]
struct Panels<'a> {
    keys: Vec<&'a str>,
    designs: Vec<Panel<'a>>,
}

#[derive(Serialize)]
struct Panel<'a> {
    number: usize,
    about: String,
    settings: Vec<&'a str>,
    facts: Vec<(&'a str, String)>,
    warnings: &'a [String],
}

impl<'a> Shown<'a> {
    fn of(record: &'a ExploreRecord) -> Self {
        let seen = record.rows.iter().enumerate();
        let seen = seen.filter_map(|(index, row)| Some((index, quality(record, row)?)));
        let is_best = |index: usize| record.rows[index].front || record.rows[index].recommended;
        let (front, beside): (Vec<_>, Vec<_>) = seen.partition(|(index, _)| is_best(*index));
        let bad = if record.quality == "output_mismatch" { 1.0 } else { -1.0 };
        let beside = Extremes::of(beside, OTHERS, |(_, quality)| bad * quality[0]);
        let front = Extremes::of(front, FRONT, |(index, quality)| {
            if record.rows[*index].recommended { f64::MAX } else { bad * quality[0] }
        });
        let notes = [
            front.left_out("designs on the Pareto front", "what they lose"),
            beside.left_out("other designs", "what they lose"),
        ];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        let mut rows = [front.shown, beside.shown].concat();
        rows.sort_by_key(|(index, _)| *index);
        Self { record, rows, note: (!notes.is_empty()).then(|| notes.join(" ")) }
    }

    /// Returns the quality of the designs against what they take.
    fn plot(&self, objective: &str, instead: Option<&str>) -> Option<Markup> {
        let record = self.record;
        let point = |(index, [value, low, high]): &(usize, [f64; 3])| {
            let row = &record.rows[*index];
            Some(Point {
                x: row.takes(objective)?,
                y: Some(*value),
                ends: (row.front && low < high).then_some([*low, *high]),
                text: format!("design {}", row.point),
                design: Some(row.point),
                layer: None,
            })
        };
        let series = |name: &str, is: &dyn Fn(&PointRow) -> bool| {
            let own = self.rows.iter().filter(|(index, _)| is(&record.rows[*index]));
            Series { name: name.into(), points: own.filter_map(point).collect(), ..Series::default() }
        };
        let all = [
            series("design", &|row| !row.front && !row.recommended),
            series("on the Pareto front", &|row| row.front && !row.recommended),
            series("recommended", &|row| row.recommended),
        ];
        let (label, is_share) = match record.quality.as_str() {
            "accuracy" => ("accuracy", true),
            "top1_agreement" => ("agreement with the exact network", true),
            _ => ("output codes that differ", false),
        };
        let unit = match objective {
            "cycles" => "cycles".to_owned(),
            "latency" => "time of one inference (\u{b5}s)".to_owned(),
            "area" => format!("area ({})", record.area_unit()),
            "energy" => "energy of one inference (pJ)".to_owned(),
            other => other.to_owned(),
        };
        let y = Axis::new(label);
        let spec = Spec {
            kind: Kind::Scatter,
            x: Axis::new(unit).log(false),
            y: if is_share { y.percent() } else { y.log(false) },
            series: all.into_iter().filter(|series| !series.points.is_empty()).collect(),
            note: self.note.clone(),
            ..Spec::default()
        };
        let title = format!("{}{} against {objective}", label[..1].to_uppercase(), &label[1..]);
        let figure = spec.figure(&title, "Choose a point for its settings and what bounds it.", instead);
        (!figure.0.is_empty()).then_some(figure)
    }

    fn panels(&self) -> Panels<'a> {
        let record = self.record;
        let columns = front_columns(record);
        let first = record.parameters.first();
        let listed: BTreeSet<usize> = record.front().into_iter().take(MOST_ROWS).collect();
        let shown = self.rows.iter().map(|(index, _)| *index).chain(listed).collect::<BTreeSet<_>>();
        let panel = |index: usize| {
            let row = &record.rows[index];
            let parameters = record.parameters.get(index).map_or(&[][..], Vec::as_slice);
            let facts = columns.iter().map(|(name, cell)| (*name, cell(row)));
            Panel {
                number: row.point,
                about: format!("{} ({}).", takes(record, row).join(", "), row.ran),
                settings: parameters.iter().map(|one| one.value.as_str()).collect(),
                facts: facts.filter(|(_, value)| !value.is_empty()).collect(),
                warnings: record.warnings.get(index).map_or(&[], Vec::as_slice),
            }
        };
        Panels {
            keys: first.map_or(Vec::new(), |one| one.iter().map(|one| one.key.as_str()).collect()),
            designs: shown.into_iter().map(panel).collect(),
        }
    }
}

fn findings(record: &ExploreRecord) -> Vec<String> {
    let mut lines = vec![format!(
        "{} of the axes and {} found within the budget: {} simulated, {} with the values of a simulated \
         design, {} in which provably no accumulator overflows.",
        counted(record.points as u64, "point"),
        record.searched,
        record.simulated,
        record.shared,
        record.exact,
    )];
    let front = record.front().len() as u64;
    lines.push(format!("{} {} on the Pareto front.", counted(front, "design"), number(front, "is", "are"),));
    if let Some(row) = record.rows.iter().find(|row| row.recommended) {
        let mut figures = vec![counted(row.cycles, "cycle")];
        figures
            .extend(row.area.map(|area| format!("{} {} ({})", figure(area), row.area_unit, row.area_model)));
        figures.extend(row.energy_pj.map(|energy| format!("{} pJ ({})", figure(energy), row.energy_model)));
        let budget = record.budget.as_deref().unwrap_or_default();
        lines.push(format!(
            "Within {budget}, design {} ({}; {}) has the lowest {}: {}. recommended.yaml contains its \
             accelerator.",
            row.point,
            row.design,
            row.widths,
            record.objectives.first().map_or("", String::as_str),
            figures.join(", "),
        ));
    }
    lines.extend(record.remarks.iter().map(|remark| format!("{remark}.")));
    lines
}

fn front(record: &ExploreRecord) -> Markup {
    let axes: Vec<&str> = record
        .parameters
        .first()
        .map_or(Vec::new(), |parameters| parameters.iter().map(|one| one.key.as_str()).collect());
    let own = front_columns(record);
    let mut columns = vec![Column::number("design")];
    columns.extend(axes.iter().map(|axis| Column::number(*axis)));
    columns.extend(own.iter().map(|&(name, _)| match name {
        "within" | "bound" | "accelerator bound" | "widths" => Column::text(name),
        _ => Column::number(name),
    }));
    let row = |&index: &usize| {
        let row: &PointRow = &record.rows[index];
        let mut cells = vec![Cell::design(row.point)];
        cells.extend(record.parameters[index].iter().map(|one| Cell::text(&one.value)));
        cells.extend(own.iter().map(|(_, cell)| Cell::text(cell(row))));
        cells
    };
    let front = record.front();
    let shown = &front[..front.len().min(MOST_ROWS)];
    let table = Table::new("Pareto front", columns).rows(shown.iter().map(row));
    html! {
        @if !front.is_empty() {
            h3 { "The Pareto front" }
            (table.markup())
            p.note {
                @if front.len() > MOST_ROWS { "The first " (MOST_ROWS) " of " (front.len()) " designs. " }
                "Designs that no other design dominates, that is, no other design loses no more, takes no \
                 more of " (record.objectives.join(", "))
                ", and is better in one of these. Intervals are Wilson's 95 % intervals of the accuracy, \
                 or of the agreement if designs are compared by it. All designs are in points.csv."
            }
        }
    }
}

fn sensitivity(record: &ExploreRecord) -> Markup {
    let Some(first) = record.sensitivity.first() else { return html! {} };
    let (heads, rows) = sensitivity_cells(&record.sensitivity, record.area_unit());
    let column = |(index, head): (usize, &String)| match index {
        0 => Column::text(head.as_str()),
        _ if head.is_empty() => Column::number("change"),
        _ => Column::number(head.as_str()),
    };
    let columns = heads.iter().enumerate().map(column);
    let rows = rows.into_iter().map(|cells| cells.into_iter().map(Cell::text).collect());
    let table = Table::new("Sensitivity", columns).rows(rows);
    html! {
            h3 { "Sensitivity to single keys" }
            (table.markup())
            p.note {
                "Design " (first.point) " with a single key doubled and nothing else changed: ports and \
                                         memories do not grow with the array, and twice the clock does not \
                                         speed up the external memory. Exact figures are in \
                                         sensitivity.csv."
            }
    }
}

fn warnings(record: &ExploreRecord) -> Markup {
    let warnings = record.front_warnings();
    if warnings.is_empty() {
        return html! {};
    }
    html! {
            h3 { "Warnings about these designs" }
            ul { @for (warning, rows) in warnings.iter().take(MOST_WARNINGS) {
                li { (warning) " (" (designs(rows)) ")" }
            } }
            @if warnings.len() > MOST_WARNINGS {
                p.note { (warnings.len() - MOST_WARNINGS) " more are in points.csv." }
            }
    }
}

fn designs(rows: &[usize]) -> String {
    let first: Vec<String> = rows.iter().take(MOST_NAMED).map(ToString::to_string).collect();
    let more = if rows.len() > MOST_NAMED {
        format!(" and {} more", rows.len() - MOST_NAMED)
    } else {
        String::new()
    };
    format!("{} {}{more}", number(rows.len() as u64, "design", "designs"), first.join(", "))
}

fn costs(record: &ExploreRecord) -> Markup {
    html! {
        @if !record.costs.is_empty() {
            ul { @for cost in &record.costs { li {
                (cost.model) ": " (cost.source) "."
                @if !cost.leaves_out.is_empty() { " Not included: " (cost.leaves_out) "." }
                @if !cost.energy_without.is_empty() { " Not included in the energy: " (cost.energy_without.join(", ")) "." }
                @if !cost.area_without.is_empty() { " Not included in the area: " (cost.area_without.join(", ")) "." }
            } } }
        }
    }
}
