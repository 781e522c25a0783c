//! Plot of points of finished results: a column against an axis, with a curve for every combination of others.

use crate::numbers::counted;
use crate::plots::kit::{
    Area, Axis, Content, DrawError, Entry, GREY, Legend, Mark, Scale, Sheet, category_look, chart, figure,
};
use crate::plots::sweep::axis_title;
use crate::plots::{Drawing, Plot};
use crate::{CurvePoint, CurvesRecord};

/// Plot of points of finished results.
pub const CURVE_PLOT: Plot<CurvesRecord> = Plot {
    name: "curves",
    title: "Points of finished results",
    caption: "A column of the tables against an axis, one curve per combination of the others, slightly shifted \
              so that curves do not hide each other. Bars are Wilson's 95 % intervals. The dashed line is the exact \
              network.",
    draw,
};

/// Greatest number of curves that can be distinguished.
pub const MOST_CURVES: usize = 8;

fn draw(record: &CurvesRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    if record.points.is_empty() {
        return Ok(Drawing::Nothing("No point has this figure.".into()));
    }
    let curves = curves(record);
    let named = curves.iter().any(|(name, _)| !name.is_empty());
    let entries = curves.iter().enumerate().filter(|_| named);
    let entries = entries.map(|(at, (name, _))| Entry::new(Mark::Series(category_look(at)), *name));
    let exact = Entry::new(Mark::Dashes(GREY), "accuracy of the exact network");
    let exact = (!record.exact.is_empty()).then_some(exact);
    let entries: Vec<Entry> = entries.chain(exact).collect();
    let by =
        if record.by.is_empty() { String::new() } else { format!(" · curves: {}", record.by.join(", ")) };
    let points = counted(record.points.len() as u64, "point");
    let subtitle = format!("{} against {}{by} · {points}", record.y, record.x);
    let legend = (!entries.is_empty()).then(|| Legend::new(entries).content());
    let panel = Content::panel(380, |area| draw_panel(area, record, &curves));
    let content: Vec<Content<'_>> = legend.into_iter().chain([panel]).collect();
    Ok(Drawing::Figure(figure(sheet, &subtitle, &content)?))
}

/// Curve: its name, and its points.
type Curve<'a> = (&'a str, Vec<&'a CurvePoint>);

fn curves(record: &CurvesRecord) -> Vec<Curve<'_>> {
    let mut curves: Vec<Curve<'_>> = Vec::new();
    for point in &record.points {
        match curves.iter_mut().find(|(name, _)| *name == point.curve) {
            Some((_, points)) => points.push(point),
            None => curves.push((&point.curve, vec![point])),
        }
    }
    curves
}

fn draw_panel(area: &Area<'_>, record: &CurvesRecord, curves: &[Curve<'_>]) -> Result<(), DrawError> {
    let (scale, places) = along(record);
    let x = Axis::new(axis_title(&record.x), scale);
    let y = Axis::new(value_title(record), up(record));
    let mut chart = chart(area, "", "", &x, &y)?;
    for &exact in &record.exact {
        chart.level(exact, GREY)?;
    }
    let mut sorted = places.clone();
    sorted.sort_by(f64::total_cmp);
    let least = sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0.0);
    let apart = if curves.len() > 1 { 0.05 * least.fold(f64::INFINITY, f64::min).min(1.0) } else { 0.0 };
    let mut at = record.points.iter().zip(places);
    let mut placed: Vec<Vec<(f64, &CurvePoint)>> = curves.iter().map(|_| Vec::new()).collect();
    for (point, place) in at.by_ref() {
        if let Some(curve) = curves.iter().position(|(name, _)| *name == point.curve) {
            let shift = apart * (curve as f64 - (curves.len() - 1) as f64 / 2.0);
            placed[curve].push((place + shift, point));
        }
    }
    for (curve, points) in placed.iter_mut().enumerate() {
        points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let look = category_look(curve);
        for (place, point) in points.iter() {
            if let Some(ends) = point.interval {
                chart.whisker(*place, ends, look.color)?;
            }
        }
        let line: Vec<(f64, f64)> = points.iter().map(|(place, point)| (*place, point.y)).collect();
        // Between categories there is nothing.
        match x_is_number(record) {
            true => chart.line(&line, look)?,
            false => chart.points(&line, look)?,
        }
    }
    Ok(())
}

fn x_is_number(record: &CurvesRecord) -> bool {
    record.points.iter().all(|point| number(&point.x).is_some())
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Returns the scale of the x axis, and the position of every point.
fn along(record: &CurvesRecord) -> (Scale, Vec<f64>) {
    let numbers: Option<Vec<f64>> = record.points.iter().map(|point| number(&point.x)).collect();
    if let Some(numbers) = numbers {
        let (low, high) = ends(numbers.iter().copied());
        let whole =
            numbers.iter().all(|x| x.fract() == 0.0 && (0.0..=1e4).contains(x)) && high - low <= 200.0;
        let scale = if whole { Scale::whole(low as u32, high as u32, 20) } else { Scale::between(low, high) };
        return (scale, numbers);
    }
    let mut names: Vec<&str> = Vec::new();
    for point in &record.points {
        if !names.contains(&point.x.as_str()) {
            names.push(&point.x);
        }
    }
    let place = |point: &CurvePoint| names.iter().position(|name| *name == point.x).unwrap_or(0) as f64;
    (Scale::categories(&names), record.points.iter().map(place).collect())
}

/// Returns the scale of the y axis: of shares, of counts over several decades, or linear.
fn up(record: &CurvesRecord) -> Scale {
    let all = || {
        let interval = |point: &CurvePoint| point.interval.map_or([point.y; 2], |(low, high)| [low, high]);
        record.points.iter().flat_map(interval).chain(record.exact.iter().copied())
    };
    let (low, high) = ends(all());
    if record.is_share && low >= 0.0 && high <= 1.0 {
        return Scale::percent_from(low);
    }
    let counts = all().all(|y| y >= 0.0 && y.fract() == 0.0 && y < 1e15);
    match low {
        _ if counts && high >= 1000.0 && high > 50.0 * low => Scale::log_count(all().map(|y| y as u64)),
        low if low >= 0.0 && high > 3.0 * low => Scale::from_zero(high),
        low => Scale::between(low, high),
    }
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

fn value_title(record: &CurvesRecord) -> String {
    let name = match record.y.as_str() {
        "accuracy" => "top-1 accuracy".into(),
        "top1_agreement" => "top-1 agreement".into(),
        "accuracy_exact" => "top-1 accuracy of the exact network".into(),
        other => other.replace('_', " "),
    };
    if record.unit.is_empty() { name } else { format!("{name} ({})", record.unit) }
}
