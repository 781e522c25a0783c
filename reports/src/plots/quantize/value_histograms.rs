//! Plot of the values of every tensor and the range that its codes cover.

use super::subtitle;
use crate::QuantizeRecord;
use crate::plots::kit::{
    Area, Axis, BLUE, DrawError, Entry, Legend, Mark, Scale, Sheet, VERMILLION, chart, columns, figure,
};
use crate::plots::{Drawing, Plot};
use crate::tables::{HistogramRow, TensorRow};

pub(super) const PLOT: Plot<QuantizeRecord> = Plot {
    name: "value_histograms",
    title: "Values of every tensor",
    caption: "How often each value occurs in the float network, on the calibration samples. The lines are \
              the real values of the least and the greatest code; values outside are clipped.",
    draw,
};

/// Greatest number of tensors that get a panel.
const PANELS: usize = 24;
/// Tensor with its bins.
struct Panel<'a> {
    row: &'a TensorRow,
    bins: Vec<&'a HistogramRow>,
}

fn draw(record: &QuantizeRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    let panel =
        |row| Panel { row, bins: record.histograms.iter().filter(|bin| bin.tensor == row.tensor).collect() };
    let shown: Vec<Panel<'_>> = record.tensors.iter().take(PANELS).map(panel).collect();
    if shown.is_empty() {
        return Ok(Drawing::Nothing("No tensor has codes.".into()));
    }
    let legend = Legend::new([
        Entry::new(Mark::Box(BLUE), "values"),
        Entry::new(Mark::Dashes(VERMILLION), "least and greatest code"),
    ]);
    let mut content = vec![legend.content()];
    content.extend(sheet.panels(&shown, columns(shown.len()), 220, |area, panel| draw_panel(area, panel)));
    let mut subtitle = subtitle(record);
    if record.tensors.len() > PANELS {
        subtitle = format!("{subtitle} · the first {PANELS} of {} tensors", record.tensors.len());
    }
    Ok(Drawing::Figure(figure(sheet, &subtitle, &content)?))
}

fn draw_panel(area: &Area<'_>, panel: &Panel<'_>) -> Result<(), DrawError> {
    let Panel { row, bins } = panel;
    let values = row.values.max(1) as f64;
    let (low, high) = (row.float_min.min(row.real_min), row.float_max.max(row.real_max));
    let x = Axis::new("value", Scale::between(low, high));
    let y = Axis::new("share of values", Scale::log_bars(bins.iter().map(|bin| bin.count as f64 / values)));
    let codes = format!("{} [{}, {}]", row.dtype, row.code_min, row.code_max);
    let chart = chart(area, &row.tensor, &codes, &x, &y)?;
    for bin in bins.iter().filter(|bin| bin.count > 0) {
        let top = chart.height(bin.count as f64 / values);
        let right = bin.high.max(bin.low + 0.002 * (high - low));
        chart.bar((bin.low, chart.ground()), (right, top), BLUE, None)?;
    }
    chart.upright(row.real_min, VERMILLION)?;
    chart.upright(row.real_max, VERMILLION)
}
