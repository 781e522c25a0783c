//! What a network as a whole did.

use guardbit_sim::{Accumulate, SquaredError, accumulate_fields};
use serde::Serialize;

use crate::{Decibel, Fraction};

/// What a network did over some samples, as the narrow hardware ran it: counts. `None` stands for what is undefined.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// Samples run.
    pub samples: u64,
    /// Samples whose top-1 class is that of the exact network. Undefined in isolated mode, and where no output holds one
    /// score per class.
    pub agreeing: Option<u64>,
    /// Samples that the exact network classifies as labelled. Undefined without labels.
    pub right_exact: Option<u64>,
    /// Samples that the narrow hardware classifies as labelled. Undefined without labels and in isolated mode.
    pub right: Option<u64>,
    /// Output codes that differ from the exact network; in isolated mode summed over the layers.
    pub output_mismatch: u64,
    /// Per output that is compared. Undefined in isolated mode.
    pub output_errors: Option<Vec<OutputError>>,
}

/// How one output differs from that of the exact network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutputError {
    /// The output's scale.
    pub scale: f32,
    /// In steps of it.
    pub error: SquaredError,
}

accumulate_fields!(Score { samples, agreeing, right_exact, right, output_mismatch, output_errors });

impl Accumulate for OutputError {
    fn empty(&self) -> Self {
        Self { error: self.error.empty(), ..*self }
    }

    fn merge(&mut self, other: Self) {
        self.error.merge(other.error);
    }
}

/// A score as files and pages show it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreFigures {
    /// Samples run.
    pub samples: u64,
    /// Share of the samples whose top-1 class is that of the exact network.
    pub top1_agreement: Option<Fraction>,
    /// Accuracy of the exact network.
    pub accuracy_exact: Option<Fraction>,
    /// Accuracy on the narrow hardware.
    pub accuracy: Option<Fraction>,
    /// Output codes that differ from the exact network; in isolated mode summed over the layers.
    pub output_mismatch: u64,
    /// Of the network's output against the exact one. In JSON, where no number is infinite, also `null` without noise:
    /// then `output_mismatch` is 0.
    pub output_sqnr_db: Option<Decibel>,
}

impl From<&Score> for ScoreFigures {
    fn from(score: &Score) -> Self {
        let share = |count: Option<u64>| count.and_then(|count| Fraction::of(count, score.samples));
        Self {
            samples: score.samples,
            top1_agreement: share(score.agreeing),
            accuracy_exact: share(score.right_exact),
            accuracy: share(score.right),
            output_mismatch: score.output_mismatch,
            output_sqnr_db: score.output_errors.as_deref().map(|errors| Decibel::new(sqnr_db(errors))),
        }
    }
}

/// Over all outputs, in real units.
fn sqnr_db(errors: &[OutputError]) -> f64 {
    if let [only] = errors {
        return only.error.sqnr_db();
    }
    let (mut signal, mut noise) = (0.0, 0.0);
    for &OutputError { scale, error } in errors {
        let scale = f64::from(scale);
        signal += scale * scale * error.signal as f64;
        noise += scale * scale * error.noise as f64;
    }
    if noise == 0.0 { f64::INFINITY } else { 10.0 * (signal / noise).log10() }
}
