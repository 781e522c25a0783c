//! HTML report of a sweep.

use maud::{Markup, html};

use super::page::{Front, Page, Section, note, sentences};
use super::plot::{Axis, Kind, Mark, Point, Row, Series, Spec, picture, svg_of};
use super::table::{Cell, Column, Table};
use super::{accelerators, settings, words};
use crate::about::About;
use crate::findings::{Question, group_findings, sweep_answer};
use crate::numbers::{counted, percentage, probability};
use crate::parameters::parameter_keys;
use crate::plots::{Drawn, Extremes, Group, Groups, NO_WIDTH};
use crate::tables::LayerRow;
use crate::{Fraction, Interval, PointRecord, SummaryRow, coverage_text, not_swept_text};

/// Greatest number of points in the table.
const ROWS: usize = 400;
/// Greatest number of points of all curves of a plot.
const POINTS: usize = 4000;
/// Greatest number of rows of a plot of layers, in all its views.
const LAYER_ROWS: usize = 400;

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
    let accuracy = quality(&groups, drawn);
    let front = if accuracy.0.is_empty() { picture(drawn, "axes") } else { accuracy };
    let rates = LayerFigure {
        title: "Overflow rate of every layer",
        caption: "Share of a layer's dot products with at least one overflow event, at each of its levels.",
        axis: Axis::new("dot products with overflow").percent().log(true),
        value: |row| (row.dots > 0).then_some(row.outputs_touched? as f64 / row.dots as f64),
        hides_zeros: true,
    };
    let noise = LayerFigure {
        title: "Output SQNR of every layer",
        caption: "Signal to noise ratio of each layer's output against the exact network; blank without any \
                  difference.",
        axis: Axis::new("SQNR (dB)"),
        value: |row| row.sqnr_db.map(|sqnr| sqnr.value()).filter(|sqnr| sqnr.is_finite()),
        hides_zeros: false,
    };
    let sections = vec![
        Section::new(
            "overflow",
            "Where does it overflow?",
            [rates.heat(&groups, svg_of(drawn, "overflow_rate"))],
        ),
        Section::new(
            "accuracy",
            "What does it cost in accuracy?",
            [
                if PointRecord::are_float(points) { Markup::default() } else { findings(&groups) },
                codes(&groups, svg_of(drawn, "output_mismatch")),
                if front_is_axes(&groups) { Markup::default() } else { picture(drawn, "axes") },
                picture(drawn, "overlay"),
                noise.heat(&groups, svg_of(drawn, "sqnr")),
                summary(points, groups.shown.len() > 1),
            ],
        ),
        Section::new("width", "How wide must it be?", [layers_of(&groups), required_bits(&groups, drawn)]),
        Section::new(
            "what",
            "What was run?",
            [
                sentences(coverage_text(points)),
                sentences(not_swept_text(points).iter().map(|sentence| format!("Not swept: {sentence}."))),
                settings(about),
                accelerators(about),
                words(PointRecord::are_float(points)),
            ],
        ),
    ];
    Page {
        title,
        subtitle: format!("guardbit sweep · {points_run} · {} · {mode}", counted(samples, "sample")),
        about,
        front: Front {
            answer: sweep_answer(points)
                .unwrap_or_else(|| format!("{points_run} of {}.", counted(samples, "sample"))),
            figures: figures(points),
            picture: front,
            worst: worst(&groups),
        },
        sections,
        data: Markup::default(),
    }
    .document()
}

/// Returns the distribution of required bits, folded if it has a panel for each of several settings.
fn required_bits(groups: &Groups<'_>, drawn: &[Drawn<[PointRecord]>]) -> Markup {
    let picture = picture(drawn, "required_bits");
    html! {
        @if groups.shown.len() < 2 || picture.0.is_empty() { (picture) }
        @else { details { summary { "Required bits of the sums, with each of the settings" } (picture) } }
    }
}

fn front_is_axes(groups: &Groups<'_>) -> bool {
    groups.shown.iter().all(|group| group.points.iter().all(|point| share(&point.summary).is_none()))
}

/// Returns the accuracy, or the agreement without labels.
fn share(row: &SummaryRow) -> Option<Fraction> {
    row.accuracy.or(row.top1_agreement)
}

/// Returns the key figures.
fn figures(points: &[PointRecord]) -> Vec<(&'static str, String, String)> {
    let whole = || points.iter().filter(|point| point.is_whole()).map(|point| &point.summary);
    let mut all = vec![("Points", crate::numbers::grouped(points.len() as u64), String::new())];
    let trapped = points.iter().filter(|point| !point.is_whole()).count() as u64;
    if trapped > 0 {
        all.push(("Ended by a trap", crate::numbers::grouped(trapped), String::new()));
    }
    let bits = || whole().filter_map(|row| row.bits);
    if let (Some(least), Some(most)) = (bits().min(), bits().max()) {
        let level = whole().next().map_or("", |row| row.level.as_str());
        all.push(("Widths", format!("{least} to {most} bits"), format!("of level {level}")));
    }
    let swept =
        points.first().map_or(String::new(), |point| format!("accumulation.{}.bits", point.summary.level));
    let keys = parameter_keys(points);
    for (at, key) in keys.iter().enumerate().filter(|(_, key)| **key != swept) {
        let mut seen = std::collections::HashSet::new();
        let own = points.iter().map(|point| point.parameters[at].value.as_str());
        let values: Vec<&str> = own.filter(|value| seen.insert(*value)).collect();
        if let [first, .., last] = values.as_slice() {
            let ends = format!("{}, {first} to {last}", counted(values.len() as u64, "value"));
            all.push(("Axis", crate::tables::short_key(key), ends));
        }
    }
    if let Some(row) = whole().find(|row| row.accuracy_exact.is_some()) {
        let exact = row.accuracy_exact.map_or(String::new(), percentage);
        all.push(("Exact network", exact, ends(row.accuracy_exact_low, row.accuracy_exact_high)));
    }
    // Of equal points, the narrowest one.
    let by = |a: &&PointRecord, b: &&PointRecord| {
        let value = |point: &PointRecord| share(&point.summary).map_or(0.0, Fraction::value);
        value(a).total_cmp(&value(b)).then_with(|| b.varied_bits().cmp(&a.varied_bits()))
    };
    let groups = Group::all(points);
    let remark = |point: &PointRecord| {
        let own = groups.iter().find(|group| group.points.iter().any(|other| std::ptr::eq(*other, point)));
        own.map_or_else(|| point.settings(), |group| group.name(&point.summary))
    };
    let shares = || points.iter().filter(|point| point.is_whole() && share(&point.summary).is_some());
    if let (Some(worst), Some(best)) = (shares().min_by(by), shares().max_by(by)) {
        let text = |point: &PointRecord| share(&point.summary).map_or(String::new(), percentage);
        let is_accuracy = best.summary.accuracy.is_some();
        let [low, high] = if is_accuracy {
            ["Least accuracy", "Best accuracy"]
        } else {
            ["Least agreement", "Best agreement"]
        };
        all.push((low, text(worst), remark(worst)));
        all.push((high, text(best), remark(best)));
    }
    all
}

fn ends(low: Option<Fraction>, high: Option<Fraction>) -> String {
    let interval = Interval::between(low, high);
    interval.map_or(String::new(), |one| format!("95 %: {} to {}", percentage(one.low), percentage(one.high)))
}

/// Returns the layers that need the most bits.
fn worst(groups: &Groups<'_>) -> (&'static str, Vec<Markup>) {
    let heading = "Layers that need the most bits";
    let Some(group) = best(groups) else { return (heading, Vec::new()) };
    let Some(widest) = group.points.iter().rfind(|point| point.is_whole()) else {
        return (heading, Vec::new());
    };
    let mut rows: Vec<&LayerRow> =
        widest.layers.iter().filter(|row| row.exact_required_prefix.is_some()).collect();
    let several = rows.windows(2).any(|pair| pair[0].index == pair[1].index);
    rows.sort_by_key(|row| std::cmp::Reverse((row.exact_required_prefix, row.exact_required_final)));
    let mut seen = std::collections::HashSet::new();
    rows.retain(|row| seen.insert(row.index));
    let item = |row: &&LayerRow| {
        let bits = |bits: Option<u32>| bits.map_or(String::new(), |bits| bits.to_string());
        let from = group.modes.iter().map(|mode| format!("{mode}: {}", exact_from(group, mode, row.index)));
        html! {
            (super::table::layer(row.index, &row.name)) " (" (row.op) "): "
            @if several { "level " (row.level) ", " }
            (bits(row.exact_required_final)) " bits for final sums and " (bits(row.exact_required_prefix))
            " bits for prefixes of " (row.terms) " products. Exact from, in bits: "
            (from.collect::<Vec<_>>().join(", ")) "."
        }
    };
    (heading, rows.iter().take(3).map(item).collect())
}

/// Returns curves of all shown groups and modes, and what is left out.
fn curves(groups: &Groups<'_>, of: impl Fn(&SummaryRow) -> Option<Point>) -> (Vec<Series>, Option<String>) {
    let several = groups.shown.len() > 1;
    let mut room = POINTS;
    let mut series = Vec::new();
    for (group, mode) in
        groups.shown.iter().flat_map(|group| group.modes.iter().map(move |mode| (group, mode)))
    {
        let points: Vec<Point> =
            group.of_mode(mode).into_iter().filter_map(|point| of(&point.summary)).take(room).collect();
        room -= points.len();
        let name = if several { format!("{} · {mode}", group.heading) } else { (*mode).to_owned() };
        if !points.is_empty() {
            series.push(Series { name, points, ..Series::default() });
        }
    }
    let cut = (room == 0).then(|| format!("The first {POINTS} points of the curves."));
    (series, groups.others().or(cut))
}

fn width_axis(groups: &Groups<'_>) -> Axis {
    let level = groups.shown.first().map_or("", |group| group.points[0].summary.level.as_str());
    Axis::new(format!("width of level {level} (bits)"))
}

/// Returns the accuracy against the width, or the agreement without labels.
fn quality(groups: &Groups<'_>, drawn: &[Drawn<[PointRecord]>]) -> Markup {
    let is_accuracy =
        groups.shown.iter().any(|group| group.points.iter().any(|point| point.summary.accuracy.is_some()));
    let point = |row: &SummaryRow| {
        let (value, low, high) = match is_accuracy {
            true => (row.accuracy?, row.accuracy_low, row.accuracy_high),
            false => (row.top1_agreement?, row.agreement_low, row.agreement_high),
        };
        let ends = low.zip(high).map(|(low, high)| [low.value(), high.value()]);
        Some(Point { x: f64::from(row.bits?), y: Some(value.value()), ends, ..Point::default() })
    };
    let (series, note) = curves(groups, point);
    let mut marks: Vec<Mark> = Vec::new();
    for row in groups.shown.iter().flat_map(|group| &group.points).map(|point| &point.summary) {
        if let Some(exact) = row.accuracy_exact.filter(|_| is_accuracy).map(Fraction::value)
            && !marks.iter().any(|mark| mark.y == Some(exact))
        {
            marks.push(Mark { name: "exact network".into(), y: Some(exact), ..Mark::default() });
        }
    }
    let what = if is_accuracy { "top-1 accuracy" } else { "top-1 agreement with the exact network" };
    let spec = Spec {
        kind: Kind::Lines,
        x: width_axis(groups),
        y: Axis::new(what).percent(),
        series,
        marks,
        note,
        ..Spec::default()
    };
    let title = if is_accuracy { "Accuracy against width" } else { "Agreement against width" };
    spec.figure(title, "Bars are Wilson's 95 % intervals.", svg_of(drawn, "accuracy"))
}

/// Returns the number of differing output codes against the width.
fn codes(groups: &Groups<'_>, instead: Option<&str>) -> Markup {
    let point = |row: &SummaryRow| {
        Some(Point { x: f64::from(row.bits?), y: Some(row.output_mismatch? as f64), ..Point::default() })
    };
    let (series, note) = curves(groups, point);
    let spec = Spec {
        kind: Kind::Lines,
        x: width_axis(groups),
        y: Axis::new("output codes that differ").log(false),
        series,
        note,
        ..Spec::default()
    };
    spec.figure("Differing output codes against width", "", instead)
}

/// Figure of every layer against the width.
struct LayerFigure {
    title: &'static str,
    caption: &'static str,
    axis: Axis,
    /// Value of one of a layer's rows; `None` if that row has none.
    value: fn(&LayerRow) -> Option<f64>,
    /// Whether layers whose values are all 0 are left out.
    hides_zeros: bool,
}

impl LayerFigure {
    fn heat(self, groups: &Groups<'_>, instead: Option<&str>) -> Markup {
        let mut widths: Vec<u32> = groups
            .shown
            .iter()
            .flat_map(|group| &group.points)
            .filter_map(|point| point.summary.bits)
            .collect();
        widths.sort_unstable();
        widths.dedup();
        let several = groups.shown.len() > 1;
        let (mut views, mut rows) = (Vec::new(), Vec::new());
        let mut hidden = 0;
        for (group, mode) in
            groups.shown.iter().flat_map(|group| group.modes.iter().map(move |mode| (group, mode)))
        {
            let points = group.of_mode(mode);
            let before = rows.len();
            for (index, level, name) in group.levels() {
                let value = |bits: &u32| {
                    let point = points.iter().find(|point| point.summary.width() == *bits)?;
                    let own = point.layers.iter().filter(|row| row.index == index && row.level == level);
                    own.filter_map(self.value).next()
                };
                let values: Vec<Option<f64>> = widths.iter().map(value).collect();
                // Figures of the layer as a whole are in the row of its last level.
                if values.iter().all(Option::is_none) {
                    continue;
                }
                if values.iter().all(|value| value.is_none_or(|value| self.hides_zeros && value == 0.0)) {
                    hidden += 1;
                    continue;
                }
                rows.push(Row { name, layer: Some(index), values, view: views.len(), ..Row::default() });
            }
            if rows.len() > before {
                views.push(if several { format!("{} · {mode}", group.heading) } else { (*mode).to_owned() });
            }
        }
        // Each view keeps its own rows.
        let all = rows.len();
        let badness =
            |row: &Row| row.values.iter().flatten().sum::<f64>() * if self.hides_zeros { 1.0 } else { -1.0 };
        let shown = Extremes::of(rows, LAYER_ROWS, badness);
        let note = match (all > LAYER_ROWS, hidden) {
            (true, _) => shown.left_out("rows", "their values"),
            (false, 0) => None,
            (false, hidden) => Some(format!(
                "{} without any value {} left out.",
                counted(hidden, "row"),
                if hidden == 1 { "is" } else { "are" }
            )),
        };
        let spec = Spec {
            kind: Kind::Heat,
            x: self.axis,
            y: width_axis(groups),
            names: widths.iter().map(u32::to_string).collect(),
            rows: shown.shown,
            views,
            note: groups.others().or(note),
            ..Spec::default()
        };
        spec.figure(self.title, self.caption, instead)
    }
}

/// Returns what the points of every group show: sentences, and for several groups a table of the widths.
fn findings(groups: &Groups<'_>) -> Markup {
    let each = || groups.shown.iter().flat_map(|group| group.modes.iter().map(move |mode| (group, *mode)));
    let several = groups.shown.len() > 1;
    let sentences = html! {
        @for (group, mode) in each() {
            h3 {
                @if !group.heading.is_empty() { (group.heading) ", " }
                "overflow: " (mode)
            }
            ul { @for finding in group_findings(group, mode) { li { (finding.text) } } }
        }
    };
    let questions = [
        (Question::ExactSums, "every sum exact"),
        (Question::ExactOutputs, "every output code exact"),
        (Question::FullAgreement, "every class equal"),
        (Question::ExactAccuracy, "accuracy equal"),
    ];
    let row = |(group, mode): (&Group<'_>, &str)| {
        let found = group_findings(group, mode);
        let bits = |(question, _)| {
            let finding = found.iter().find(|finding| finding.question == question);
            Cell::maybe(finding, |finding| match finding.least_bits {
                Some(bits) => Cell::text(bits),
                None => Cell::text("-"),
            })
        };
        [Cell::text(&group.heading), Cell::text(mode)].into_iter().chain(questions.map(bits)).collect()
    };
    let columns = ["settings", "overflow"].map(Column::text);
    let widths = questions.map(|(_, words)| Column::number(format!("{words} from (bits)")));
    html! {
        @if groups.shown.is_empty() { p { (NO_WIDTH) } }
        @if several {
            (Table::new("Widths that suffice", columns.into_iter().chain(widths)).rows(each().map(row)).markup())
            (note("\"-\" means that no width that was run suffices."))
            details { summary { "In sentences" } (sentences) }
        } @else { (sentences) }
        @if let Some(others) = groups.others() { p.note { (others) } }
    }
}

/// Returns the tables of the layers of all groups: that of the best group open, the others folded.
fn layers_of(groups: &Groups<'_>) -> Markup {
    let others =
        groups.shown.iter().filter(|group| best(groups).is_some_and(|best| best.heading != group.heading));
    html! {
        @if let Some(group) = best(groups) { (layers(group)) }
        @if groups.shown.len() > 1 { details {
            summary { "Layers with the other settings" }
            @for group in others { (layers(group)) }
        } }
    }
}

/// Returns the group with the best accuracy, or the fewest differing codes.
fn best<'a, 'b>(groups: &'b Groups<'a>) -> Option<&'b Group<'a>> {
    groups.shown.iter().min_by(|a, b| a.badness().total_cmp(&b.badness()))
}

/// Returns the table of the bits that each layer requires on its own.
fn layers(group: &Group<'_>) -> Markup {
    let Some(widest) = group.points.iter().rfind(|point| point.is_whole()) else { return html! {} };
    let columns = [
        Column::text("layer"),
        Column::text("op"),
        Column::text("level"),
        Column::number("terms"),
        Column::number("required bits (final sum, exact network)"),
        Column::number("required bits (prefix, exact network)"),
    ];
    let from = group.modes.iter().map(|mode| Column::number(format!("exact from, {mode} (bits)")));
    let rows = widest.layers.iter().map(|row| {
        let mut cells = vec![
            Cell::layer(row.index, &row.name),
            Cell::text(&row.op),
            Cell::text(&row.level),
            Cell::count(row.terms as u64),
            Cell::maybe(row.exact_required_final, Cell::text),
            Cell::maybe(row.exact_required_prefix, Cell::text),
        ];
        cells.extend(group.modes.iter().map(|mode| Cell::text(exact_from(group, mode, row.index))));
        cells
    });
    let table = Table::new("Layers", columns.into_iter().chain(from)).rows(rows);
    html! {
        h3 { "Layers" @if !group.heading.is_empty() { ": " (group.heading) } }
        (table.markup())
        (note(
            "Required bits of the exact network hold every final sum (enough for wrapping), or every prefix \
             (enough for saturation), if no accumulator overflows; a propagated sweep counts them with --stats \
             values or full. \"Exact from\" is the smallest width from which on the layer delivers no wrong \
             sum, or \"-\" if the widest point still delivers one."
        ))
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
        if self.register {
            columns.extend([Column::number("bits"), Column::text("overflow")]);
        }
        if self.several {
            columns.extend([Column::text("model"), Column::text("hw")]);
        }
        columns.extend(parameter_keys(self.points).iter().map(|key| Column::text(*key)));
        let accuracy = [
            "accuracy",
            "95 %, from",
            "95 %, to",
            "exact accuracy",
            "p",
            "agreement",
            "95 %, from",
            "95 %, to",
        ];
        let counts = ["events", "persistent", "transient", "wrong"];
        columns.extend(Column::group("accuracy", &accuracy));
        columns.extend(Column::group("outputs", &["output codes that differ", "output SQNR (dB)"]));
        columns.extend(Column::group("counts", &counts));
        columns.extend(Column::group("time", &["cycles"]));
        columns.extend(self.trapped.then(|| Column::text("ended by")));
        columns
    }

    fn cells(&self, point: &PointRecord) -> Vec<Cell> {
        let row = &point.summary;
        let mut cells = Vec::new();
        if self.register {
            cells.extend([Cell::maybe(row.bits, Cell::text), Cell::text(&row.overflow)]);
        }
        if self.several {
            cells.extend([Cell::text(&row.model), Cell::text(&row.hw)]);
        }
        cells.extend(point.parameters.iter().map(|one| Cell::text(&one.value)));
        cells.extend([
            Cell::maybe(row.accuracy, Cell::share),
            Cell::maybe(row.accuracy_low, Cell::share),
            Cell::maybe(row.accuracy_high, Cell::share),
            Cell::maybe(row.accuracy_exact, Cell::share),
            Cell::maybe(row.mcnemar_p, |p| Cell::text(probability(p))),
            Cell::maybe(row.top1_agreement, Cell::share),
            Cell::maybe(row.agreement_low, Cell::share),
            Cell::maybe(row.agreement_high, Cell::share),
            Cell::maybe(row.output_mismatch, Cell::count),
            Cell::maybe(row.output_sqnr_db, Cell::decibel),
            Cell::maybe(row.events, Cell::count),
            Cell::maybe(row.persistent, Cell::count),
            Cell::maybe(row.transient, Cell::count),
            Cell::maybe(row.wrong, Cell::count),
            Cell::maybe(row.cycles, Cell::count),
        ]);
        cells.extend(self.trapped.then(|| Cell::maybe(row.trapped.as_ref(), Cell::text)));
        cells
    }
}

fn summary(points: &[PointRecord], several: bool) -> Markup {
    let badness = |point: &&PointRecord| {
        let row = &point.summary;
        let share = share(row).map(Fraction::value);
        share.map_or(row.output_mismatch.map_or(f64::MAX, |codes| codes as f64), |share| -share)
    };
    let shown = Extremes::of(points.iter().collect(), ROWS, badness);
    let left_out = shown
        .left_out("points", "accuracy (agreement without labels; output codes that differ without classes)");
    let register = points.iter().any(|point| point.summary.bits.is_some());
    let all = Points { points, several, register, trapped: points.iter().any(|point| !point.is_whole()) };
    let table = Table::new("Points", all.columns()).rows(shown.shown.iter().map(|point| all.cells(point)));
    html! {
        h3 { "Points" }
        (table.markup())
        @if let Some(left_out) = left_out { p.note { (left_out) " summary.csv has all." } }
        (note(
            "Events, persistent and transient dot products are those of the swept level, wrong dot products \
             those of the whole datapath; all are summed over the layers. \"95 %\" are Wilson's intervals; \
             \"p\" is McNemar's p value of the accuracy against the exact network. Figures per layer are in \
             sweep.csv and, of floating-point layers, in aligned.csv, per class in classes.csv, comparisons of \
             points in pairs.csv, and results per sample in predictions/."
        ))
    }
}
