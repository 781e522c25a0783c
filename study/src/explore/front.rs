//! Which designs no other beats, and which is recommended.

use std::cmp::Ordering;

use super::Outcome;
use super::candidate::{Candidate, Prices};
use super::plan::Plan;
use crate::Budget;
use crate::size::Counts;

/// What a design is good at: what of its results is compared with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quality {
    /// Samples that are classified as labelled.
    Accuracy,
    /// Samples of the class of the exact network.
    Agreement,
    /// Output codes of the exact network.
    Codes,
}

impl Quality {
    /// What the budget is of. Without one accuracy with labels, agreement where an output holds class scores, output codes
    /// elsewhere.
    pub fn of(plan: &Plan) -> Self {
        match plan.request.budget {
            Some(Budget::Accuracy(_)) => return Self::Accuracy,
            Some(Budget::Agreement(_)) => return Self::Agreement,
            Some(Budget::Mismatch(_)) => return Self::Codes,
            None => {}
        }
        let outputs = &plan.subject.outputs;
        match (plan.subject.has_classes(), outputs.classes().is_some()) {
            (true, _) => Self::Accuracy,
            (_, true) => Self::Agreement,
            _ => Self::Codes,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::Agreement => "top1_agreement",
            Self::Codes => "output_mismatch",
        }
    }

    /// Samples that count, of those that were run.
    pub fn count(self, outcome: &Outcome) -> Option<u64> {
        match self {
            Self::Accuracy => outcome.right,
            Self::Agreement => outcome.agreeing,
            Self::Codes => None,
        }
    }

    /// What a design loses.
    fn lost(self, outcome: &Outcome) -> u64 {
        match self.count(outcome) {
            Some(count) => outcome.samples - count,
            None => outcome.mismatch,
        }
    }
}

impl Outcome {
    /// What budgets look at.
    pub(super) fn counts(&self) -> Counts {
        Counts {
            samples: self.samples,
            agreeing: self.agreeing,
            right_exact: self.right_exact,
            right: self.right,
            mismatch: self.mismatch,
        }
    }
}

/// Whether each design is one that no other beats: with no more loss and no more of any objective, and less of one of them.
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
    // Beaten designs beat nothing that their better does not: the best come first.
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

/// The design within the budget that has the least of the first objective; of several the least of the next, then the least
/// loss, then the first.
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
