//! Pareto front and recommended design.

use std::cmp::Ordering;

use super::candidate::{Candidate, Prices};
use super::plan::Plan;
use super::quality::Quality;

/// Returns whether each design is on the Pareto front: no other design has at most its loss and objectives,
/// and less of one of them.
pub(super) fn front(plan: &Plan, candidates: &[Candidate], prices: &Prices) -> Vec<bool> {
    let quality = Quality::of(plan);
    let scores: Vec<Option<Vec<f64>>> = candidates
        .iter()
        .map(|candidate| {
            let whole = candidate.outcome.trapped.is_none();
            let objectives = plan.objectives.iter().map(|objective| objective.of(&candidate.figures, prices));
            let all = std::iter::once(Some(quality.lost(&candidate.outcome) as f64)).chain(objectives);
            all.collect::<Option<Vec<f64>>>().filter(|_| whole)
        })
        .collect();
    // A dominated design dominates only designs that its dominator also dominates, so the best designs come
    // first.
    let mut order: Vec<usize> = (0..scores.len()).filter(|&index| scores[index].is_some()).collect();
    order.sort_by(|&a, &b| lexicographic(scores[a].as_deref(), scores[b].as_deref()));
    let mut on_front = vec![false; scores.len()];
    let mut kept: Vec<&[f64]> = Vec::new();
    for index in order {
        let Some(own) = &scores[index] else { continue };
        if !kept.iter().any(|other| beats(other, own)) {
            kept.push(own);
            on_front[index] = true;
        }
    }
    on_front
}

/// Returns the design within the budget with the least first objective. Ties are resolved by the next
/// objectives, then the loss, then the order.
pub(super) fn recommended(plan: &Plan, candidates: &[Candidate]) -> Option<usize> {
    let budget = plan.request.budget?;
    let prices = Prices::new(plan);
    let quality = Quality::of(plan);
    let codes = plan.codes_per_sample();
    let rank = |candidate: &Candidate| -> Option<Vec<f64>> {
        let objectives = plan.objectives.iter().map(|objective| objective.of(&candidate.figures, &prices));
        objectives.chain([Some(quality.lost(&candidate.outcome) as f64)]).collect()
    };
    let within = candidates.iter().enumerate().filter(|(_, candidate)| {
        candidate.outcome.trapped.is_none() && budget.keeps(&candidate.outcome.counts(), codes)
    });
    let ranked = within.filter_map(|(index, candidate)| Some((rank(candidate)?, index)));
    ranked
        .min_by(|(a, at), (b, other)| lexicographic(Some(a), Some(b)).then(at.cmp(other)))
        .map(|(_, index)| index)
}

fn lexicographic(a: Option<&[f64]>, b: Option<&[f64]>) -> Ordering {
    let pairs = a.unwrap_or_default().iter().zip(b.unwrap_or_default());
    pairs.map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

fn beats(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a <= b) && a.iter().zip(b).any(|(a, b)| a < b)
}
