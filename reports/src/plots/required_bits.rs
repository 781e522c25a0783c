//! Plot of the bits that the sums of each level require: bars for a few levels, a table for many.

use guardbit_num::MAX_BITS;
use plotters::style::RGBColor;

use super::DrawError;
use super::kit::{
    Area, Axis, BLUE, Content, Entry, Extremes, HeatCell, HeatRow, HeatTable, INK, Legend, Mark, ORANGE,
    Ramp, Scale, Sheet, chart, columns, percent, short_percent,
};
use crate::LevelHistogram;

/// Reason shown if the required bits were not counted.
pub(super) const BITS_NOT_FOUND: &str = "Not counted: this plot needs --stats values or full.";

/// Greatest number of levels that get a panel each.
const PANELS: usize = 12;
/// Greatest number of levels in a table, of two rows each.
const TABLE: usize = 48;
/// Colour of the region beyond the available width.
const BEYOND: RGBColor = RGBColor(0xFB, 0xE9, 0xE2);
/// Number of decades of shares that the table's colours distinguish.
const DECADES: f64 = 6.0;

/// Level with its label.
pub(super) struct LevelBits<'a> {
    /// Names of the layer and the level.
    pub label: String,
    /// Histogram of the level.
    pub histogram: &'a LevelHistogram,
    /// Available width, if any.
    pub available: Option<Available>,
}

/// Available width, and the share of dot products that do not fit it.
#[derive(Clone, Copy)]
pub(super) struct Available {
    /// Width in bits.
    pub bits: u32,
    /// Share of dot products with a persistent overflow.
    pub persistent: f64,
    /// Share of dot products with a transient overflow.
    pub transient: f64,
}

/// Returns the histograms of `levels` as blocks of a figure.
pub(super) fn content<'a>(sheet: Sheet, levels: &'a [LevelBits<'a>]) -> Vec<Content<'a>> {
    if levels.len() <= PANELS { bars(sheet, levels) } else { table(levels) }
}

fn bars<'a>(sheet: Sheet, levels: &'a [LevelBits<'a>]) -> Vec<Content<'a>> {
    let mut legend = vec![
        Entry::new(Mark::Box(BLUE), "final sums"),
        Entry::new(Mark::Box(ORANGE), "prefixes (every partial sum)"),
    ];
    if levels.iter().any(|level| level.available.is_some()) {
        legend.push(Entry::new(Mark::Dashes(INK), "available width"));
        legend.push(Entry::new(Mark::Box(BEYOND), "does not fit"));
    }
    let (low, high) = range(levels);
    let shares = levels.iter().flat_map(|level| {
        let dots = level.histogram.dots().max(1) as f64;
        let counts = level.histogram.required_final.iter().chain(&level.histogram.required_prefix);
        counts.map(move |&count| count as f64 / dots)
    });
    let columns = columns(levels.len());
    let ticks = if columns == 3 { 12 } else { 20 };
    let x = Axis::new("required bits", Scale::whole(low, high, ticks));
    let y = Axis::new("share of dot products", Scale::log_bars(shares));
    let mut content = vec![Legend::new(legend).content()];
    // All panels share the axes, so that layers can be compared.
    content.extend(sheet.panels(levels, columns, 235, move |area, level| draw_bars(area, level, &x, &y)));
    content
}

fn draw_bars(area: &Area<'_>, level: &LevelBits<'_>, x: &Axis, y: &Axis) -> Result<(), DrawError> {
    let panel = chart(area, &level.label, &summary(level), x, y)?;
    let dots = level.histogram.dots().max(1) as f64;
    if let Some(available) = level.available {
        let edge = f64::from(available.bits) + 0.5;
        panel.bar((edge, panel.ground()), (panel.end(), panel.ceiling()), BEYOND, None)?;
    }
    let series = [
        (&level.histogram.required_final, BLUE, -0.4, 0.0),
        (&level.histogram.required_prefix, ORANGE, 0.0, 0.4),
    ];
    for (counts, color, left, right) in series {
        let counts = counts.iter().enumerate().take(MAX_BITS as usize + 1);
        for (bits, &count) in counts.filter(|(_, count)| **count > 0) {
            let top = panel.height(count as f64 / dots);
            panel.bar((bits as f64 + left, panel.ground()), (bits as f64 + right, top), color, None)?;
        }
    }
    if let Some(available) = level.available {
        let edge = f64::from(available.bits) + 0.5;
        panel.upright(edge, INK)?;
    }
    Ok(())
}

fn table<'a>(levels: &'a [LevelBits<'a>]) -> Vec<Content<'a>> {
    let levels = Extremes::of(levels.iter().collect(), TABLE, |level| level.badness());
    let note = levels.note("levels", "dot products that do not fit, then bits of the prefixes");
    let levels = levels.shown;
    let (low, high) = range(levels.iter().copied());
    let row = |level: &LevelBits<'_>, label: String, counts: &[u64], note: String| {
        let dots = level.histogram.dots().max(1) as f64;
        let cell = |bits: u32| {
            let count = counts.get(bits as usize).copied().filter(|&count| count > 0)?;
            let share = count as f64 / dots;
            let depth = 1.0 + share.log10().max(-DECADES) / DECADES;
            let text = short_percent(share);
            Some(HeatCell { fill: Ramp::BLUE.color(depth), ink: Ramp::BLUE.ink(depth), text })
        };
        let fence = level.available.map(|width| (width.bits.clamp(low - 1, high) + 1 - low) as usize);
        HeatRow { label, cells: (low..=high).map(cell).collect(), note, fence }
    };
    let mut rows = Vec::new();
    for &level in &levels {
        let note = |name: &str, share: fn(&Available) -> f64| match &level.available {
            Some(available) => format!("{name} {}", percent(share(available))),
            None => String::new(),
        };
        let finals = note("persistent", |available| available.persistent);
        rows.push(row(level, level.label.clone(), &level.histogram.required_final, finals));
        let prefixes = note("transient", |available| available.transient);
        rows.push(row(level, "prefixes".into(), &level.histogram.required_prefix, prefixes));
    }
    let table = HeatTable {
        columns: (low..=high).map(|bits| bits.to_string()).collect(),
        title: "required bits; cells: dot products in %, by final sums in the row of the layer's name, by prefixes below it".into(),
        note_title: "of all dot products".into(),
        rows,
    };
    let shade = |decade: i32| {
        let depth = 1.0 + f64::from(decade) / DECADES;
        Entry::new(Mark::Box(Ramp::BLUE.color(depth)), percent(10f64.powi(decade)))
    };
    let mut legend: Vec<Entry> = [0, -2, -4, -6].into_iter().map(shade).collect();
    legend[0].name += " of the dot products";
    if levels.iter().any(|level| level.available.is_some()) {
        legend.push(Entry::new(Mark::Box(INK), "bar: available width; sums to the right of it do not fit"));
    }
    [Legend::new(legend).content(), table.content()].into_iter().chain(note).collect()
}

impl LevelBits<'_> {
    /// Returns how badly the level fits: first by the share of dot products that do not fit, then by the
    /// required bits.
    fn badness(&self) -> f64 {
        let beyond = self.available.map_or(0.0, |available| available.persistent + available.transient);
        beyond + self.histogram.required_prefix.len() as f64 * 1e-6
    }
}

/// Returns the panel's summary in words.
fn summary(level: &LevelBits<'_>) -> String {
    if let Some(Available { bits, persistent, transient }) = level.available {
        let (persistent, transient) = (percent(persistent), percent(transient));
        return format!("{bits} bits: persistent {persistent}, transient {transient}");
    }
    let bits = |counts: &[u64]| match counts.len().saturating_sub(1) {
        bits if bits > MAX_BITS as usize => "no unsigned width".to_owned(),
        bits => format!("{bits} bits"),
    };
    let histogram = level.histogram;
    let (finals, prefixes) = (bits(&histogram.required_final), bits(&histogram.required_prefix));
    format!("final sums fit {finals}, prefixes {prefixes}")
}

/// Returns the least and the greatest number of bits that any level requires or has.
fn range<'a>(levels: impl IntoIterator<Item = &'a LevelBits<'a>>) -> (u32, u32) {
    let used = |level: &LevelBits<'_>| {
        let counts = [&level.histogram.required_final, &level.histogram.required_prefix];
        let first = counts.iter().filter_map(|c| c.iter().position(|&count| count > 0)).min();
        let last = counts.iter().map(|c| c.len()).max().unwrap_or(0).saturating_sub(1);
        let (first, last) = (first.unwrap_or(last) as u32, last as u32);
        match level.available {
            Some(available) => (first.min(available.bits), last.max(available.bits + 1)),
            None => (first, last),
        }
    };
    let widest = |(low, high): (u32, u32), (l, h): (u32, u32)| (low.min(l), high.max(h));
    let (low, high) = levels.into_iter().map(used).reduce(widest).unwrap_or((1, 1));
    (low.min(MAX_BITS), high.min(MAX_BITS))
}
