//! Plot of the required bits of the swept level.

use super::by_width;
use super::group::{Group, subtitle};
use crate::plots::kit::{Content, DrawError, Sheet, figure};
use crate::plots::required_bits::{BITS_NOT_FOUND, LevelBits, content};
use crate::plots::{Drawing, Plot};
use crate::{PointRecord, layer_label};

pub(super) const PLOT: Plot<[PointRecord]> = Plot {
    name: "required_bits",
    title: "Required bits of the sums at the swept level",
    caption: "Required bits of the sums of each dot product, as a share of all dot products of the layer, \
              on a logarithmic axis, taken from the widest point (in propagated mode, on the activations of \
              that point). Wrapping arithmetic is exact if every final sum fits, saturation if every prefix \
              fits.",
    draw,
};

fn draw(points: &[PointRecord], sheet: Sheet) -> Result<Drawing, DrawError> {
    let groups = match by_width(points) {
        Ok(groups) => groups,
        Err(nothing) => return Ok(nothing),
    };
    let levels: Vec<(String, Vec<LevelBits<'_>>)> =
        groups.shown.iter().map(|group| (group.heading.clone(), swept_levels(group))).collect();
    if levels.iter().all(|(_, levels)| levels.is_empty()) {
        return Ok(Drawing::Nothing(BITS_NOT_FOUND.into()));
    }
    let mut blocks = Vec::new();
    for (heading, levels) in &levels {
        if !heading.is_empty() {
            blocks.push(Content::heading(heading));
        }
        blocks.extend(content(sheet, levels));
    }
    blocks.extend(groups.others_note());
    Ok(Drawing::Figure(figure(sheet, &subtitle(&groups), &blocks)?))
}

fn swept_levels<'a>(group: &Group<'a>) -> Vec<LevelBits<'a>> {
    let Some(widest) = group.points.last() else { return Vec::new() };
    let swept = widest.histograms.iter().filter(|h| h.level == widest.summary.level);
    let label = |h: &crate::LevelHistogram| layer_label(h.index, &h.name);
    swept.map(|h| LevelBits { label: label(h), histogram: h, available: None }).collect()
}
