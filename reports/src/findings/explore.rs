//! What an exploration found, in words.

use crate::ExploreRecord;
use crate::numbers::{counted, figure, grouped, number, percentage};
use crate::plots::quality;
use crate::tables::PointRow;

/// Returns the recommended design.
pub(crate) fn recommended(record: &ExploreRecord) -> Option<&PointRow> {
    record.rows.iter().find(|row| row.recommended)
}

/// Returns the design to build, or the one that loses the least.
pub fn explore_answer(record: &ExploreRecord) -> String {
    let front = record.front();
    match recommended(record) {
        Some(row) => format!(
            "Build design {}: within {}, it has the lowest {} ({}).",
            row.point,
            record.budget.as_deref().unwrap_or_default(),
            record.objectives.first().map_or("", String::as_str),
            takes(record, row).join(", "),
        ),
        None => {
            let count = front.len() as u64;
            let best = best_first(record).first().map_or(String::new(), |&row| {
                let row = &record.rows[row];
                format!(" Design {} loses the least: {}.", row.point, takes(record, row).join(", "))
            });
            format!(
                "{} of {} {} not dominated by any other.{best}",
                grouped(count),
                counted(record.rows.len() as u64, "design"),
                number(count, "is", "are")
            )
        }
    }
}

/// Returns the rows of the front: the recommended design, then those that lose the least, of these those that take the
/// least first.
pub(crate) fn best_first(record: &ExploreRecord) -> Vec<usize> {
    let mut front = record.front();
    let good = if record.quality == "output_mismatch" { -1.0 } else { 1.0 };
    let value =
        |row: usize| quality(record, &record.rows[row]).map_or(f64::NEG_INFINITY, |[value, ..]| good * value);
    front.sort_by(|&a, &b| {
        record.rows[b].recommended.cmp(&record.rows[a].recommended).then(value(b).total_cmp(&value(a)))
    });
    front
}

/// Returns what a design takes, objective by objective, and its quality.
pub(crate) fn takes(record: &ExploreRecord, row: &PointRow) -> Vec<String> {
    let one = |objective: &String| {
        let value = row.takes(objective)?;
        Some(match objective.as_str() {
            "cycles" => counted(row.cycles, "cycle"),
            "latency" => format!("{} \u{b5}s", figure(value)),
            "area" => format!("{} {}", figure(value), row.area_unit),
            "energy" => format!("{} \u{b5}J", figure(value / 1e6)),
            _ => format!("{objective} {}", figure(value)),
        })
    };
    let mut all: Vec<String> = record.objectives.iter().filter_map(one).collect();
    all.extend(quality_text(record, row));
    all
}

fn quality_text(record: &ExploreRecord, row: &PointRow) -> Option<String> {
    match record.quality.as_str() {
        "accuracy" => row.accuracy.map(|share| format!("accuracy {}", percentage(share))),
        "top1_agreement" => row.top1_agreement.map(|share| format!("agreement {}", percentage(share))),
        _ => row.output_mismatch.map(|codes| format!("{} differ", counted(codes, "output code"))),
    }
}
