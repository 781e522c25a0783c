//! Plot of the quality that designs lose against their cost.

use super::quality;
use crate::numbers::counted;
use crate::plots::kit::{
    Axis, Content, DrawError, Entry, Extremes, GREY, INK, Legend, Look, Mark, SILVER, Scale, Sheet,
    VERMILLION, category_look, chart, figure, si,
};
use crate::plots::{Drawing, Plot};
use crate::tables::PointRow;
use crate::{ExploreRecord, Fraction};

pub(super) const PLOT: Plot<ExploreRecord> = Plot {
    name: "pareto",
    title: "Accuracy of designs against their cost",
    caption: "Every design, one panel per objective: accuracy (or agreement with the exact network, or \
              differing output codes) against cycles, area and energy. Designs on the Pareto front of all \
              objectives together are filled; bars are their Wilson's 95 % intervals. The recommended \
              design shows its number; the dashed line is the exact network.",
    draw,
};

/// Greatest number of designs shown on the front, and off the front.
const FRONT: usize = 400;
const OTHERS: usize = 1000;

fn draw(record: &ExploreRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    let seen: Vec<(&PointRow, [f64; 3])> =
        record.rows.iter().filter_map(|row| Some((row, quality(record, row)?))).collect();
    if seen.is_empty() {
        return Ok(Drawing::Nothing(
            "No design ran to its end: an overflow was trapped in each of them.".into(),
        ));
    }
    let (front, beside): (Vec<_>, Vec<_>) =
        seen.into_iter().partition(|(row, _)| row.front || row.recommended);
    let bad = if record.quality == "output_mismatch" { 1.0 } else { -1.0 };
    let beside = Extremes::of(beside, OTHERS, |(_, quality)| bad * quality[0]);
    let note = beside.note("other designs", "what they lose");
    let front = Extremes::of(
        front,
        FRONT,
        |(row, quality)| if row.recommended { f64::MAX } else { bad * quality[0] },
    );
    let front_note = front.note("designs on the Pareto front", "what they lose");
    let mut seen: Vec<(&PointRow, [f64; 3])> = front.shown.into_iter().chain(beside.shown).collect();
    seen.sort_by_key(|(row, _)| row.point);
    let contents: Vec<Content<'_>> = record
        .objectives
        .iter()
        .filter_map(|objective| {
            let points: Vec<(f64, &PointRow, [f64; 3])> = seen
                .iter()
                .filter_map(|(row, quality)| Some((row.takes(objective)?, *row, *quality)))
                .collect();
            (!points.is_empty()).then(|| panel(record, objective, points))
        })
        .collect();
    let mut entries = vec![
        Entry::new(Mark::Marker(others()), "design"),
        Entry::new(Mark::Marker(best()), "design on the Pareto front"),
    ];
    if record.rows.iter().any(|row| row.recommended) {
        entries.push(Entry::new(Mark::Marker(chosen()), "recommended"));
    }
    if exact(record).is_some() {
        entries.push(Entry::new(Mark::Dashes(GREY), "accuracy of the exact network"));
    }
    let subtitle =
        format!("{} on {} · {}", record.model, record.hw, counted(record.rows.len() as u64, "design"));
    let legend = Legend::new(entries).content();
    let notes = [front_note, note].into_iter().flatten();
    let all: Vec<Content<'_>> = std::iter::once(legend).chain(contents).chain(notes).collect();
    Ok(Drawing::Figure(figure(sheet, &subtitle, &all)?))
}

/// Returns the accuracy of the exact network, if designs are compared by accuracy.
fn exact(record: &ExploreRecord) -> Option<Fraction> {
    let known = record.rows.iter().find_map(|row| row.accuracy_exact);
    known.filter(|_| record.quality == "accuracy")
}

fn others() -> Look {
    Look { color: SILVER, ..category_look(0) }
}

fn best() -> Look {
    category_look(0)
}

fn chosen() -> Look {
    Look { color: VERMILLION, ..category_look(3) }
}

fn panel<'a>(
    record: &'a ExploreRecord,
    objective: &'a str,
    points: Vec<(f64, &'a PointRow, [f64; 3])>,
) -> Content<'a> {
    let values = || points.iter().map(|(value, ..)| *value);
    let (low, high) = values().fold((f64::INFINITY, 0.0f64), |(low, high), v| (low.min(v), high.max(v)));
    let scale = if high > 8.0 * low { Scale::from_zero(high) } else { Scale::between(low, high) };
    let first = points[0].1;
    let title = match objective {
        "cycles" => "cycles of one inference".to_owned(),
        "latency" => "time of one inference (\u{b5}s)".to_owned(),
        "area" => format!("area ({}), {}", first.area_unit, first.area_model),
        _ => format!("energy of one inference (pJ), {}", first.energy_model),
    };
    let x = Axis::new(title, scale);
    let exact = exact(record);
    let most = points.iter().map(|(_, _, [value, ..])| *value).fold(0.0, f64::max);
    let y = match record.quality.as_str() {
        "accuracy" => Axis::new("top-1 accuracy", Scale::percent()),
        "top1_agreement" => Axis::new("top-1 agreement", Scale::percent()),
        _ => Axis::new("output codes that differ", Scale::from_zero(most)),
    };
    Content::panel(300, move |area| {
        let mut chart = chart(area, "", "", &x, &y)?;
        if let Some(exact) = exact {
            chart.level(exact.value(), GREY)?;
        }
        let pick = |is: fn(&PointRow) -> bool| {
            points.iter().filter(move |(_, row, _)| is(row)).map(|(value, _, quality)| (*value, quality[0]))
        };
        let others: Vec<(f64, f64)> = pick(|row| !row.front && !row.recommended).collect();
        chart.points(&others, self::others())?;
        for (value, _, [_, low, high]) in points.iter().filter(|(_, row, _)| row.front) {
            chart.outline(&[(*value, *low), (*value, *high)], best().color)?;
        }
        let front: Vec<(f64, f64)> = pick(|row| row.front && !row.recommended).collect();
        chart.points(&front, best())?;
        let recommended: Vec<(f64, f64)> = pick(|row| row.recommended).collect();
        chart.points(&recommended, chosen())?;
        let place = |value: f64, quality: &[f64; 3]| (x.scale.at(value), y.scale.at(quality[0]));
        let recommended = points.iter().filter(|(_, row, _)| row.recommended);
        let note = |(value, row, quality): &(f64, &PointRow, [f64; 3])| {
            (format!("{} ({})", row.point, si(*value)), place(*value, quality))
        };
        let notes: Vec<_> = recommended.map(note).collect();
        let markers: Vec<_> = points.iter().map(|(value, _, quality)| place(*value, quality)).collect();
        chart.notes(&notes, &markers, INK)
    })
}
