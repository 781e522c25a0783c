//! HTML report of a comparison of finished results.

use maud::{Markup, html};

use super::page::{Front, Page, Section, note, sentences};
use super::plot::{Axis, Kind, Point, Row, Series, Spec};
use super::table::{Cell, Column, Table, layer};
use super::words;
use crate::about::About;
use crate::findings::{Measure, Unit, compare_answer, index, label, lead, ranked, row_name, tally, value};
use crate::numbers::{counted, grouped};
use crate::plots::Extremes;
use crate::{Compared, ComparedPoint, Comparison, Fraction};

/// Greatest number of rows of a plot, and of values of all rows of the table.
const ROWS: usize = 60;
const VALUES: usize = 40_000;
/// Greatest number of points of all curves of a plot.
const POINTS: usize = 4000;
/// Number of rows in the list and in the picture.
const LISTED: usize = 3;
const DRAWN: usize = 16;
/// Overall figures of which the first screen shows those that are known.
const KEY: [&str; 8] = [
    "accuracy",
    "top1_agreement",
    "auc",
    "mse",
    "output_mismatch",
    "latency_us",
    "throughput_per_s",
    "energy_pj",
];

/// Returns the page.
pub(crate) fn compare(about: &About, compared: &Comparison) -> String {
    let names = &compared.names;
    let row = row_name(compared);
    let worst = ranked(compared);
    let figures = lead(compared).map_or_else(Markup::default, |(_, first)| others(compared, first));
    let sections = vec![
        Section::new("figures", "What gets better or worse overall?", [totals(compared)]),
        Section::new("where", "Where do they differ?", [figures, points(compared)]),
        Section::new("what", "What was compared?", [settings(compared), unmatched(compared), words(false)]),
    ];
    Page {
        title: format!("Comparison of {}", names.join(", ")),
        subtitle: format!(
            "guardbit compare · guardbit {} · {} · {} in all of them",
            compared.command,
            counted(names.len() as u64, "folder"),
            counted(compared.points.len() as u64, row)
        ),
        about,
        front: Front {
            answer: compare_answer(compared),
            figures: key_figures(compared),
            picture: picture(compared, &worst),
            worst: list(compared, &worst),
        },
        sections,
        data: Markup::default(),
    }
    .document()
}

/// Returns the key figures of all folders.
fn key_figures(compared: &Comparison) -> Vec<(&'static str, String, String)> {
    let all = || compared.totals.iter().chain(&compared.equal_totals);
    let card = |row: &Compared| {
        let measure = Measure::of(&row.name)?;
        let values: Vec<f64> = row.values.iter().map(|text| value(text)).collect::<Option<_>>()?;
        let named = compared.names.iter().zip(&values);
        let each = named.map(|(name, value)| format!("{name}: {}", measure.text(*value)));
        Some(match values.as_slice() {
            [first, other] => {
                let sign = if other < first { "\u{2212}" } else { "+" };
                let change = if first == other {
                    "equal".into()
                } else {
                    sign.to_owned() + &measure.difference(other - first)
                };
                (measure.words, change, each.collect::<Vec<_>>().join(", "))
            }
            _ => {
                let ends = [f64::min, f64::max].map(|of| values.iter().copied().reduce(of).unwrap_or(0.0));
                let [low, high] = ends.map(|value| measure.text(value));
                let text = if low == high { low } else { format!("{low} to {high}") };
                (measure.words, text, each.take(4).collect::<Vec<_>>().join(", "))
            }
        })
    };
    let keys = KEY.iter().filter_map(|key| all().find(|row| row.name.split(" (").next() == Some(key)));
    let cards: Vec<_> = keys.filter_map(card).collect();
    if cards.is_empty() { tallies(compared) } else { cards }
}

/// Returns how many rows of all further folders are worse and better than those of the first.
fn tallies(compared: &Comparison) -> Vec<(&'static str, String, String)> {
    let Some((measure, _)) = lead(compared) else { return Vec::new() };
    let all: Vec<_> = (1..compared.names.len()).filter_map(|folder| tally(compared, folder)).collect();
    let side = |side: usize| {
        let own = all.iter().map(|(sides, _)| sides[side]);
        own.fold((0, 0.0), |(count, most): (u64, f64), (more, size)| (count + more, most.max(size)))
    };
    let rows: u64 = all.iter().map(|(_, rows)| rows).sum();
    let [worse, better] = [side(0), side(1)];
    let card = |name, (count, most): (u64, f64)| {
        let most = if count > 0 { format!("by at most {}", measure.difference(most)) } else { String::new() };
        (name, grouped(count), most)
    };
    vec![
        card("Worse", worse),
        card("Better", better),
        ("Equal", grouped(rows - worse.0 - better.0), measure.words.to_owned()),
    ]
}

fn list(compared: &Comparison, worst: &[(f64, &ComparedPoint)]) -> (&'static str, Vec<Markup>) {
    let heading = match (worst.first(), row_name(compared)) {
        (Some((worse, _)), "layer" | "level") if *worse > 0.0 => "Layers that get worse most",
        (_, "layer" | "level") => "Layers that get better most",
        (Some((worse, _)), "design") if *worse > 0.0 => "Designs that get worse most",
        (_, "design") => "Designs that get better most",
        (Some((worse, _)), _) if *worse > 0.0 => "Points that get worse most",
        _ => "Points that get better most",
    };
    let Some((first, _)) = lead(compared) else { return (heading, Vec::new()) };
    let item = |(_, point): &(f64, &ComparedPoint)| {
        let differ = compared.columns.iter().zip(&point.values).filter_map(|(column, values)| {
            let measure = Measure::of(column)?;
            let values: Vec<f64> = values.iter().map(|text| value(text)).collect::<Option<_>>()?;
            let texts: Vec<String> = values.iter().map(|value| measure.text(*value)).collect();
            values.windows(2).any(|pair| pair[0] != pair[1]).then_some((measure, texts))
        });
        let mut differ: Vec<_> = differ.collect();
        differ.sort_by_key(|(measure, _)| measure.column != first.column);
        let parts = differ.iter().take(3).map(|(measure, texts)| match texts.as_slice() {
            [before, after] => format!("{} {after} instead of {before}", measure.words),
            texts => format!("{} {}", measure.words, texts.join(", ")),
        });
        html! { (name(compared, point)) ": " (parts.collect::<Vec<_>>().join("; ")) "." }
    };
    (heading, worst.iter().take(LISTED).map(item).collect())
}

fn name(compared: &Comparison, point: &ComparedPoint) -> Markup {
    match index(compared, point) {
        Some(index) => layer(index, label(compared, point)),
        None => html! { (point.name) },
    }
}

fn plot_row(compared: &Comparison, point: &ComparedPoint, at: usize) -> Row {
    let index = index(compared, point);
    Row {
        name: index.map_or(point.name.clone(), |index| crate::layer_label(index, label(compared, point))),
        layer: index,
        values: point.values[at].iter().map(|text| value(text).filter(|number| number.is_finite())).collect(),
        ..Row::default()
    }
}

fn axis(measure: &Measure) -> Axis {
    let axis = Axis::new(measure.words);
    if measure.unit == Unit::Share { axis.percent() } else { axis }
}

/// Returns the picture of the figure that matters most.
fn picture(compared: &Comparison, worst: &[(f64, &ComparedPoint)]) -> Markup {
    let Some((measure, at)) = lead(compared) else { return Markup::default() };
    let curves = curves(compared, measure, at);
    if !curves.0.is_empty() {
        return curves;
    }
    let shown: Vec<&ComparedPoint> = match worst {
        [] => compared.points.iter().take(DRAWN).collect(),
        worst => worst.iter().take(DRAWN).map(|(_, point)| *point).collect(),
    };
    let all = compared.points.len();
    let note = (shown.len() < all).then(|| format!("{} of {all}, those that differ most.", shown.len()));
    bars(compared, measure, at, &shown, note, "Where they differ most")
}

fn bars(
    compared: &Comparison,
    measure: &Measure,
    at: usize,
    shown: &[&ComparedPoint],
    note: Option<String>,
    title: &str,
) -> Markup {
    let bits = measure.unit == Unit::Bits;
    let spec = Spec {
        kind: if bits { Kind::Dots } else { Kind::Bars },
        x: if bits { axis(measure) } else { axis(measure).log(false) },
        names: compared.names.clone(),
        rows: shown.iter().map(|point| plot_row(compared, point, at)).collect(),
        note,
        ..Spec::default()
    };
    spec.figure(&format!("{title}: {}", measure.words), "", None)
}

/// Returns curves over the swept width, one per folder and combination of the other axes.
fn curves(compared: &Comparison, measure: &Measure, at: usize) -> Markup {
    let Some(x) = compared.axes.iter().position(|axis| axis.ends_with(".bits")) else {
        return Markup::default();
    };
    let mut series: Vec<Series> = Vec::new();
    for (folder, name) in compared.names.iter().enumerate() {
        for point in &compared.points {
            let (Ok(width), Some(y)) = (point.key[x].parse(), value(&point.values[at][folder])) else {
                continue;
            };
            let others = point.key.iter().enumerate().filter(|(axis, key)| *axis != x && !key.is_empty());
            let parts = others.map(|(_, key)| key.as_str()).chain([name.as_str()]);
            let name = parts.collect::<Vec<_>>().join(" · ");
            let own = Point { x: width, y: Some(y).filter(|y| y.is_finite()), ..Point::default() };
            match series.iter_mut().find(|series| series.name == name) {
                Some(series) => series.points.push(own),
                None => series.push(Series { name, points: vec![own], ..Series::default() }),
            }
        }
    }
    series.retain(|series| series.points.len() > 1);
    let badness = |series: &Series| {
        let sum: f64 = series.points.iter().filter_map(|point| point.y).sum();
        if measure.rises { -sum } else { sum }
    };
    let shown = Extremes::of(series, 16, badness);
    let note = shown.left_out("curves", measure.words);
    let mut series = shown.shown;
    let mut room = POINTS;
    for own in &mut series {
        own.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        own.points.truncate(room);
        room -= own.points.len();
    }
    let level = compared.axes[x].trim_start_matches("accumulation.").trim_end_matches(".bits");
    let y = if measure.unit == Unit::Number { axis(measure).log(false) } else { axis(measure) };
    let x = Axis::new(format!("width of level {level} (bits)"));
    let words = measure.words;
    let title = words[..1].to_uppercase() + &words[1..] + " against width";
    Spec { kind: Kind::Lines, x, y, series, note, ..Spec::default() }.figure(&title, "", None)
}

/// Returns a plot for every other figure that differs.
fn others(compared: &Comparison, first: usize) -> Markup {
    let plot = |(at, column): (usize, &String)| {
        let measure = Measure::of(column).filter(|_| at != first)?;
        let differ = |point: &&ComparedPoint| point.values[at].windows(2).any(|pair| pair[0] != pair[1]);
        let own: Vec<&ComparedPoint> = compared.points.iter().filter(differ).collect();
        let change = |point: &&ComparedPoint| {
            let numbers =
                || point.values[at].iter().filter_map(|text| value(text)).filter(|one| one.is_finite());
            numbers().fold(f64::MIN, f64::max) - numbers().fold(f64::MAX, f64::min)
        };
        let count = own.len();
        let lines = curves(compared, measure, at);
        if count > 0 && !lines.0.is_empty() {
            return Some(lines);
        }
        let mut own = own;
        own.sort_by(|a, b| change(b).total_cmp(&change(a)));
        own.truncate(ROWS);
        let note = (count > ROWS).then(|| format!("The {ROWS} of {count} that differ most."));
        (count > 0).then(|| bars(compared, measure, at, &own, note, "Those that differ"))
    };
    super::page::side_by_side(compared.columns.iter().enumerate().filter_map(plot))
}

/// Returns a cell of a figure.
fn cell(name: &str, text: &str) -> Cell {
    match (value(text), Measure::of(name).map(|measure| measure.unit)) {
        (Some(share), Some(Unit::Share)) => Cell::share(Fraction::new(share)),
        (Some(number), _) if number.is_finite() => Cell::number(number),
        _ => Cell::text(text),
    }
}

fn totals(compared: &Comparison) -> Markup {
    let change = |row: &Compared| {
        let measure = Measure::of(&row.name)?;
        let [first, last] = [value(row.values.first()?)?, value(row.values.last()?)?];
        let worse = measure.worse(first, last);
        let word = if worse > 0.0 { "worse" } else { "better" };
        (worse != 0.0).then(|| format!("{word} by {}", measure.difference(worse)))
    };
    let row = |(is_quiet, row): (bool, &Compared)| {
        let cells = row.values.iter().map(|text| cell(&row.name, text));
        let own = [Cell::text(&row.name)].into_iter().chain(cells);
        (is_quiet, own.chain([Cell::maybe(change(row), Cell::text)]).collect())
    };
    let last = format!("{} against {}", compared.names[compared.names.len() - 1], compared.names[0]);
    let columns = [Column::text("figure")].into_iter().chain(compared.names.iter().map(Column::number));
    let all = compared.totals.iter().map(|row| (false, row));
    let all = all.chain(compared.equal_totals.iter().map(|row| (true, row)));
    Table::new("Overall figures", columns.chain([Column::text(last)]))
        .folded(["figure", "equal in all folders"], all.map(row))
        .markup()
}

/// Returns the table of all rows, with the columns of each figure in a group.
fn points(compared: &Comparison) -> Markup {
    let used: Vec<usize> = (0..compared.columns.len())
        .filter(|&at| {
            compared.points.iter().any(|point| point.values[at].iter().any(|text| !text.is_empty()))
        })
        .collect();
    let columns = used.iter().flat_map(|&at| {
        let column = compared.columns[at].as_str();
        let measure = Measure::of(column);
        let words = measure.map_or(column, |measure| measure.words);
        let group = measure.map_or("other figures", |measure| measure.words);
        compared.names.iter().map(move |name| Column::number(format!("{words}: {name}")).of(group))
    });
    let is_quiet = |point: &&ComparedPoint| {
        point.values.iter().all(|values| values.windows(2).all(|pair| pair[0] == pair[1]))
    };
    let row = |point: &ComparedPoint| {
        let first = match index(compared, point) {
            Some(index) => Cell::layer(index, label(compared, point)),
            None => Cell::text(&point.name),
        };
        let of = |&at: &usize| point.values[at].iter().map(move |text| (at, text));
        let cells = used.iter().flat_map(of).map(|(at, text)| cell(&compared.columns[at], text));
        (is_quiet(&point), [first].into_iter().chain(cells).collect())
    };
    let most = VALUES / (1 + used.len() * compared.names.len());
    let all = compared.points.len();
    // Rows that differ come first if there is no room for all.
    let mut shown: Vec<&ComparedPoint> = compared.points.iter().collect();
    if all > most {
        shown.sort_by_key(is_quiet);
        shown.truncate(most);
    }
    let what = row_name(compared);
    let columns = [Column::text(what)].into_iter().chain(columns);
    let table = Table::new("Figures side by side", columns)
        .folded([what, "without any difference"], shown.into_iter().map(row));
    html! {
        @if !table.is_empty() { h3 { "Figures side by side" } (table.markup()) }
        @if all > most { (note(&format!("{most} of {all} rows; those that differ come first."))) }
    }
}

fn settings(compared: &Comparison) -> Markup {
    let columns = [Column::text("setting")].into_iter().chain(compared.names.iter().map(Column::text));
    let row = |row: &Compared| {
        [Cell::text(&row.name)].into_iter().chain(row.values.iter().map(Cell::text)).collect()
    };
    html! {
        dl { @for (name, folder) in compared.names.iter().zip(&compared.folders) {
            div { dt { (name) } dd { (folder) } }
        } }
        h3 { "Settings that differ" }
        @if compared.settings.is_empty() { p { "All settings are equal." } }
        (Table::new("Settings that differ", columns).rows(compared.settings.iter().map(row)).markup())
    }
}

fn unmatched(compared: &Comparison) -> Markup {
    let shown = compared.unmatched.iter().take(200);
    let more = compared.unmatched.len().saturating_sub(200) as u64;
    let last = (more > 0).then(|| format!("and {} more", grouped(more)));
    html! {
        @if !compared.unmatched.is_empty() { details {
            summary { (counted(compared.unmatched.len() as u64, "row")) " not in all folders" }
            (sentences(shown.chain(last.as_ref())))
        } }
    }
}
