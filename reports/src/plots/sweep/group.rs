//! The points of one model on one accelerator.

use crate::numbers::counted;
use crate::plots::kit::{Axis, Content, Entry, Legend, Mark, Scale, mode_look};
use crate::tables::short_key;
use crate::{PointRecord, layer_label};

/// The points of one model on one accelerator, in order of width.
#[derive(Debug, Clone)]
pub(crate) struct Group<'a> {
    /// The points.
    pub points: Vec<&'a PointRecord>,
    /// Overflow modes, in the order in which they were asked for.
    pub modes: Vec<&'a str>,
    /// What tells this group from the others; empty if there is but one.
    pub heading: String,
}

impl<'a> Group<'a> {
    /// All groups, in the order in which they were asked for.
    pub fn all(points: &'a [PointRecord]) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for point in points.iter().filter(|point| point.summary.bits.is_some()) {
            let group = groups.iter_mut().find(|group| group.takes(point));
            match group {
                Some(group) => group.add(point),
                None => groups.push(Self {
                    points: vec![point],
                    modes: vec![&point.summary.overflow],
                    heading: String::new(),
                }),
            }
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

    /// The points of one overflow mode, in order of width.
    pub fn of_mode(&self, mode: &str) -> Vec<&'a PointRecord> {
        self.points.iter().copied().filter(|point| point.summary.overflow == mode).collect()
    }

    /// The axis of swept widths, with at most that many ticks.
    pub fn width_axis(&self, ticks: u32) -> Axis {
        let level = &self.points[0].summary.level;
        let (low, high) =
            (self.points[0].summary.width(), self.points[self.points.len() - 1].summary.width());
        Axis::new(format!("width of level {level} (bits)"), Scale::whole(low, high, ticks))
    }

    /// Index and label of every layer with a row in some point.
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

    fn takes(&self, point: &PointRecord) -> bool {
        let (own, other) = (&self.points[0].summary, &point.summary);
        own.model == other.model && own.hw == other.hw && self.points[0].others() == point.others()
    }

    fn add(&mut self, point: &'a PointRecord) {
        self.points.push(point);
        if !self.modes.contains(&point.summary.overflow.as_str()) {
            self.modes.push(&point.summary.overflow);
        }
    }
}

/// What was swept, for the line below the title.
pub(super) fn subtitle(groups: &[Group<'_>]) -> String {
    let summary = &groups[0].points[0].summary;
    let of = format!("{} · {}", counted(summary.samples, "sample"), summary.mode);
    match groups {
        [_] => format!("{} on {} · {of}", summary.model, summary.hw),
        _ => format!("{} combinations · {of}", groups.len()),
    }
}

/// A legend of the overflow modes of all groups, and what else is drawn.
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
