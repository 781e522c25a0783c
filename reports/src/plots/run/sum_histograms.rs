//! Plot of the distribution of sums within the register's range and beyond.

use plotters::style::RGBColor;

use super::subtitle;
use crate::plots::kit::{
    Area, Axis, BLUE, Content, DrawError, Entry, INK, Legend, Mark, ORANGE, Scale, Sheet, VERMILLION, chart,
    columns, figure, percent,
};
use crate::plots::{Drawing, Plot};
use crate::records::{SumHistogram, SumKind};
use crate::{RunRecord, layer_label};

pub(super) const PLOT: Plot<RunRecord> = Plot {
    name: "sum_histograms",
    title: "Sums against the register's range",
    caption: "Distribution of the sums of each level with unlimited widths, over all output channels, as \
              shares on a logarithmic axis. Dashed lines are the ends of the register's range (for auto, of \
              the width that the weights prove). The last bins on either side include everything beyond. \
              The least and the greatest prefix of every dot product show how far partial sums go.",
    draw,
};

/// Greatest number of levels that get a panel each. Levels that go furthest beyond their range are chosen.
const PANELS: usize = 24;
/// Colour of the region outside the register's range.
const BEYOND: RGBColor = RGBColor(0xFB, 0xE9, 0xE2);

fn draw(run: &RunRecord, sheet: Sheet) -> Result<Drawing, DrawError> {
    if run.sums.is_empty() {
        return Ok(Drawing::Nothing("Not counted: this plot needs --histograms.".into()));
    }
    let mut chosen: Vec<&SumHistogram> = run.sums.iter().collect();
    if chosen.len() > PANELS {
        chosen.sort_by_key(|histogram| std::cmp::Reverse(outside(histogram)));
        chosen.truncate(PANELS);
        chosen.sort_by_key(|histogram| histogram.index);
    }
    let legend = vec![
        Entry::new(Mark::Box(BLUE), "final sums"),
        Entry::new(Mark::Box(VERMILLION), "least prefix"),
        Entry::new(Mark::Box(ORANGE), "greatest prefix"),
        Entry::new(Mark::Dashes(INK), "ends of the range"),
        Entry::new(Mark::Box(BEYOND), "does not fit"),
    ];
    let shares =
        chosen.iter().flat_map(|histogram| SumKind::ALL.map(|kind| shares(histogram, kind))).flatten();
    let y = Axis::new("share of the sums", Scale::log_bars(shares.collect::<Vec<_>>()));
    let mut content: Vec<Content<'_>> = vec![Legend::new(legend).content()];
    if chosen.len() < run.sums.len() {
        content.push(Content::note(format!(
            "The {PANELS} levels of {} of which most sums lie outside.",
            run.sums.len()
        )));
    }
    let several = run.sums.windows(2).any(|pair| pair[0].index == pair[1].index);
    let columns = columns(chosen.len());
    content.extend(
        sheet.panels(&chosen, columns, 235, move |area, histogram| panel(area, histogram, several, &y)),
    );
    Ok(Drawing::Figure(figure(sheet, &subtitle(run), &content)?))
}

/// Returns the number of prefixes outside the range.
fn outside(histogram: &SumHistogram) -> u64 {
    let (low, high) = histogram.range;
    let edges = histogram.bins.edges();
    let beyond = |kind: SumKind, is_out: &dyn Fn(usize) -> bool| -> u64 {
        histogram
            .total(kind)
            .iter()
            .enumerate()
            .filter(|&(bin, _)| is_out(bin))
            .map(|(_, &count)| count)
            .sum()
    };
    // Bin 0 lies below the first edge.
    beyond(SumKind::MinPrefix, &|bin| edges.get(bin).is_some_and(|&end| end <= low))
        + beyond(SumKind::MaxPrefix, &|bin| bin > 0 && edges[bin - 1] > high)
}

fn shares(histogram: &SumHistogram, kind: SumKind) -> Vec<f64> {
    let counts = histogram.total(kind);
    let all = counts.iter().sum::<u64>().max(1) as f64;
    counts.into_iter().map(|count| count as f64 / all).collect()
}

fn panel(area: &Area<'_>, histogram: &&SumHistogram, several: bool, y: &Axis) -> Result<(), DrawError> {
    let layer = layer_label(histogram.index, &histogram.name);
    let label = if several { format!("{layer} · {}", histogram.level) } else { layer };
    let edges: Vec<f64> = histogram.bins.edges().into_iter().map(|edge| edge as f64).collect();
    let width = histogram.bins.width as f64;
    let (first, last) = (edges[0] - width, edges[edges.len() - 1] + width);
    let x = Axis::new("sum, in units of the level", Scale::between(first, last));
    let mut panel = chart(area, &label, &summary(histogram), &x, y)?;
    let (low, high) = (histogram.range.0 as f64, histogram.range.1 as f64 + 1.0);
    panel.bar((first, panel.ground()), (low, panel.ceiling()), BEYOND, None)?;
    panel.bar((high, panel.ground()), (last, panel.ceiling()), BEYOND, None)?;
    let span = |bin: usize| (first + bin as f64 * width, first + (bin + 1) as f64 * width);
    for (bin, share) in
        shares(histogram, SumKind::Final).into_iter().enumerate().filter(|(_, share)| *share > 0.0)
    {
        let (left, right) = span(bin);
        panel.bar((left, panel.ground()), (right, panel.height(share)), BLUE, None)?;
    }
    for (kind, color) in [(SumKind::MinPrefix, VERMILLION), (SumKind::MaxPrefix, ORANGE)] {
        let shares = shares(histogram, kind);
        // Outline each run of non-empty bins.
        for run in filled(&shares) {
            let corners = run.flat_map(|bin| [span(bin).0, span(bin).1].map(|x| (x, shares[bin])));
            panel.outline(&corners.collect::<Vec<_>>(), color)?;
        }
    }
    panel.upright(low, INK)?;
    panel.upright(high, INK)
}

/// Returns the runs of adjacent non-empty bins.
fn filled(shares: &[f64]) -> Vec<std::ops::Range<usize>> {
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    for bin in (0..shares.len()).filter(|&bin| shares[bin] > 0.0) {
        match runs.last_mut().filter(|run| run.end == bin) {
            Some(run) => run.end += 1,
            None => runs.push(bin..bin + 1),
        }
    }
    runs
}

/// Returns a summary of the sums outside the range, short enough for one of three panels.
fn summary(histogram: &SumHistogram) -> String {
    let both = [SumKind::MinPrefix, SumKind::MaxPrefix].map(|kind| histogram.total(kind).iter().sum::<u64>());
    let outside = percent(outside(histogram) as f64 / (both[0] + both[1]).max(1) as f64);
    format!("{} bits: {outside} of these prefixes lie outside", histogram.bits)
}
