//! Plot of two-level accumulation: tiles against inner widths.

use std::collections::BTreeSet;

use super::subtitle;
use crate::plots::kit::{
    Content, DrawError, Entry, Extremes, HeatCell, HeatRow, HeatTable, INK, Legend, Mark, ORANGE, Ramp,
    Sheet, figure,
};
use crate::plots::{Drawing, Plot};
use crate::tables::SizeGridRow;
use crate::{SizeRecord, layer_label};

pub(super) const PLOT: Plot<SizeRecord> = Plot {
    name: "two_levels",
    title: "Inner accumulators that cannot overflow",
    caption: "Two-level accumulation: an inner accumulator adds runs of products, an outer accumulator \
              adds the sums of the runs. Each cell is the smallest inner width that is proved for every \
              input. Orange: on the Pareto front of inner bits, outer bits and additions of the outer \
              accumulator. Blank: the dot product is not longer than the run.",
    draw,
};

/// Greatest number of layers.
const ROWS: usize = 120;

fn draw(size: &SizeRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    let tiles: BTreeSet<usize> = size.grid.iter().map(|row| row.tile).collect();
    let least = |index: usize, tile: usize| -> Option<&SizeGridRow> {
        let legal = size.grid.iter().filter(|row| row.index == index && row.tile == tile && row.legal);
        legal.min_by_key(|row| row.inner_bits)
    };
    let widths: Vec<u32> = size.grid.iter().filter(|row| row.legal).map(|row| row.inner_bits).collect();
    let (Some(low), Some(high)) = (widths.iter().min().copied(), widths.iter().max().copied()) else {
        return Ok(Drawing::Nothing(
            "No layer has a dot product that could be split, or --grid none disabled this plot.".into(),
        ));
    };
    let depth = |bits: u32| f64::from(bits - low) / f64::from((high - low).max(1));
    let row = |layer: &crate::SizeRow| {
        let cell = |&tile: &usize| {
            let row = least(layer.index, tile)?;
            let (fill, ink) = match row.pareto {
                true => (ORANGE, INK),
                false => (Ramp::BLUE.color(depth(row.inner_bits)), Ramp::BLUE.ink(depth(row.inner_bits))),
            };
            Some(HeatCell { fill, ink, text: format!("{}+{}", row.inner_bits, row.outer_bits) })
        };
        HeatRow {
            label: layer_label(layer.index, &layer.name),
            cells: tiles.iter().map(cell).collect(),
            note: String::new(),
            fence: None,
        }
    };
    let layers = Extremes::of(size.layers.iter().collect(), ROWS, |layer| layer.terms as f64);
    let table = HeatTable {
        columns: tiles.iter().map(usize::to_string).collect(),
        title: "products per run of the inner accumulator; cells: inner + outer bits".into(),
        note_title: String::new(),
        rows: layers.shown.iter().map(|layer| row(layer)).collect(),
    };
    let legend = Legend::new([
        Entry::new(Mark::Box(ORANGE), "on the Pareto front"),
        Entry::new(Mark::Box(Ramp::BLUE.color(0.0)), format!("{low} inner bits")),
        Entry::new(Mark::Box(Ramp::BLUE.color(1.0)), format!("{high} inner bits")),
    ]);
    let note = layers.note("layers", "products per dot product");
    let content: Vec<Content<'_>> = [legend.content(), table.content()].into_iter().chain(note).collect();
    Ok(Drawing::Figure(figure(sheet, &subtitle(size), &content)?))
}
