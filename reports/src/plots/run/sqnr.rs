//! Plot of the SQNR of every layer's output.

use plotters::style::text_anchor::{HPos, VPos};

use super::subtitle;
use crate::plots::kit::{Axis, BLUE, Content, DrawError, Extremes, INK, PALE, Scale, Sheet, chart, figure};
use crate::plots::{Drawing, Plot};
use crate::{RunRecord, layer_label};

pub(super) const PLOT: Plot<RunRecord> = Plot {
    name: "sqnr",
    title: "Signal to noise of every layer's output",
    caption: "Signal to quantization noise ratio of each layer's output, against the exact network, in dB: 20 dB more \
              means a tenth of the error. \"exact\" means that no output differs.",
    draw,
};

/// Greatest number of bars.
const ROWS: usize = 120;

fn draw(run: &RunRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    let rows = run.output_sqnr();
    if rows.is_empty() {
        return Ok(Drawing::Nothing("No layer runs on the accelerator.".into()));
    }
    let rows = Extremes::of(rows, ROWS, |(.., sqnr)| -sqnr);
    let note = rows.note("layers", "SQNR");
    let rows = rows.shown;
    let x = Axis::new("SQNR (dB)", Scale::decibel(rows.iter().map(|(.., sqnr)| *sqnr)));
    let names = rows.iter().map(|(index, name, _)| layer_label(*index, name));
    let y = Axis::new("", Scale::names(names));
    let height = 62 + 23 * rows.len() as u32;
    let bars = Content::new(height, |area| {
        let panel = chart(area, "", "", &x, &y)?;
        for (i, (.., sqnr)) in rows.iter().enumerate() {
            let middle = (rows.len() - 1 - i) as f64;
            let (zero, end) = (x.scale.at(0.0), x.scale.at(*sqnr));
            let fill = if sqnr.is_finite() { BLUE } else { PALE };
            panel.bar((zero, middle - 0.32), (end, middle + 0.32), fill, None)?;
            let value = match sqnr {
                v if *v == f64::INFINITY => "exact".to_owned(),
                v if *v == f64::NEG_INFINITY => "no signal".to_owned(),
                v => format!("{v:.1} dB"),
            };
            panel.note(&value, (end.max(zero), middle), (5, 0), (HPos::Left, VPos::Center), INK)?;
        }
        Ok(())
    });
    Ok(Drawing::Figure(figure(
        sheet,
        &subtitle(run),
        &std::iter::once(bars).chain(note).collect::<Vec<_>>(),
    )?))
}
