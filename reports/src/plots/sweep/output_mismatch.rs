//! Plot of the output codes that differ, against width.

use super::by_width;
use super::group::{Group, mode_legend, subtitle};
use crate::PointRecord;
use crate::plots::kit::{Area, Axis, DrawError, Scale, Sheet, chart, figure, mode_look};
use crate::plots::{Drawing, Plot};

pub(super) const PLOT: Plot<[PointRecord]> = Plot {
    name: "output_mismatch",
    title: "Output codes that differ from the exact network",
    caption: "Number of codes of the network's output, over all samples, that differ from the exact \
              network, on a logarithmic axis; points on the line 0 are bit-exact. In isolated mode, the \
              codes of all layers' outputs are counted.",
    draw,
};

fn draw(points: &[PointRecord], sheet: Sheet) -> Result<Drawing, DrawError> {
    let groups = match by_width(points) {
        Ok(groups) => groups,
        Err(nothing) => return Ok(nothing),
    };
    let mut content = vec![mode_legend(&groups.shown, [])];
    let columns = groups.shown.len().min(2);
    content.extend(sheet.panels(&groups.shown, columns, 300, |area, group| draw_panel(area, group)));
    content.extend(groups.others_note());
    Ok(Drawing::Figure(figure(sheet, &subtitle(&groups), &content)?))
}

fn draw_panel(area: &Area<'_>, group: &Group<'_>) -> Result<(), DrawError> {
    let counts = group.points.iter().filter_map(|point| point.summary.output_mismatch);
    let y = Axis::new("differing output codes", Scale::log_count(counts));
    let mut chart = chart(area, &group.heading, "", &group.width_axis(24), &y)?;
    for mode in &group.modes {
        let of_mode = group.of_mode(mode);
        let value = |point: &&PointRecord| {
            Some((f64::from(point.summary.width()), point.summary.output_mismatch? as f64))
        };
        let curve: Vec<(f64, f64)> = of_mode.iter().filter_map(value).collect();
        chart.line(&curve, mode_look(mode))?;
    }
    Ok(())
}
