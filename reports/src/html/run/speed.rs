//! Plots of time, traffic, energy and area.

use guardbit_hwmodels::TimingConvention;
use guardbit_hwmodels::timing::Bound;
use maud::Markup;

use super::super::page::side_by_side;
use super::super::plot::{Axis, Kind, Mark, Point, Row, Series, Spec};
use crate::numbers::figure;
use crate::plots::Extremes;
use crate::records::PATHS;
use crate::tables::{BottleneckRow, CostRow};
use crate::{HostRow, LayerDesign, RunRecord, layer_label};

/// Greatest number of rows of a plot.
const ROWS: usize = 200;

/// Returns the words for a resource of `bottlenecks.csv`.
pub(super) fn bound_in_words(name: &str) -> &str {
    match Bound::ALL.into_iter().find(|bound| bound.name() == name) {
        Some(bound) => bound.words(),
        None => name,
    }
}

/// Ports, in the order of [`LayerDesign::port_cycles`].
const PORTS: [&str; 3] = ["activation port", "weight port", "sum port"];

/// Returns the cycles of every operation in order, split by what they are spent on.
pub(super) fn time(run: &RunRecord) -> Markup {
    let names =
        ["products", "mapping", PORTS[0], PORTS[1], PORTS[2], "external memory", "host"].map(String::from);
    let layer = |row: &BottleneckRow| {
        let stalls = run.layers.iter().rfind(|other| other.index == row.index);
        let stall = |of: fn(&crate::LayerRow) -> Option<u64>| stalls.and_then(of).unwrap_or(0);
        let (sram, dram) = (stall(|row| row.stall_sram_cycles), stall(|row| row.stall_dram_cycles));
        let busy = run.design.layers.iter().find(|other| other.index == row.index);
        let busiest = busy.map_or(0, busiest_port);
        let port = |index: usize| if index == busiest { sram as f64 } else { 0.0 };
        let computing = row.ideal_cycles.min(row.compute_cycles);
        let mapping = row.cycles.saturating_sub(sram + dram).saturating_sub(computing);
        let values =
            [computing as f64, mapping as f64, port(0), port(1), port(2), dram as f64, 0.0].map(Some);
        (row.index, values.to_vec(), row.name.clone(), true)
    };
    let host = |row: &HostRow| {
        let mut values = vec![Some(0.0); names.len()];
        values[6] = Some(row.cycles as f64);
        (row.index, values, row.name.clone(), false)
    };
    let mut all: Vec<_> = run.bottlenecks.iter().map(layer).chain(run.timing.host.iter().map(host)).collect();
    all.sort_by_key(|(index, ..)| *index);
    let total = |values: &[Option<f64>]| values.iter().flatten().sum::<f64>();
    all.retain(|(_, values, ..)| total(values) > 0.0);
    let shown = Extremes::of(all, ROWS, |(_, values, ..)| total(values));
    let note = shown.left_out("operations", "cycles");
    let row = |(index, values, name, is_layer): (usize, Vec<Option<f64>>, String, bool)| Row {
        name: layer_label(index, &name),
        layer: is_layer.then_some(index),
        values,
        ..Row::default()
    };
    let spec = Spec {
        kind: Kind::Bars,
        stacked: true,
        x: Axis::new("cycles"),
        names: names.into(),
        rows: shown.shown.into_iter().map(row).collect(),
        note,
        ..Spec::default()
    };
    spec.without_zeros().figure(
        "Where the cycles go",
        "\"Products\" are the cycles of an array that is always full, \"mapping\" those that the layer's shape, \
         filling and draining add. Waiting for an SRAM counts for its busiest port. The host's operations are \
         in the accelerator's clock.",
        None,
    )
}

fn busiest_port(layer: &LayerDesign) -> usize {
    let most = layer.port_cycles.iter().max().copied().unwrap_or(0);
    layer.port_cycles.iter().position(|&cycles| cycles == most).unwrap_or(0)
}

/// Returns products per cycle against products per byte of external memory.
pub(super) fn roofline(run: &RunRecord, instead: Option<&str>) -> Markup {
    let timing = &run.timing;
    let (peak, rate) = (timing.peak_macs_per_cycle as f64, timing.dram_bytes_per_cycle);
    // With other conventions layers do not wait for the memory, or not for all bytes it moves.
    let rate = (timing.convention == TimingConvention::Overlapped.name() && rate > 0.0).then_some(rate);
    let per_byte = |row: &BottleneckRow| match rate {
        Some(rate) => Some(row.macs as f64 / (row.dram_cycles as f64 * rate)),
        None => row.macs_per_dram_byte,
    };
    let place = |row: &BottleneckRow| {
        let place = [per_byte(row)?, row.macs_per_cycle?];
        place.iter().all(|value| *value > 0.0 && value.is_finite()).then_some(place)
    };
    let placed: Vec<_> = run.bottlenecks.iter().filter_map(|row| Some((row, place(row)?))).collect();
    let shown = Extremes::of(placed, ROWS, |(row, _)| row.cycles as f64);
    let note = shown.left_out("layers", "cycles");
    let placed = shown.shown;
    let series = |bound: Bound| {
        let own = placed.iter().filter(|(row, _)| row.bound == bound.name());
        let point = |(row, [x, y]): &(&BottleneckRow, [f64; 2])| Point {
            x: *x,
            y: Some(*y),
            text: layer_label(row.index, &row.name),
            layer: Some(row.index),
            ..Point::default()
        };
        let name = format!("bound by its {}", bound.words());
        Series { name, points: own.map(point).collect(), ..Series::default() }
    };
    let xs = || placed.iter().map(|(_, [x, _])| *x).chain(rate.map(|rate| peak / rate));
    let (left, right) = (xs().fold(f64::INFINITY, f64::min) / 2.0, xs().fold(0.0, f64::max) * 2.0);
    let line = match rate {
        Some(rate) => vec![[left, left * rate], [peak / rate, peak], [right, peak]],
        None => vec![[left, peak], [right, peak]],
    };
    let per_cycle = rate.map_or(String::new(), |rate| format!(", {} bytes per cycle", figure(rate)));
    let name = format!("roof: {} products{per_cycle}", figure(peak));
    let spec = Spec {
        kind: Kind::Scatter,
        x: Axis::new("products per byte of the external memory").log(true),
        y: Axis::new("products per cycle").log(true),
        series: Bound::ALL.into_iter().map(series).filter(|series| !series.points.is_empty()).collect(),
        marks: vec![Mark { name, line, ..Mark::default() }],
        note,
        ..Spec::default()
    };
    spec.figure(
        "Roofline",
        "Attained products per cycle of each layer, below the roofs of the external memory (left of the \
         corner) and of the array (right of it).",
        instead,
    )
}

/// Returns how much of the array every layer uses.
pub(super) fn utilization(run: &RunRecord) -> Markup {
    let row = |row: &BottleneckRow| Row {
        name: layer_label(row.index, &row.name),
        layer: Some(row.index),
        values: vec![row.utilization.map(crate::Fraction::value)],
        text: format!("bound by its {}", bound_in_words(&row.bound)),
        ..Row::default()
    };
    let shown = Extremes::of(run.bottlenecks.iter().collect(), ROWS, |row| row.cycles as f64);
    let spec = Spec {
        kind: Kind::Bars,
        x: Axis::new("products of the layer, of those that the array could compute").percent().log(false),
        names: vec!["utilization".into()],
        note: shown.left_out("layers", "cycles"),
        rows: shown.shown.into_iter().map(row).collect(),
        ..Spec::default()
    };
    spec.figure("Utilization of the array", "", None)
}

/// Returns the bytes that every layer moves, by path.
pub(super) fn traffic(run: &RunRecord) -> Markup {
    let name = |index: usize| {
        let row = run.bottlenecks.iter().find(|row| row.index == index);
        row.map_or_else(|| format!("#{index}"), |row| layer_label(index, &row.name))
    };
    let figure = |range: std::ops::Range<usize>, title: &str, caption: &str| {
        let total = |layer: &&LayerDesign| layer.moved_bytes[range.clone()].iter().sum::<u64>();
        let layers: Vec<&LayerDesign> = run.design.layers.iter().filter(|layer| total(layer) > 0).collect();
        let shown = Extremes::of(layers, ROWS, |layer| total(layer) as f64);
        let row = |layer: &LayerDesign| Row {
            name: name(layer.index),
            layer: Some(layer.index),
            values: layer.moved_bytes[range.clone()].iter().map(|&bytes| Some(bytes as f64)).collect(),
            ..Row::default()
        };
        let spec = Spec {
            kind: Kind::Bars,
            stacked: true,
            x: Axis::new("bytes per inference"),
            names: PATHS[range.clone()].iter().map(ToString::to_string).collect(),
            note: shown.left_out("layers", "bytes"),
            rows: shown.shown.into_iter().map(row).collect(),
            ..Spec::default()
        };
        spec.without_zeros().figure(title, caption, None)
    };
    side_by_side([
        figure(4..8, "Traffic of the external memory", "In whole bursts."),
        figure(0..4, "Traffic between SRAMs and array", ""),
    ])
}

/// Returns the energy of every layer by part, for each cost model.
pub(super) fn energy(run: &RunRecord) -> Markup {
    let of_model = |cost: &crate::CostRecord| {
        let rows: Vec<&CostRow> =
            run.cost_rows.iter().filter(|row| row.model == cost.model && row.index.is_some()).collect();
        let mut parts: Vec<&str> = Vec::new();
        for row in rows.iter().filter(|row| row.energy_pj > Some(0.0)) {
            if !parts.contains(&row.part.as_str()) {
                parts.push(&row.part);
            }
        }
        let layers: Vec<&[&CostRow]> = rows.chunk_by(|a, b| a.index == b.index).collect();
        let of_part = |rows: &[&CostRow], part: &str| {
            rows.iter().filter(|row| row.part == part).filter_map(|row| row.energy_pj).sum::<f64>() / 1e6
        };
        let total = |rows: &&[&CostRow]| rows.iter().filter_map(|row| row.energy_pj).sum::<f64>();
        let shown = Extremes::of(layers, ROWS, total);
        let row = |rows: &[&CostRow]| Row {
            name: layer_label(rows[0].index.unwrap_or(0), &rows[0].name),
            layer: rows[0].index,
            values: parts.iter().map(|part| Some(of_part(rows, part))).collect(),
            ..Row::default()
        };
        let spec = Spec {
            kind: Kind::Bars,
            stacked: true,
            x: Axis::new("energy per inference (\u{b5}J)"),
            names: parts.iter().map(ToString::to_string).collect(),
            note: shown.left_out("layers", "energy"),
            rows: if parts.is_empty() { Vec::new() } else { shown.shown.into_iter().map(row).collect() },
            ..Spec::default()
        };
        spec.figure(&format!("Energy by layer and part: {}", cost.model), "", None)
    };
    side_by_side(run.costs.iter().flat_map(|cost| [energy_of_parts(run, cost), of_model(cost)]))
}

/// Returns the energy of the whole network by part.
fn energy_of_parts(run: &RunRecord, cost: &crate::CostRecord) -> Markup {
    let own = run.cost_rows.iter().filter(|row| row.model == cost.model && row.index.is_none());
    let row = |row: &CostRow| {
        Some(Row {
            name: if row.of.is_empty() { row.part.clone() } else { format!("{} {}", row.part, row.of) },
            values: vec![Some(row.energy_pj.filter(|&energy| energy > 0.0)? / 1e6)],
            text: row.size.clone(),
            ..Row::default()
        })
    };
    let mut rows: Vec<Row> = own.filter(|row| row.part != "total").filter_map(row).collect();
    rows.sort_by(|a, b| b.values[0].partial_cmp(&a.values[0]).unwrap_or(std::cmp::Ordering::Equal));
    let without = cost.energy_without.join(", ");
    let caption = if without.is_empty() { String::new() } else { format!("Without {without}.") };
    let spec = Spec {
        kind: Kind::Bars,
        x: Axis::new("energy per inference (\u{b5}J)").log(false),
        names: vec!["energy".into()],
        rows,
        ..Spec::default()
    };
    spec.figure(&format!("Energy by part: {}", cost.model), &caption, None)
}

/// Returns the area of every part, for each cost model.
pub(super) fn area(run: &RunRecord) -> Markup {
    let of_model = |cost: &crate::CostRecord| {
        let own = |row: &&CostRow| row.model == cost.model && row.index.is_none() && row.part != "total";
        let row = |row: &CostRow| {
            Some(Row {
                name: if row.of.is_empty() { row.part.clone() } else { format!("{} {}", row.part, row.of) },
                values: vec![Some(row.area.filter(|&area| area > 0.0)?)],
                text: row.size.clone(),
                ..Row::default()
            })
        };
        let spec = Spec {
            kind: Kind::Bars,
            x: Axis::new(format!("area ({})", cost.area_unit)).log(false),
            names: vec!["area".into()],
            rows: run.cost_rows.iter().filter(own).filter_map(row).collect(),
            ..Spec::default()
        };
        spec.figure(&format!("Area by part: {}", cost.model), "", None)
    };
    side_by_side(run.costs.iter().map(of_model))
}
