//! Plot of the accuracy over one axis, with a curve for every combination of the other axes.

use super::NO_POINTS;
use super::dimensions::{Dimension, NOTHING_CLASSIFIED, NOTHING_VARIED, Shown, dimensions};
use std::collections::HashMap;

use crate::numbers::counted;
use crate::plots::kit::{
    Area, Axis, Content, DrawError, Entry, Extremes, GREY, Legend, Mark, Scale, Sheet, category_look, chart,
    figure,
};
use crate::plots::{Drawing, Plot};
use crate::{Decibel, Fraction, PointRecord};

pub(super) const PLOT: Plot<[PointRecord]> = Plot {
    name: "overlay",
    title: "Accuracy over an axis, others overlaid",
    caption: "The points of the heat map as curves: one axis of numbers along the plot, one curve for \
              every combination of the others, slightly shifted so that curves do not hide each other. Bars \
              are Wilson's 95 % intervals, the dashed line is the exact network.",
    draw,
};

/// Greatest number of curves that can be distinguished.
const CURVES: usize = 8;
/// Greatest number of points of a curve.
const POINTS: usize = 100;

/// Curve: the values that identify it, and its points by value of the axis.
type Curve<'a> = (Vec<&'a str>, Vec<(f64, &'a PointRecord)>);

fn draw(points: &[PointRecord], sheet: Sheet) -> Result<Drawing, DrawError> {
    let Some(first) = points.first() else { return Ok(Drawing::Nothing(NO_POINTS.into())) };
    if first.parameters.is_empty() {
        return Ok(Drawing::Nothing(NOTHING_VARIED.into()));
    }
    let Some(shown) = Shown::of(points) else { return Ok(Drawing::Nothing(NOTHING_CLASSIFIED.into())) };
    let all = dimensions(points);
    let numbered = (0..all.len()).filter_map(|at| Some((at, all[at].numbers()?)));
    let Some((along, numbers)) = numbered.max_by_key(|(at, _)| all[*at].values().len()) else {
        return Ok(Drawing::Nothing("No axis has numbers.".into()));
    };
    let curves = curves(points, &all, along, &numbers);
    if curves.len() > CURVES {
        let count = curves.len();
        return Ok(Drawing::Nothing(format!("{count} curves are too many for one plot: see the heat map.")));
    }
    let badness = |(_, point): &(f64, &PointRecord)| -shown.share(point).map_or(0.0, Fraction::value);
    let mut note = None;
    let curves: Vec<Curve<'_>> = curves
        .into_iter()
        .map(|(label, points)| {
            let points = Extremes::of(points, POINTS, badness);
            note = note.take().or_else(|| points.left_out("points of each curve", shown.name()));
            (label, points.shown)
        })
        .collect();
    let name = |label: &[&str]| if label.is_empty() { all[along].short_name() } else { label.join(" · ") };
    let entry =
        |(at, (label, _)): (usize, &Curve<'_>)| Entry::new(Mark::Series(category_look(at)), name(label));
    let exact = shown.exact(points);
    let reference =
        (!exact.is_empty()).then(|| Entry::new(Mark::Dashes(GREY), "accuracy of the exact network"));
    let legend = Legend::new(curves.iter().enumerate().map(entry).chain(reference)).content();
    let others: Vec<String> =
        (0..all.len()).filter(|&at| at != along).map(|at| all[at].short_name()).collect();
    let count = counted(points.len() as u64, "point");
    let subtitle = match others.join(" · ").as_str() {
        "" => count,
        others => format!("{count} · curves: {others}"),
    };
    let panel =
        |area: &Area<'_>, value: &Value| draw_panel(area, &all[along], &numbers, &curves, (value, &exact));
    // Floating-point accumulators lose precision long before accuracy.
    let sqnr = points.iter().any(|point| !point.aligned.is_empty()).then_some(Value::Sqnr);
    let values: Vec<Value> = std::iter::once(Value::Share(shown)).chain(sqnr).collect();
    let columns = values.len();
    let content = std::iter::once(legend)
        .chain(sheet.panels(values, columns, 380, panel))
        .chain(note.map(Content::note));
    let content: Vec<Content<'_>> = content.collect();
    Ok(Drawing::Figure(figure(sheet, &subtitle, &content)?))
}

/// What a panel shows.
enum Value {
    /// Accuracy or agreement.
    Share(Shown),
    /// SQNR of the outputs.
    Sqnr,
}

impl Value {
    fn of(&self, point: &PointRecord) -> Option<f64> {
        match self {
            Self::Share(shown) => shown.share(point).map(Fraction::value),
            Self::Sqnr => point.summary.output_sqnr_db.map(Decibel::value),
        }
    }
}

/// Groups the points by every dimension except `along`, and sorts each group by that dimension's numbers.
fn curves<'a>(
    points: &'a [PointRecord],
    all: &'a [Dimension<'_>],
    along: usize,
    numbers: &[f64],
) -> Vec<Curve<'a>> {
    let mut curves: Vec<Curve<'_>> = Vec::new();
    let mut known = HashMap::new();
    for (index, point) in points.iter().enumerate() {
        let label: Vec<&str> =
            (0..all.len()).filter(|&at| at != along).map(|at| all[at].of[index].as_str()).collect();
        let at = *known.entry(label).or_insert_with_key(|label: &Vec<&str>| {
            curves.push((label.clone(), Vec::new()));
            curves.len() - 1
        });
        curves[at].1.push((numbers[index], point));
    }
    for (_, points) in &mut curves {
        points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    }
    curves
}

fn draw_panel(
    area: &Area<'_>,
    along: &Dimension<'_>,
    numbers: &[f64],
    curves: &[Curve<'_>],
    (value, exact): (&Value, &[Fraction]),
) -> Result<(), DrawError> {
    let (low, high) = numbers.iter().fold((f64::MAX, f64::MIN), |(low, high), &x| (low.min(x), high.max(x)));
    let whole = numbers.iter().all(|x| x.fract() == 0.0 && (0.0..=1e4).contains(x)) && high - low <= 200.0;
    let scale = if whole { Scale::whole(low as u32, high as u32, 20) } else { Scale::between(low, high) };
    let x = Axis::new(along.axis(), scale);
    let y = match value {
        Value::Share(shown) => Axis::new(shown.axis(), Scale::percent()),
        Value::Sqnr => {
            let all = curves.iter().flat_map(|(_, points)| points);
            Axis::new("output SQNR (dB)", Scale::decibel(all.filter_map(|(_, point)| value.of(point))))
        }
    };
    let name = match value {
        Value::Share(shown) => shown.name(),
        Value::Sqnr => "output SQNR against the exact network",
    };
    let mut chart = chart(area, name, "", &x, &y)?;
    let is_share = matches!(value, Value::Share(_));
    for exact in exact.iter().filter(|_| is_share) {
        chart.level(exact.value(), GREY)?;
    }
    let apart = apart(numbers, high - low);
    for (at, (_, points)) in curves.iter().enumerate() {
        let look = category_look(at);
        let aside = |x: f64| x + apart * (at as f64 - (curves.len() - 1) as f64 / 2.0);
        for (x, point) in points {
            if let Value::Share(shown) = value
                && let Some(ends) = shown.ends(point)
            {
                chart.whisker(aside(*x), ends, look.color)?;
            }
        }
        let place = |(x, point): &(f64, &PointRecord)| Some((aside(*x), value.of(point)?));
        let curve: Vec<(f64, f64)> = points.iter().filter_map(place).collect();
        chart.line(&curve, look)?;
    }
    Ok(())
}

/// Returns the horizontal offset between curves that separates points and bars of equal height: a fraction of
/// the least step between two numbers. `span` is the distance between the first and the last number.
fn apart(numbers: &[f64], span: f64) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let steps = sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|&step| step > 0.0);
    steps.fold(span, f64::min).min(span / 10.0) * 0.06
}
