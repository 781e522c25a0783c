//! Roofline plot: products per cycle against products per byte of external memory traffic.

use guardbit_hwmodels::TimingConvention;
use guardbit_hwmodels::timing::Bound;

use super::subtitle;
use crate::RunRecord;
use crate::numbers::number;
use crate::plots::kit::{
    Axis, Content, DrawError, Entry, Extremes, GREY, INK, Legend, Mark, Scale, Sheet, category_look, chart,
    figure,
};
use crate::plots::{Drawing, Plot};
use crate::tables::BottleneckRow;

pub(super) const PLOT: Plot<RunRecord> = Plot {
    name: "roofline",
    title: "Roofline: attained and attainable products per cycle",
    caption: "Products per cycle of each layer against products per byte of the external memory, with the \
              roofs of the array and of that memory. Left of the corner the memory limits, right of it the \
              array. With double buffering, loads and stores overlap, and only the larger of them is \
              counted. Numbers are indices of layers; shapes show the resource that limits each layer.",
    draw,
};

/// Greatest number of layers.
const POINTS: usize = 300;
/// Greatest number of layers that are named at one place.
const NAMED: usize = 4;

/// Layer with its products per byte and per cycle.
type Point<'a> = (&'a BottleneckRow, [f64; 2]);

fn draw(run: &RunRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    let (peak, rate) = (run.timing.peak_macs_per_cycle as f64, run.timing.dram_bytes_per_cycle);
    // With other conventions layers do not wait for the memory, or not for all bytes it moves.
    let rate = (run.timing.convention == TimingConvention::Overlapped.name() && rate > 0.0).then_some(rate);
    let points: Vec<Point<'_>> =
        run.bottlenecks.iter().filter_map(|row| Some((row, place(row, rate)?))).collect();
    let points = Extremes::of(points, POINTS, |(row, _)| row.cycles as f64);
    let note = points.note("layers", "cycles");
    let points = points.shown;
    if points.is_empty() || peak <= 0.0 {
        return Ok(Drawing::Nothing("No layer runs on the accelerator.".into()));
    }
    let corner = rate.map(|rate| peak / rate);
    let (xs, ys) = (|| points.iter().map(|(_, [x, _])| *x), || points.iter().map(|(_, [_, y])| *y));
    let x = Axis::new("products per byte of the external memory", Scale::decades(xs().chain(corner)));
    let y = Axis::new("products per cycle", Scale::decades(ys().chain([peak])));
    let right = 10f64.powf(x.scale.range.1);
    let [left, low] = [least_decade(xs().chain(corner)), least_decade(ys().chain([peak]))];
    let roof = match (rate, corner) {
        (Some(rate), Some(corner)) => {
            let start = left.max(low / rate);
            vec![(start, start * rate), (corner, peak), (right, peak)]
        }
        _ => vec![(left, peak), (right, peak)],
    };
    let bounds = Bound::ALL.into_iter().enumerate();
    let kinds: Vec<_> =
        bounds.filter(|(_, bound)| points.iter().any(|(row, _)| row.bound == bound.name())).collect();
    let entries = kinds.iter().map(|(look, bound)| {
        Entry::new(Mark::Marker(category_look(*look)), format!("bound by its {}", bound.words()))
    });
    let bytes = |rate: f64| format!(", {rate} {} per cycle", if rate == 1.0 { "byte" } else { "bytes" });
    let bytes = rate.map_or(String::new(), bytes);
    let products = number(run.timing.peak_macs_per_cycle, "product", "products");
    let of_roof = Entry::new(Mark::Line(GREY), format!("roof: {peak} {products}{bytes}"));
    let legend = Legend::new(entries.chain([of_roof])).content();
    let panel = Content::panel(420, |area| {
        let mut chart = chart(area, "", "", &x, &y)?;
        chart.outline(&roof, GREY)?;
        for (look, bound) in &kinds {
            let own = points.iter().filter(|(row, _)| row.bound == bound.name());
            let places: Vec<(f64, f64)> = own.map(|(_, [x, y])| (*x, *y)).collect();
            chart.points(&places, category_look(*look))?;
        }
        let place = |[px, py]: [f64; 2]| (x.scale.at(px), y.scale.at(py));
        let notes: Vec<_> = named(&points).into_iter().map(|(names, at)| (names, place(at))).collect();
        let markers: Vec<_> = points.iter().map(|(_, at)| place(*at)).collect();
        chart.notes(&notes, &markers, INK)
    });
    let content: Vec<Content<'_>> = [legend, panel].into_iter().chain(note).collect();
    Ok(Drawing::Figure(figure(sheet, &subtitle(run), &content)?))
}

/// Returns the products per byte that takes memory time, and the products per cycle. All bytes count if the
/// memory takes no time.
fn place(row: &BottleneckRow, rate: Option<f64>) -> Option<[f64; 2]> {
    let per_byte = match rate {
        Some(rate) => row.macs as f64 / (row.dram_cycles as f64 * rate),
        None => row.macs_per_dram_byte?,
    };
    let place = [per_byte, row.macs_per_cycle?];
    place.iter().all(|value| *value > 0.0 && value.is_finite()).then_some(place)
}

/// Returns the power of ten at or below all values.
fn least_decade(values: impl Iterator<Item = f64>) -> f64 {
    10f64.powf(values.fold(f64::INFINITY, f64::min).log10().floor())
}

/// Returns positions with the numbers of the layers there. Positions too close to label separately share a
/// label.
fn named(points: &[Point<'_>]) -> Vec<(String, [f64; 2])> {
    const CLOSE: f64 = 0.06;
    let mut sorted: Vec<&Point<'_>> = points.iter().collect();
    sorted.sort_by(|(_, a), (_, b)| a[0].total_cmp(&b[0]));
    let mut groups: Vec<(Vec<usize>, [f64; 2])> = Vec::new();
    for (row, place) in sorted {
        let near = |known: &[f64; 2]| known.iter().zip(place).all(|(a, b)| (a / b).log10().abs() < CLOSE);
        match groups.iter_mut().find(|(_, known)| near(known)) {
            Some((rows, _)) => rows.push(row.index),
            None => groups.push((vec![row.index], *place)),
        }
    }
    let name = |(mut rows, place): (Vec<usize>, [f64; 2])| {
        rows.sort_unstable();
        let names = rows.iter().take(NAMED).map(usize::to_string).collect::<Vec<_>>().join(", ");
        match rows.len().saturating_sub(NAMED) {
            0 => (names, place),
            more => (format!("{names} and {more} more"), place),
        }
    };
    groups.into_iter().map(name).collect()
}
