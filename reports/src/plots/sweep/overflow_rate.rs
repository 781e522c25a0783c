//! Plot of the overflow rate of every layer against width.

use plotters::style::RGBColor;

use super::by_width;
use super::group::subtitle;
use super::layer_curves::{Figure, content};
use crate::PointRecord;
use crate::plots::kit::{DrawError, Entry, INK, Mark, Ramp, Scale, Sheet, figure, short_percent};
use crate::plots::{Drawing, Plot};

pub(super) const PLOT: Plot<[PointRecord]> = Plot {
    name: "overflow_rate",
    title: "Overflow rate of every layer against accumulator width",
    caption: "Share of a layer's dot products with at least one overflow event at the swept level, on a \
              logarithmic axis; points on the line 0 have none.",
    draw,
};

const FIGURE: Figure = Figure {
    axis: "dot products with overflow",
    table: "dot products with overflow in %",
    value: |row, point| {
        let swept = row.level == point.summary.level && row.dots > 0;
        swept.then_some(row.outputs_touched? as f64 / row.dots as f64)
    },
    scale: |values| Scale::log_share(values.iter().copied()),
    badness: |rate| rate,
    cell: |rate, scale| {
        if rate == 0.0 {
            return (RGBColor(0xF4, 0xF4, 0xF4), INK, "0".into());
        }
        let depth = depth(rate, scale);
        (Ramp::ORANGE.color(depth), Ramp::ORANGE.ink(depth), short_percent(rate))
    },
    legend: |scale| {
        let named = scale.ticks.iter().filter(|(_, name)| name != "0");
        let shade = |(place, name): &(f64, String)| {
            Entry::new(Mark::Box(Ramp::ORANGE.color(depth(10f64.powf(*place), scale))), name)
        };
        named.map(shade).chain([Entry::new(Mark::Box(RGBColor(0xF4, 0xF4, 0xF4)), "none")]).collect()
    },
};

fn draw(points: &[PointRecord], sheet: Sheet) -> Result<Drawing, DrawError> {
    let groups = match by_width(points) {
        Ok(groups) => groups,
        Err(nothing) => return Ok(nothing),
    };
    if points.iter().all(|point| point.summary.events.is_none()) {
        return Ok(Drawing::Nothing("Not counted: this plot needs --stats events or full.".into()));
    }
    Ok(Drawing::Figure(figure(sheet, &subtitle(&groups), &content(sheet, &groups, &FIGURE))?))
}

/// Returns the position of a rate along the axis, 0 to 1.
fn depth(rate: f64, scale: &Scale) -> f64 {
    let low = scale.at(0.0);
    let place = scale.at(rate);
    ((place - low - 1.0) / (0.0 - low - 1.0).max(1.0)).clamp(0.0, 1.0)
}
