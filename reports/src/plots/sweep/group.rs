//! Groups of sweep points: one model on one accelerator.

use std::borrow::Borrow;
use std::collections::HashMap;

use crate::numbers::counted;
use crate::plots::kit::{Axis, Content, Entry, Extremes, Legend, Mark, Scale, mode_look};
use crate::tables::short_key;
use crate::{PointRecord, SummaryRow, layer_label};

/// Greatest number of groups that get panels of their own.
const MOST: usize = 8;

/// Groups that are shown: all, or the worst and the best.
pub(crate) type Groups<'a> = Extremes<Group<'a>>;

impl<'a> Groups<'a> {
    /// Returns the shown groups of `points`.
    pub fn shown(points: &'a [PointRecord]) -> Self {
        Self::of(Group::all(points), MOST, Group::badness)
    }
}

impl<'a, G: Borrow<Group<'a>>> Extremes<G> {
    /// Returns a sentence on the groups that are left out, if any.
    pub fn others(&self) -> Option<String> {
        let by = match self.shown.iter().all(|group| group.borrow().share().is_some()) {
            true => "accuracy (agreement without labels), over their points",
            false => "output codes that differ, over their points",
        };
        self.left_out("combinations of the axes", by)
    }

    /// Returns the sentence of [`others`](Self::others) as a block of a figure.
    pub fn others_note(&self) -> Option<Content<'static>> {
        self.others().map(Content::note)
    }
}

/// Points of one model on one accelerator, in order of width.
#[derive(Debug, Clone)]
pub(crate) struct Group<'a> {
    /// The points.
    pub points: Vec<&'a PointRecord>,
    /// Overflow modes, in the order in which they were given.
    pub modes: Vec<&'a str>,
    /// Settings that distinguish this group from others; empty for a single group.
    pub heading: String,
}

impl<'a> Group<'a> {
    /// Returns all groups, in the order in which they were given.
    pub fn all(points: &'a [PointRecord]) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        let mut known = HashMap::new();
        for point in points.iter().filter(|point| point.summary.bits.is_some()) {
            let key = (&point.summary.model, &point.summary.hw, point.others());
            let at = *known.entry(key).or_insert_with(|| {
                groups.push(Self { points: Vec::new(), modes: Vec::new(), heading: String::new() });
                groups.len() - 1
            });
            groups[at].add(point);
        }
        let several = groups.len() > 1;
        let subject = |group: &Self| {
            let summary = &group.points[0].summary;
            format!("{} on {}", summary.model, summary.hw)
        };
        let alone = groups.windows(2).all(|pair| subject(&pair[0]) == subject(&pair[1]));
        for group in &mut groups {
            group.points.sort_by_key(|point| point.summary.width());
            if several {
                let others = group.points[0].others();
                let others = others.into_iter().map(|one| format!("{} {}", short_key(&one.key), one.value));
                let subject = (!alone).then(|| subject(group));
                group.heading = subject.into_iter().chain(others).collect::<Vec<_>>().join(" · ");
            }
        }
        groups
    }

    /// Returns `bits` with the level that has them, if other levels are varied too, e.g. `18 bits in acc`.
    pub fn width(&self, bits: u32) -> String {
        let point = self.points[0];
        match point.others().iter().any(|one| one.key.starts_with("accumulation.")) {
            true => format!("{bits} bits in {}", point.summary.level),
            false => format!("{bits} bits"),
        }
    }

    /// Returns every setting that distinguishes a point from others, e.g. `18 bits in acc (wrap, chain.bits 16)`.
    pub fn name(&self, row: &SummaryRow) -> String {
        let settings = match self.heading.as_str() {
            "" => row.overflow.clone(),
            heading => format!("{}, {}", row.overflow, heading.replace(" · ", ", ")),
        };
        format!("{} ({settings})", self.width(row.width()))
    }

    /// Returns the points of one overflow mode, in order of width.
    pub fn of_mode(&self, mode: &str) -> Vec<&'a PointRecord> {
        self.points.iter().copied().filter(|point| point.summary.overflow == mode).collect()
    }

    /// Returns the axis of swept widths with at most `ticks` ticks.
    pub fn width_axis(&self, ticks: u32) -> Axis {
        let level = &self.points[0].summary.level;
        let (low, high) =
            (self.points[0].summary.width(), self.points[self.points.len() - 1].summary.width());
        Axis::new(format!("width of level {level} (bits)"), Scale::whole(low, high, ticks))
    }

    /// Returns index and label of every layer with a row in some point.
    pub fn layers(&self) -> Vec<(usize, String)> {
        let mut layers: Vec<(usize, String)> = Vec::new();
        for row in self.points.iter().flat_map(|point| &point.layers) {
            if !layers.iter().any(|(index, _)| *index == row.index) {
                layers.push((row.index, layer_label(row.index, &row.name)));
            }
        }
        layers.sort_by_key(|(index, _)| *index);
        layers
    }

    /// Returns index, level and label of every level of every layer with a row in some point. Labels name the level if
    /// any layer has several.
    pub fn levels(&self) -> Vec<(usize, &'a str, String)> {
        let mut levels: Vec<(usize, &str, &str)> = Vec::new();
        for row in self.points.iter().flat_map(|point| &point.layers) {
            if !levels.iter().any(|(index, level, _)| *index == row.index && *level == row.level) {
                levels.push((row.index, &row.level, &row.name));
            }
        }
        levels.sort_by_key(|(index, ..)| *index);
        let several = levels.windows(2).any(|pair| pair[0].0 == pair[1].0);
        let label = |(index, level, name): (usize, &'a str, &str)| {
            let layer = layer_label(index, name);
            (index, level, if several { format!("{layer} · {level}") } else { layer })
        };
        levels.into_iter().map(label).collect()
    }

    /// Returns the mean accuracy of the points, or the mean agreement without labels; `None` if nothing is
    /// classified.
    fn share(&self) -> Option<f64> {
        let shares =
            self.points.iter().filter_map(|point| point.summary.accuracy.or(point.summary.top1_agreement));
        let (sum, count) = shares.fold((0.0, 0u32), |(sum, count), share| (sum + share.value(), count + 1));
        (count > 0).then(|| sum / f64::from(count))
    }

    /// Returns a measure that is greater the worse the points are on average.
    pub fn badness(&self) -> f64 {
        let differ: f64 =
            self.points.iter().filter_map(|point| point.summary.output_mismatch).map(|n| n as f64).sum();
        self.share().map_or(differ, |share| -share)
    }

    fn add(&mut self, point: &'a PointRecord) {
        self.points.push(point);
        if !self.modes.contains(&point.summary.overflow.as_str()) {
            self.modes.push(&point.summary.overflow);
        }
    }
}

/// Returns the line below the title: what was swept.
pub(super) fn subtitle(groups: &Groups<'_>) -> String {
    let summary = &groups.shown[0].points[0].summary;
    let of = format!("{} · {}", counted(summary.samples, "sample"), summary.mode);
    match groups.all {
        1 => format!("{} on {} · {of}", summary.model, summary.hw),
        all => format!("{} · {of}", counted(all as u64, "combination")),
    }
}

/// Returns a legend of the overflow modes of all groups, followed by `more`.
pub(super) fn mode_legend(groups: &[Group<'_>], more: impl IntoIterator<Item = Entry>) -> Content<'static> {
    let mut modes: Vec<&str> = Vec::new();
    for mode in groups.iter().flat_map(|group| &group.modes) {
        if !modes.contains(mode) {
            modes.push(mode);
        }
    }
    let entries = modes.into_iter().map(|mode| Entry::new(Mark::Series(mode_look(mode)), mode));
    Legend::new(entries.chain(more)).content()
}
