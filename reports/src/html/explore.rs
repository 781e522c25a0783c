//! HTML report of an exploration.

use maud::{Markup, html};

use super::{Column, Table, accelerators, page, plots, settings};
use crate::ExploreRecord;
use crate::about::About;
use crate::numbers::{counted, figure, number};
use crate::plots::Drawn;
use crate::tables::PointRow;
use crate::text::{front_columns, sensitivity_cells};

/// Greatest number of rows in the table.
const MOST_ROWS: usize = 200;
/// Greatest number of warnings, and of designs that a warning names.
const MOST_WARNINGS: usize = 20;
const MOST_NAMED: usize = 10;

/// Returns the page.
pub(crate) fn explore(about: &About, record: &ExploreRecord, drawn: &[Drawn<ExploreRecord>]) -> String {
    let title = format!("Designs of {} for {}", record.hw, record.model);
    let subtitle = format!("guardbit explore · {}", counted(record.samples, "sample"));
    let body = html! {
        section {
            h2 { "Results" }
            ul { @for line in findings(record) { li { (line) } } }
        }
        (settings(about))
        (front(record))
        (sensitivity(record))
        (warnings(record))
        (costs(record))
        (plots(drawn))
        (accelerators(about))
    };
    page(&title, &subtitle, about, &body)
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
    lines.extend(record.coverage.sentences().iter().map(|sentence| format!("{sentence}.")));
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
        let mut cells = vec![row.point.to_string()];
        cells.extend(record.parameters[index].iter().map(|one| one.value.clone()));
        cells.extend(own.iter().map(|(_, cell)| cell(row)));
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
        _ => Column::number(head.as_str()),
    };
    let columns = heads.iter().enumerate().map(column).collect();
    let table = Table { columns, rows };
    html! {
        section {
            h2 { "Sensitivity to single keys" }
            (table.markup())
            p.note {
                "Design " (first.point) " with a single key doubled and nothing else changed: ports and \
                                         memories do not grow with the array, and twice the clock does not \
                                         speed up the external memory. Exact figures are in \
                                         sensitivity.csv."
            }
        }
    }
}

fn warnings(record: &ExploreRecord) -> Markup {
    let warnings = record.front_warnings();
    if warnings.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { "Warnings about these designs" }
            ul { @for (warning, rows) in warnings.iter().take(MOST_WARNINGS) {
                li { (warning) " (" (designs(rows)) ")" }
            } }
            @if warnings.len() > MOST_WARNINGS {
                p.note { (warnings.len() - MOST_WARNINGS) " more are in points.csv." }
            }
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
        section {
            h2 { "Cost models" }
            ul { @for cost in &record.costs { li {
                (cost.model) ": " (cost.source) "."
                @if !cost.leaves_out.is_empty() { " Not included: " (cost.leaves_out) "." }
                @if !cost.energy_without.is_empty() { " Not included in the energy: " (cost.energy_without.join(", ")) "." }
                @if !cost.area_without.is_empty() { " Not included in the area: " (cost.area_without.join(", ")) "." }
            } } }
        }
    }
}
