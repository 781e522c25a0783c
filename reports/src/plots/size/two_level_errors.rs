//! Plot of two-level accumulation: the rate of wrong sums by inner width and length of runs.

use std::collections::BTreeSet;

use plotters::style::RGBColor;

use super::subtitle;
use crate::plots::kit::{
    Content, DrawError, Entry, Extremes, HeatCell, HeatRow, HeatTable, INK, Legend, Mark, Ramp, Scale, Sheet,
    figure, short_percent,
};
use crate::plots::{Drawing, Plot};
use crate::tables::SizeGridRow;
use crate::{Fraction, SizeRecord, SizeRow, layer_label};

pub(super) const PLOT: Plot<SizeRecord> = Plot {
    name: "two_level_errors",
    title: "Wrong sums with two levels of accumulators",
    caption: "Two-level accumulation with an outer accumulator that is wide enough: share of wrong sums in \
              % among dot products of the samples, evenly spread, on exact activations, by the inner \
              accumulator's width and the length of its runs. Blue: proved for every input. Grey: narrower \
              than proved, but none of the simulated sums was wrong. Narrower outer accumulators are in \
              size_grid.csv.",
    draw,
};

/// Greatest number of layers; each has one row per length of runs.
const ROWS: usize = 16;
/// Depth of blue for points whose exactness is proved.
const PROVED: f64 = 0.35;
/// Colour of points without a wrong sum.
const NONE: RGBColor = RGBColor(0xE9, 0xE9, 0xE9);

fn draw(size: &SizeRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    let rows = widest_outer(size);
    let shares: Vec<f64> = rows.iter().filter_map(|row| row.error_rate.map(Fraction::value)).collect();
    if shares.is_empty() {
        return Ok(Drawing::Nothing(
            "No layer has a dot product that could be split and simulated, or --grid none disabled this plot."
                .into(),
        ));
    }
    let scale = Scale::log_share(shares);
    let widths: BTreeSet<u32> = rows.iter().map(|row| row.inner_bits).collect();
    let shade = |(place, name): &(f64, String)| {
        Entry::new(Mark::Box(Ramp::ORANGE.color(depth(10f64.powf(*place), &scale))), name)
    };
    let named = scale.ticks.iter().filter(|(_, name)| name != "0").map(shade);
    let fixed = [
        Entry::new(Mark::Box(Ramp::BLUE.color(PROVED)), "proved"),
        Entry::new(Mark::Box(NONE), "none wrong"),
    ];
    let legend = Legend::new(fixed.into_iter().chain(named)).content();
    let wrong = |layer: &&SizeRow| {
        let own = rows.iter().filter(|row| row.index == layer.index);
        own.filter_map(|row| row.error_rate.map(Fraction::value)).fold(0.0, f64::max)
    };
    let layers = Extremes::of(size.layers.iter().collect(), ROWS, wrong);
    let table = HeatTable {
        columns: widths.iter().map(u32::to_string).collect(),
        title: "width of the inner accumulator (bits); cells: wrong sums in %".into(),
        note_title: String::new(),
        rows: layers.shown.iter().flat_map(|layer| layer_rows(layer, &rows, &widths, &scale)).collect(),
    };
    let note = layers.note("layers", "the largest share of wrong sums");
    let content: Vec<Content<'_>> = [legend, table.content()].into_iter().chain(note).collect();
    Ok(Drawing::Figure(figure(sheet, &subtitle(size), &content)?))
}

/// Returns one row per length of runs; the first row carries the layer's name.
fn layer_rows(
    layer: &SizeRow,
    points: &[&SizeGridRow],
    widths: &BTreeSet<u32>,
    scale: &Scale,
) -> Vec<HeatRow> {
    let own = || points.iter().filter(|row| row.index == layer.index);
    let tiles: BTreeSet<usize> = own().map(|row| row.tile).collect();
    let label = layer_label(layer.index, &layer.name);
    let row = |(place, tile): (usize, usize)| HeatRow {
        label: if place == 0 { format!("{label}, runs of {tile}") } else { format!("runs of {tile}") },
        cells: widths
            .iter()
            .map(|&bits| cell(own().find(|row| row.tile == tile && row.inner_bits == bits)?, scale))
            .collect(),
        note: String::new(),
        fence: None,
    };
    tiles.into_iter().enumerate().map(row).collect()
}

/// Returns the points with the widest outer accumulator.
fn widest_outer(size: &SizeRecord) -> Vec<&SizeGridRow> {
    let mut widest: Vec<&SizeGridRow> = Vec::new();
    for row in &size.grid {
        let same = |other: &&SizeGridRow| {
            (other.index, other.tile, other.inner_bits) == (row.index, row.tile, row.inner_bits)
        };
        match widest.last_mut().filter(|other| same(other)) {
            Some(other) if other.outer_bits < row.outer_bits => *other = row,
            Some(_) => {}
            None => widest.push(row),
        }
    }
    widest
}

fn cell(row: &SizeGridRow, scale: &Scale) -> Option<HeatCell> {
    let rate = row.error_rate?.value();
    let (fill, ink, text) = if row.legal {
        (Ramp::BLUE.color(PROVED), Ramp::BLUE.ink(PROVED), "0".into())
    } else if rate == 0.0 {
        (NONE, INK, "0".into())
    } else {
        let depth = depth(rate, scale);
        (Ramp::ORANGE.color(depth), Ramp::ORANGE.ink(depth), short_percent(rate))
    };
    Some(HeatCell { fill, ink, text })
}

/// Returns the position of a rate along the axis, 0 to 1.
fn depth(rate: f64, scale: &Scale) -> f64 {
    let low = scale.at(0.0);
    ((scale.at(rate) - low - 1.0) / (0.0 - low - 1.0).max(1.0)).clamp(0.0, 1.0)
}
