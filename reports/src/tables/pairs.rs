//! `pairs.csv`: points compared sample by sample.

use std::borrow::Cow;
use std::collections::HashMap;

use super::table::table;
use crate::{Outcomes, PointRecord};

table! {
    "pairs.csv"
    /// Two points on the same samples. Each point is compared with the best point, and along every axis with
    /// the next value while all other axes are equal.
    PairRow {
        /// The point: row of `summary.csv`, from 0.
        point: usize,
        /// The other point.
        other: usize,
        /// Reason for the comparison: `best`, or the key of the only axis in which they differ.
        by: String,
        /// The correct class: `accuracy` (the label) or, without labels, `agreement` (the exact network's
        /// class).
        outcome: String,
        /// Samples of each point.
        samples: u64,
        /// Samples that the point classifies correctly.
        right: u64,
        /// Samples that the other point classifies correctly.
        right_other: u64,
        /// Samples that only the point classifies correctly.
        only_point: u64,
        /// Samples that only the other point classifies correctly.
        only_other: u64,
        /// McNemar's p value, two-sided: the probability of such a difference if both points were equally
        /// accurate. It is for this pair only; correct it for many pairs, e.g. by Holm's method.
        mcnemar_p: f64,
        /// Method of the p value: `exact` (binomial, for fewer than 25 samples that only one point classifies
        /// correctly) or `chi2` (with continuity correction).
        mcnemar_test: String,
    }
}

/// Properties that neighbouring points share: the samples, and all axes except one.
type Line<'a> = (&'a str, usize, Vec<(&'a str, Cow<'a, str>)>);

/// Point with what is right of its samples.
#[derive(Clone, Copy)]
struct Judged<'a> {
    point: usize,
    outcomes: &'a Outcomes,
}

/// Returns the pairs of points of a sweep.
pub fn pair_rows(points: &[PointRecord]) -> Vec<PairRow> {
    let judged: Vec<Judged<'_>> = points
        .iter()
        .enumerate()
        .filter_map(|(point, record)| Some(Judged { point, outcomes: record.outcomes.as_ref()? }))
        .collect();
    let best = best(points, &judged);
    let mut last: HashMap<Line<'_>, usize> = HashMap::new();
    let mut rows = Vec::new();
    for &own in &judged {
        let index = own.point;
        let point = &points[index];
        let mut compare = |other: usize, by: &str| {
            let theirs = points[other].outcomes.as_ref().filter(|theirs| theirs.goes_with(own.outcomes));
            rows.extend(theirs.map(|outcomes| PairRow::new(own, Judged { point: other, outcomes }, by)));
        };
        if let Some(&best) = best.get(point.samples.as_str()).filter(|&&best| best != index) {
            compare(best, "best");
        }
        let axes = axes(point);
        for (axis, (key, _)) in axes.iter().enumerate() {
            let mut rest = axes.clone();
            rest.remove(axis);
            if let Some(before) = last.insert((&point.samples, axis, rest), index) {
                compare(before, key);
            }
        }
    }
    rows
}

/// Returns, for every set of samples, the point with the most right samples; of several such points, the
/// first.
fn best<'a>(points: &'a [PointRecord], judged: &[Judged<'_>]) -> HashMap<&'a str, usize> {
    let mut best: HashMap<&str, (usize, u64)> = HashMap::new();
    for &Judged { point: index, outcomes } in judged {
        let right = outcomes.right();
        let known = best.entry(points[index].samples.as_str()).or_insert((index, right));
        if right > known.1 {
            *known = (index, right);
        }
    }
    best.into_iter().map(|(samples, (index, _))| (samples, index)).collect()
}

/// Returns key and value of the settings that distinguish a point from others.
fn axes(point: &PointRecord) -> Vec<(&str, Cow<'_, str>)> {
    let summary = &point.summary;
    let bits = summary.bits.map_or(String::new(), |bits| bits.to_string());
    let own = [
        ("model", "model".to_owned(), Cow::from(&summary.model)),
        ("hw", "hw".to_owned(), Cow::from(&summary.hw)),
        ("overflow", format!("accumulation.{}.overflow", summary.level), Cow::from(&summary.overflow)),
        ("bits", format!("accumulation.{}.bits", summary.level), Cow::from(bits)),
    ];
    let varied = |key: &str| point.parameters.iter().any(|one| one.key == key);
    let own = own.into_iter().filter(|(_, key, _)| !varied(key)).map(|(name, _, value)| (name, value));
    own.chain(point.parameters.iter().map(|one| (one.key.as_str(), Cow::from(&one.value)))).collect()
}

impl PairRow {
    fn new(own: Judged<'_>, other: Judged<'_>, by: &str) -> Self {
        let Judged { point, outcomes: own } = own;
        let Judged { point: other, outcomes: theirs } = other;
        let beside = own.beside(theirs);
        let test = beside.mcnemar();
        Self {
            point,
            other,
            by: by.to_owned(),
            outcome: own.kind.name().to_owned(),
            samples: own.samples(),
            right: own.right(),
            right_other: theirs.right(),
            only_point: beside.first,
            only_other: beside.second,
            mcnemar_p: test.p,
            mcnemar_test: test.test.name().to_owned(),
        }
    }
}
