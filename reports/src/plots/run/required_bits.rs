//! Plot of the required bits of every level against its width.

use super::subtitle;
use crate::plots::kit::{DrawError, Sheet, figure};
use crate::plots::required_bits::{Available, BITS_NOT_FOUND, LevelBits, content};
use crate::plots::{Drawing, Plot};
use crate::{LayerRow, LevelHistogram, RunRecord, layer_label};

pub(super) const PLOT: Plot<RunRecord> = Plot {
    name: "required_bits",
    title: "Required bits of the sums against the available width",
    caption: "Required bits of the sums of each dot product, as a share of all dot products of the layer, \
              on a logarithmic axis. A final sum beyond the available width is a persistent overflow: no \
              order of additions avoids it. A dot product with only a prefix beyond the width is a \
              transient overflow: wrapping arithmetic recovers from it, saturation mostly does not. In \
              propagated mode the activations are those of this run, which earlier overflow may have \
              changed.",
    draw,
};

fn draw(run: &RunRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    if run.histograms.is_empty() {
        return Ok(Drawing::Nothing(BITS_NOT_FOUND.into()));
    }
    let several = run.histograms.windows(2).any(|pair| pair[0].index == pair[1].index);
    let label = |h: &LevelHistogram| {
        let layer = layer_label(h.index, &h.name);
        if several { format!("{layer} · {}", h.level) } else { layer }
    };
    let levels: Vec<LevelBits<'_>> = run
        .histograms
        .iter()
        .map(|h| LevelBits { label: label(h), histogram: h, available: available(run, h) })
        .collect();
    Ok(Drawing::Figure(figure(sheet, &subtitle(run), &content(sheet, &levels))?))
}

/// Returns the available width with the counts of the simulation. The histogram alone would not account for
/// symmetric rails.
fn available(run: &RunRecord, histogram: &LevelHistogram) -> Option<Available> {
    let bits = histogram.bits.bits()?;
    let own = |row: &&LayerRow| row.index == histogram.index && row.level == histogram.level;
    let row = run.layers.iter().find(own)?;
    let share = |count: Option<u64>| count.unwrap_or(0) as f64 / row.dots.max(1) as f64;
    Some(Available { bits, persistent: share(row.persistent), transient: share(row.transient) })
}
