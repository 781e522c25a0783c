//! The result of designs by which they are compared.

use super::outcome::Outcome;
use super::plan::Plan;
use crate::Budget;

/// Quality of a design: the figure that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quality {
    /// Samples classified as labelled.
    Accuracy,
    /// Samples with the class of the exact network.
    Agreement,
    /// Output codes equal to the exact network.
    Codes,
}

impl Quality {
    /// Returns the quality that the budget refers to. Without a budget: accuracy with labels, agreement if an
    /// output holds class scores, otherwise output codes.
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

    /// Returns the number of counted samples, among the samples that were run.
    pub fn count(self, outcome: &Outcome) -> Option<u64> {
        match self {
            Self::Accuracy => outcome.right,
            Self::Agreement => outcome.agreeing,
            Self::Codes => None,
        }
    }

    /// Returns the loss of a design.
    pub fn lost(self, outcome: &Outcome) -> u64 {
        match self.count(outcome) {
            Some(count) => outcome.samples - count,
            None => outcome.mismatch,
        }
    }
}
