//! Plot of the width of every layer by every method.

use super::{NO_LAYERS, subtitle};
use crate::plots::kit::{
    Axis, Content, DrawError, Entry, Extremes, Legend, Look, Mark, Scale, Sheet, category_look, chart, figure,
};
use crate::plots::{Drawing, Plot};
use crate::tables::SizeRow;
use crate::{SizeRecord, layer_label};

pub(super) const PLOT: Plot<SizeRecord> = Plot {
    name: "widths",
    title: "Accumulator width that each layer needs",
    caption: "Widths by the operands' types, by A2Q's closed form, by the real weights and by the ranges \
              that reach the layer are proved for every input. Widths by the samples hold their final sums \
              (enough if sums wrap) or their prefixes in the hardware's order (required if they saturate). \
              The gap between the two kinds is the price of a guarantee.",
    draw,
};

/// Method: its name, and the width it finds for a layer.
type Series = (&'static str, fn(&SizeRow) -> Option<u32>);

const SERIES: [Series; 7] = [
    ("prefixes of the samples", |row| Some(row.bits_data_prefix)),
    ("by type", |row| Some(row.bits_type)),
    ("within the budget", |row| row.bits_budget),
    ("A2Q", |row| row.bits_a2q),
    ("final sums of the samples", |row| Some(row.bits_data_final)),
    ("ranges through the network", |row| Some(row.bits_range)),
    ("by weights", |row| row.bits_weights),
];

/// Greatest number of layers.
const ROWS: usize = 50;

fn draw(size: &SizeRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    let used: Vec<(Look, Series)> = SERIES
        .into_iter()
        .enumerate()
        .filter(|(_, (_, width))| size.layers.iter().any(|row| width(row).is_some()))
        .map(|(index, series)| (category_look(index), series))
        .collect();
    let widths = used.iter().flat_map(|(_, (_, width))| size.layers.iter().filter_map(width));
    let (Some(low), Some(high)) = (widths.clone().min(), widths.max()) else {
        return Ok(Drawing::Nothing(NO_LAYERS.into()));
    };
    let x = Axis::new("accumulator width (bits)", Scale::whole(low, high, 40));
    let layers =
        Extremes::of(size.layers.iter().collect(), ROWS, |row: &&SizeRow| f64::from(row.bits_data_prefix));
    let note = layers.note("layers", "bits of the prefixes");
    let layers: Vec<&SizeRow> = layers.shown;
    let names = layers.iter().map(|row| layer_label(row.index, &row.name));
    let y = Axis::new("", Scale::names(names));
    let legend =
        used.iter().map(|(look, (name, _))| Entry::new(Mark::Series(Look { dash: None, ..*look }), *name));
    let height = 62 + (8 * used.len() as u32 + 12) * layers.len() as u32;
    let dots = Content::new(height, |area| {
        let mut panel = chart(area, "", "", &x, &y)?;
        let last = layers.len() as f64 - 1.0;
        // Series of one layer are placed below each other, so that equal widths do not hide each other.
        let step = 0.72 / used.len().max(2) as f64;
        for (place, (look, (_, width))) in used.iter().enumerate() {
            let shift = (used.len() as f64 - 1.0) / 2.0 - place as f64;
            let point = |(i, &row): (usize, &&SizeRow)| {
                let width = width(row)?;
                Some((f64::from(width), last - i as f64 + shift * step))
            };
            let points: Vec<(f64, f64)> = layers.iter().enumerate().filter_map(point).collect();
            panel.points(&points, *look)?;
        }
        Ok(())
    });
    let content: Vec<Content<'_>> = [Legend::new(legend).content(), dots].into_iter().chain(note).collect();
    Ok(Drawing::Figure(figure(sheet, &subtitle(size), &content)?))
}
