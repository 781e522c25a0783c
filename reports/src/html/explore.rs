//! The report of an exploration.

use maud::{Markup, html};

use super::{Column, Table, accelerators, page, plots, settings};
use crate::ExploreRecord;
use crate::numbers::{counted, grouped, number, percentage};
use crate::output::{About, Drawn};
use crate::tables::PointRow;

/// Most rows of the table.
const MOST_ROWS: usize = 200;

/// The page.
pub(crate) fn explore(about: &About, record: &ExploreRecord, drawn: &[Drawn<ExploreRecord>]) -> String {
    let title = format!("Designs of {} for {}", record.hw, record.model);
    let subtitle = format!("guardbit explore · {}", counted(record.samples, "sample"));
    let body = html! {
        section {
            h2 { "What came out" }
            ul { @for line in findings(record) { li { (line) } } }
        }
        (settings(about))
        (front(record))
        (costs(record))
        (plots(drawn))
        (accelerators(about))
    };
    page(&title, &subtitle, about, &body)
}

fn findings(record: &ExploreRecord) -> Vec<String> {
    let mut lines = vec![format!(
        "{} of the axes and {} found within the budget: {} simulated, {} share values with those, in {} provably no accumulator \
         overflows.",
        counted(record.points as u64, "point"),
        record.searched,
        record.simulated,
        record.shared,
        record.exact,
    )];
    let front = record.front().len() as u64;
    lines.push(format!("{} {} beaten by no other.", counted(front, "design"), number(front, "is", "are"),));
    if let Some(row) = record.rows.iter().find(|row| row.recommended) {
        let mut figures = vec![counted(row.cycles, "cycle")];
        figures.extend(row.area.map(|area| format!("{area} {} ({})", row.area_unit, row.area_model)));
        figures.extend(row.energy_pj.map(|energy| format!("{energy} pJ ({})", row.energy_model)));
        let budget = record.budget.as_deref().unwrap_or_default();
        lines.push(format!(
            "Within {budget}, design {} ({}; {}) has the least {}: {}. recommended.yaml is its accelerator.",
            row.point,
            row.design,
            row.widths,
            record.objectives.first().map_or("", String::as_str),
            figures.join(", "),
        ));
    }
    lines.extend(record.coverage.sentences().iter().map(|sentence| format!("{sentence}.")));
    lines.extend(record.remarks.iter().map(|remark| format!("{remark}.")));
    lines
}

fn front(record: &ExploreRecord) -> Markup {
    let axes: Vec<&str> = record
        .parameters
        .first()
        .map_or(Vec::new(), |parameters| parameters.iter().map(|one| one.key.as_str()).collect());
    let mut columns = vec![Column::number("design")];
    columns.extend(axes.iter().map(|axis| Column::number(*axis)));
    columns.push(Column::text("widths"));
    columns.extend(
        ["accuracy", "interval", "agreement", "cycles", "us", "utilization", "area", "energy (pJ)"]
            .map(Column::number),
    );
    columns.push(Column::text("within"));
    let share = |share: Option<crate::Fraction>| share.map_or(String::new(), percentage);
    let row = |&index: &usize| {
        let row: &PointRow = &record.rows[index];
        let interval = row.interval_low.zip(row.interval_high);
        let mut cells = vec![row.point.to_string()];
        cells.extend(record.parameters[index].iter().map(|one| one.value.clone()));
        cells.extend([
            row.widths.clone(),
            share(row.accuracy),
            interval
                .map_or(String::new(), |(low, high)| format!("{} to {}", percentage(low), percentage(high))),
            share(row.top1_agreement),
            grouped(row.cycles),
            row.latency_us.to_string(),
            share(row.utilization),
            row.area.map_or(String::new(), |area| format!("{area} {}", row.area_unit)),
            row.energy_pj.map_or(String::new(), |energy| energy.to_string()),
            match (row.recommended, row.within) {
                (true, _) => "recommended".to_owned(),
                (_, Some(true)) => "yes".to_owned(),
                (_, Some(false)) => "no".to_owned(),
                _ => String::new(),
            },
        ]);
        cells
    };
    let front = record.front();
    let shown = &front[..front.len().min(MOST_ROWS)];
    let table = Table { columns, rows: shown.iter().map(row).collect() };
    html! {
        section {
            h2 { "The Pareto front" }
            (table.markup())
            p.note {
                @if front.len() > MOST_ROWS { "The first " (MOST_ROWS) " of " (front.len()) " designs. " }
                "Designs that no other beats: none loses no more, takes no more of " (record.objectives.join(", "))
                ", and less of something. Intervals are Wilson's, of 95 %, of the accuracy or the agreement, whichever designs are compared by. All \
                 designs are in points.csv."
            }
        }
    }
}

fn costs(record: &ExploreRecord) -> Markup {
    html! {
        section {
            h2 { "Cost models" }
            ul { @for cost in &record.costs { li {
                (cost.model) ": " (cost.source) "."
                @if !cost.leaves_out.is_empty() { " Leaves out " (cost.leaves_out) "." }
                @if !cost.energy_without.is_empty() { " Energies are without " (cost.energy_without.join(", ")) "." }
                @if !cost.area_without.is_empty() { " Areas are without " (cost.area_without.join(", ")) "." }
            } } }
        }
    }
}
