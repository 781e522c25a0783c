//! Plot of the SQNR of every part against the float network.

use plotters::style::text_anchor::{HPos, VPos};

use super::subtitle;
use crate::plots::kit::{
    Axis, BLUE, Content, DrawError, Entry, Extremes, GREY, INK, Legend, Mark, Scale, Sheet, chart, figure,
};
use crate::plots::{Drawing, Plot};
use crate::tables::PartRow;
use crate::{QuantizeRecord, layer_label};

pub(super) const PLOT: Plot<QuantizeRecord> = Plot {
    name: "sqnr_to_float",
    title: "Signal to noise against the float network",
    caption: "Signal to quantization noise ratio of each part's output against that of the float network, \
              on the calibration samples, including the error of all earlier parts. 20 dB more means a \
              tenth of the error.",
    draw,
};

/// Greatest number of bars.
const ROWS: usize = 120;

fn draw(record: &QuantizeRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    let rows: Vec<(&PartRow, f64)> =
        record.parts.iter().filter_map(|row| Some((row, row.sqnr_db?.value()))).collect();
    if rows.is_empty() {
        return Ok(Drawing::Nothing("No part of the network was observed.".into()));
    }
    let rows = Extremes::of(rows, ROWS, |(_, sqnr)| -sqnr);
    let note = rows.note("parts", "SQNR");
    let rows = rows.shown;
    let x = Axis::new("SQNR (dB)", Scale::decibel(rows.iter().map(|(_, sqnr)| *sqnr)));
    let y = Axis::new("", Scale::names(rows.iter().map(|(row, _)| layer_label(row.index, &row.part))));
    let legend = [(BLUE, "on codes"), (GREY, "in float")];
    let legend = Legend::new(legend.map(|(color, name)| Entry::new(Mark::Box(color), name)));
    let bars = Content::new(62 + 23 * rows.len() as u32, |area| {
        let panel = chart(area, "", "", &x, &y)?;
        for (i, (row, sqnr)) in rows.iter().enumerate() {
            let middle = (rows.len() - 1 - i) as f64;
            let (zero, end) = (x.scale.at(0.0), x.scale.at(*sqnr));
            let fill = if row.float.is_some() { GREY } else { BLUE };
            panel.bar((zero, middle - 0.32), (end, middle + 0.32), fill, None)?;
            let value = if sqnr.is_finite() { format!("{sqnr:.1} dB") } else { "equal".to_owned() };
            panel.note(&value, (end.max(zero), middle), (5, 0), (HPos::Left, VPos::Center), INK)?;
        }
        Ok(())
    });
    let content: Vec<Content<'_>> = [legend.content(), bars].into_iter().chain(note).collect();
    Ok(Drawing::Figure(figure(sheet, &subtitle(record), &content)?))
}
