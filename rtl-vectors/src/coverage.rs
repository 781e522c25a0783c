//! What the cases reach, level by level, and what no operands of the layer could reach.

use std::collections::BTreeMap;

use guardbit_sim::trace::{DotTrace, StepKind};

use crate::manifest::{Arithmetic, Bin, Coverage, LevelInfo};

/// Counts the cases that hit each bin.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    hits: BTreeMap<(usize, String), usize>,
}

/// Where a value lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    In,
    High,
    Low,
}

impl Counter {
    /// Notes one case.
    pub fn add(&mut self, arithmetic: &Arithmetic, trace: &DotTrace, class: &str, lanes: usize) {
        let mut seen: Vec<(usize, String)> = vec![(usize::MAX, format!("class:{class}"))];
        for (index, level) in arithmetic.levels.iter().enumerate() {
            let (Some(min), Some(max)) = (level.min, level.max) else { continue };
            let side = |v: i128| match v {
                v if v > i128::from(max) => Side::High,
                v if v < i128::from(min) => Side::Low,
                _ => Side::In,
            };
            let (mut high, mut low) = (false, false);
            for step in trace.steps.iter().filter(|s| s.level == index) {
                let at = side(step.unbounded);
                if step.kind != StepKind::HandOver {
                    high |= at == Side::High;
                    low |= at == Side::Low;
                    let distance = |rail: i64| step.unbounded - i128::from(rail);
                    for (label, rail) in [("max", max), ("min", min)] {
                        if (-1..=1).contains(&distance(rail)) {
                            seen.push((index, format!("value:{label}{:+}", distance(rail))));
                        }
                    }
                    if (-1..=0).contains(&step.unbounded) {
                        seen.push((index, format!("value:{}", step.unbounded)));
                    }
                    if step.overflow.is_some() {
                        let direction = step.overflow.map_or("", |d| d.name());
                        seen.push((index, format!("overflow:{direction}")));
                        seen.push((index, format!("overflow_lane:{}", step.last_k % lanes)));
                    }
                } else {
                    let prefix = match (high, low) {
                        (false, false) => "in",
                        (true, false) => "high",
                        (false, true) => "low",
                        (true, true) => "both",
                    };
                    let last = match at {
                        Side::In => "in",
                        Side::High => "high",
                        Side::Low => "low",
                    };
                    if level.stage.shift == 0 {
                        seen.push((index, format!("final:{last}/prefix:{prefix}")));
                    }
                    (high, low) = (false, false);
                }
            }
        }
        seen.sort();
        seen.dedup();
        for bin in seen {
            *self.hits.entry(bin).or_default() += 1;
        }
    }

    /// The table: every bin that there could be.
    pub fn table(self, arithmetic: &Arithmetic, lanes: usize) -> Coverage {
        let mut bins = Vec::new();
        for (index, level) in arithmetic.levels.iter().enumerate() {
            let (Some(min), Some(max)) = (level.min, level.max) else { continue };
            for (name, unreachable) in level_bins(level, min, max, if index == 0 { lanes } else { 1 }) {
                let cases = self.hits.get(&(index, name.clone())).copied().unwrap_or(0);
                // What was hit is reachable, whatever a bound says.
                let unreachable = unreachable.filter(|_| cases == 0);
                bins.push(Bin { level: level.name.clone(), name, cases, unreachable });
            }
        }
        for ((level, name), &cases) in self.hits.range((usize::MAX, String::new())..) {
            debug_assert_eq!(*level, usize::MAX);
            bins.push(Bin { level: String::new(), name: name.clone(), cases, unreachable: None });
        }
        let hit = bins.iter().filter(|b| b.cases > 0).count();
        let unreachable = bins.iter().filter(|b| b.unreachable.is_some()).count();
        Coverage { hit, missed: bins.len() - hit - unreachable, unreachable, bins }
    }
}

/// The bins of a level, and why one cannot be hit.
fn level_bins(level: &LevelInfo, min: i64, max: i64, lanes: usize) -> Vec<(String, Option<String>)> {
    let (low, high) = (level.bound_min, level.bound_max);
    let bound = |value: i64| {
        let outside = value < low || value > high;
        outside.then(|| format!("every prefix lies in {low}..={high}"))
    };
    let mut bins = Vec::new();
    for (label, rail) in [("max", max), ("min", min)] {
        for distance in [-1, 0, 1] {
            bins.push((format!("value:{label}{distance:+}"), bound(rail + distance)));
        }
    }
    bins.push(("value:0".into(), None));
    bins.push(("value:-1".into(), bound(-1)));
    let (up, down) = (bound(max.saturating_add(1)), bound(min.saturating_sub(1)));
    bins.push(("overflow:high".into(), up.clone()));
    bins.push(("overflow:low".into(), down.clone()));
    if level.check == "each_add" && level.stage.shift == 0 {
        for last in ["in", "high", "low"] {
            for prefix in ["in", "high", "low", "both"] {
                // A final sum is a prefix; where there is no addition, it is the only one, and checked nowhere.
                let implied = last != "in" && prefix != last && prefix != "both";
                let reason = match () {
                    () if implied => Some("the final sum is a prefix".to_owned()),
                    () if [last, prefix].contains(&"high") || prefix == "both" => up.clone().or(None),
                    () => None,
                };
                let reason = reason.or_else(|| {
                    if last == "low" || ["low", "both"].contains(&prefix) { down.clone() } else { None }
                });
                bins.push((format!("final:{last}/prefix:{prefix}"), reason));
            }
        }
    }
    for lane in 0..lanes {
        // The first lane of a tree ends no node.
        let reason =
            (level.reduce == "tree" && lane == 0 && lanes > 1).then(|| "no node ends with lane 0".to_owned());
        let reason = reason.or_else(|| if up.is_some() { down.clone() } else { None });
        bins.push((format!("overflow_lane:{lane}"), reason));
    }
    bins
}
