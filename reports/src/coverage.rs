//! Describes in words which of a network's multiply-accumulates the accelerator runs.

use crate::numbers::{counted, grouped, percentage};
use crate::{CoverageRecord, Fraction, HostLayer, PointRecord};

/// Greatest number of layers that are named; longer lists give the number of layers instead.
const NAMED: usize = 3;

impl CoverageRecord {
    /// Returns a summary, e.g. `87.31 % of 1,234,567 (9 of 11 MAC layers)`.
    pub fn summary(&self) -> String {
        let share = self.share.map_or("none".into(), percentage);
        format!("{share} of {} ({})", grouped(self.macs), self.layers_text())
    }

    /// Returns the number of layers on the accelerator, e.g. `9 of 11 MAC layers`.
    pub fn layers_text(&self) -> String {
        format!(
            "{} of {}",
            grouped(self.layers_on_accelerator as u64),
            counted(self.layers as u64, "MAC layer")
        )
    }

    /// Returns the part of the network that a single design covers: `all layers`, or a share of them.
    pub fn sized(&self) -> String {
        let share = self.share.map_or("none".into(), percentage);
        match self.is_whole() {
            true => "all layers".into(),
            false => format!("{} ({share} of the MACs)", self.layers_text()),
        }
    }

    /// Returns sentences on what the accelerator runs and, per reason, on what the host runs. Empty for a
    /// network without MAC layers.
    pub fn sentences(&self) -> Vec<String> {
        if self.layers == 0 {
            return Vec::new();
        }
        let share = self.share.map_or("none".into(), percentage);
        let first = format!(
            "The accelerator runs {share} of the {} multiply-accumulates (MACs) of one inference: {}",
            grouped(self.macs),
            self.layers_text()
        );
        std::iter::once(first).chain(self.host_sentences()).collect()
    }

    /// Returns one phrase per reason for which the host runs layers, without a full stop, in the order of the
    /// layers.
    pub fn host_sentences(&self) -> Vec<String> {
        let mut reasons: Vec<&str> = Vec::new();
        for layer in &self.host {
            if !reasons.contains(&layer.reason.as_str()) {
                reasons.push(&layer.reason);
            }
        }
        reasons.into_iter().map(|reason| self.of_reason(reason)).collect()
    }

    fn of_reason(&self, reason: &str) -> String {
        let layers: Vec<&HostLayer> = self.host.iter().filter(|layer| layer.reason == reason).collect();
        let macs = layers.iter().fold(0u64, |sum, layer| sum.saturating_add(layer.macs));
        let share = Fraction::of(macs, self.macs).map_or("none".into(), percentage);
        let name = |layer: &&HostLayer| format!("`{}` ({})", layer.name, layer.op);
        let mut names: Vec<String> = layers.iter().take(NAMED).map(name).collect();
        names.extend(layers.len().checked_sub(NAMED + 1).map(|more| format!("{} more", more + 1)));
        format!("{share} of the MACs run on the host ({reason}): {}", names.join(", "))
    }
}

/// Returns sentences on what the accelerators of a sweep run. Each sentence occurs once; where points differ,
/// it names the model and accelerator it applies to.
pub fn coverage_text(points: &[PointRecord]) -> Vec<String> {
    let mut told: Vec<(&str, &str, &CoverageRecord)> = Vec::new();
    for point in points.iter().filter(|point| point.coverage.layers > 0) {
        let one = (&*point.summary.model, &*point.summary.hw, &point.coverage);
        if !told.contains(&one) {
            told.push(one);
        }
    }
    let several = told.len() > 1;
    let sentences = told.iter().flat_map(|(model, hw, coverage)| {
        let of = if several { format!("{model} on {hw}: ") } else { String::new() };
        coverage.sentences().into_iter().map(move |sentence| format!("{of}{sentence}."))
    });
    sentences.collect()
}
