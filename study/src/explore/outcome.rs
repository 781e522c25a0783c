//! What hardware did on the samples.

use guardbit_reports::Score;
use guardbit_sim::SimError;
use serde::{Deserialize, Serialize};

use crate::execute::Executed;
use crate::size::Counts;

/// Results of hardware on the samples, valid for all designs with equal values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Outcome {
    pub samples: u64,
    pub agreeing: Option<u64>,
    pub right_exact: Option<u64>,
    pub right: Option<u64>,
    pub mismatch: u64,
    /// Trapped overflow, if any: nothing else was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trapped: Option<String>,
}

impl From<&Score> for Outcome {
    fn from(score: &Score) -> Self {
        Self {
            samples: score.samples,
            agreeing: score.agreeing,
            right_exact: score.right_exact,
            right: score.right,
            mismatch: score.output_mismatch,
            trapped: None,
        }
    }
}

impl Outcome {
    pub fn of(result: &Result<Executed, SimError>) -> Self {
        match result {
            Ok(executed) => Self::from(&executed.verdict.score),
            Err(error) => Self {
                samples: 0,
                agreeing: None,
                right_exact: None,
                right: None,
                mismatch: 0,
                trapped: Some(error.to_string()),
            },
        }
    }
}

impl Outcome {
    /// Returns the counts to which budgets apply.
    pub fn counts(&self) -> Counts {
        Counts {
            samples: self.samples,
            agreeing: self.agreeing,
            right_exact: self.right_exact,
            right: self.right,
            mismatch: self.mismatch,
        }
    }
}
