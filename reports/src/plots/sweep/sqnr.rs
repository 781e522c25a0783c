//! Plot of the SQNR of every layer against width.

use plotters::style::RGBColor;

use super::by_width;
use super::group::subtitle;
use super::layer_curves::{Figure, content};
use crate::PointRecord;
use crate::plots::kit::{DrawError, Entry, INK, Mark, Ramp, Scale, Sheet, figure};
use crate::plots::{Drawing, Plot};

pub(super) const PLOT: Plot<[PointRecord]> = Plot {
    name: "sqnr",
    title: "Signal to noise of every layer's output against accumulator width",
    caption: "Signal to quantization noise ratio of each layer's output, against the exact network, in dB: \
              20 dB more means a tenth of the error. \"exact\" means that no output code differs. In \
              propagated mode the error of a layer includes the errors of earlier layers.",
    draw,
};

/// SQNR in dB from which on the colours of a table do not change.
const GOOD: f64 = 60.0;

const FIGURE: Figure = Figure {
    axis: "SQNR (dB)",
    table: "SQNR in dB",
    value: |row, _| Some(row.sqnr_db?.value()),
    scale: |values| Scale::decibel(values.iter().copied()),
    badness: |sqnr| -sqnr.clamp(-1e3, 1e3),
    cell: |sqnr, _| {
        if sqnr == f64::INFINITY {
            return (RGBColor(0xF4, 0xF4, 0xF4), INK, "=".into());
        }
        let depth = depth(sqnr);
        let text = if sqnr.is_finite() { format!("{}", sqnr.round() as i64) } else { String::new() };
        (Ramp::ORANGE.color(depth), Ramp::ORANGE.ink(depth), text)
    },
    legend: |_| {
        let shade = |sqnr: f64| Entry::new(Mark::Box(Ramp::ORANGE.color(depth(sqnr))), format!("{sqnr} dB"));
        let exact = Entry::new(Mark::Box(RGBColor(0xF4, 0xF4, 0xF4)), "= equal to the exact network");
        [0.0, 20.0, 40.0, 60.0].into_iter().map(shade).chain([exact]).collect()
    },
};

fn draw(points: &[PointRecord], sheet: Sheet) -> Result<Drawing, DrawError> {
    let groups = match by_width(points) {
        Ok(groups) => groups,
        Err(nothing) => return Ok(nothing),
    };
    Ok(Drawing::Figure(figure(sheet, &subtitle(&groups), &content(sheet, &groups, &FIGURE))?))
}

/// Returns the colour depth, 0 to 1, which grows with the noise.
fn depth(sqnr: f64) -> f64 {
    1.0 - (sqnr / GOOD).clamp(0.0, 1.0)
}
