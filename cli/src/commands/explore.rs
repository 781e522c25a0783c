//! `guardbit explore`.

use std::process::ExitCode;

use guardbit_reports::{
    ExploreRecord, PointRow, SensitivityRow, explore_answer, explore_text, grouped, sensitivity_text,
};
use serde::Serialize;

use super::{existing, note_random, warn_of_float};
use crate::args::{Explore, Given, Global};
use crate::diagnostic::Failure;
use crate::output::{print_json, print_results};
use crate::progress::Bar;
use crate::results::Place;
use crate::terminal::view;

pub fn explore(args: &Given<Explore>, global: &Global) -> Result<ExitCode, Failure> {
    let bar = Bar::new(global.quiet);
    let request = args.explore_request()?;
    note_random(args, &request.settings, &bar);
    let place = Place::new(args, global)?;
    let record = guardbit_study::explore(&request, place.folder(), existing(global), &bar)?;
    drop(bar);
    if global.json {
        let front = record.front().into_iter().map(|row| &record.rows[row]).collect();
        print_json(&Summary { record: &record, front, sensitivity: &record.sensitivity })?;
    } else {
        let view = view(args.all);
        let tables = [explore_text(&record, &view), sensitivity_text(&record, &view)];
        print_results(&tables, &outcome_text(&record), &explore_answer(&record))?;
    }
    place.finish();
    Ok(warn_of_float(record.coverage.quantized_weights_in_float(), args.strict, global))
}

#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    record: &'a ExploreRecord,
    front: Vec<&'a PointRow>,
    sensitivity: &'a [SensitivityRow],
}

/// Maximum number of warnings, and of points listed in a warning.
const MOST_WARNINGS: usize = 8;
const MOST_NAMED: usize = 6;

/// Returns warnings about the designs of the front.
fn warnings_text(record: &ExploreRecord) -> Vec<String> {
    let warnings = record.front_warnings();
    let line = |(warning, rows): &(&str, Vec<usize>)| {
        let first: Vec<String> = rows.iter().take(MOST_NAMED).map(ToString::to_string).collect();
        let more = if rows.len() > MOST_NAMED {
            format!(" and {} more", rows.len() - MOST_NAMED)
        } else {
            String::new()
        };
        format!("warning: point {}{more}: {warning}\n", first.join(", "))
    };
    let mut lines: Vec<String> = warnings.iter().take(MOST_WARNINGS).map(line).collect();
    if warnings.len() > MOST_WARNINGS {
        lines.push(format!("{} more warnings are in points.csv\n", warnings.len() - MOST_WARNINGS));
    }
    lines
}

fn outcome_text(record: &ExploreRecord) -> String {
    let count = |count: usize| Some(grouped(count as u64)).filter(|_| count > 0);
    let mut lines = vec![("points of the axes", grouped(record.points as u64))];
    lines.extend(count(record.searched).map(|found| ("found by the budget", found)));
    lines.push(("simulated", grouped(record.simulated as u64)));
    let spared = [(record.shared, "compute the same values"), (record.exact, "cannot overflow")];
    let spared = spared.into_iter().filter_map(|(points, why)| Some(format!("{} {why}", count(points)?)));
    let spared = spared.collect::<Vec<_>>().join(", ");
    lines.extend(Some(("  not simulated", spared)).filter(|(_, spared)| !spared.is_empty()));
    let coverage = &record.coverage;
    lines.extend((coverage.layers > 0).then(|| ("MACs on hardware", coverage.summary())));
    for cost in &record.costs {
        let without = |parts: &[String]| match parts {
            [] => String::new(),
            parts => format!(" without {}", parts.join(", ")),
        };
        if cost.tells_energy {
            lines.push(("energy (pJ)", format!("{}{}", cost.model, without(&cost.energy_without))));
        }
        if cost.tells_area {
            let unit =
                record.rows.iter().find_map(|row| row.area.map(|_| row.area_unit.as_str())).unwrap_or("");
            lines.push(("area", format!("{unit}, {}{}", cost.model, without(&cost.area_without))));
        }
    }
    if let Some(row) = record.rows.iter().find(|row| row.recommended) {
        lines.push((
            "recommended",
            format!("point {}: {}, {} cycles", row.point, row.widths, grouped(row.cycles)),
        ));
    }
    let lines = lines.iter().map(|(name, value)| format!("{name:<20} {value}\n"));
    let remarks = coverage.host_sentences();
    let notes = remarks.iter().chain(&record.remarks).map(|remark| format!("note: {remark}\n"));
    lines.chain(notes).chain(warnings_text(record)).collect()
}
