//! What a network as a whole did.

use serde::Serialize;

use crate::{Decibel, Fraction};

/// What a network did over all samples, as the narrow hardware ran it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Samples run.
    pub samples: u64,
    /// Samples whose top-1 class is that of the exact network. Undefined in isolated mode, and where no output holds
    /// one score per class.
    pub top1_agreement: Option<Fraction>,
    /// Accuracy of the exact network. Undefined without labels.
    pub accuracy_exact: Option<Fraction>,
    /// Accuracy on the narrow hardware. Undefined without labels and in isolated mode.
    pub accuracy: Option<Fraction>,
    /// Output codes that differ from the exact network; in isolated mode summed over the layers.
    pub output_mismatch: u64,
    /// Of the network's output against the exact one. Undefined in isolated mode. In JSON, where no number is infinite,
    /// also `null` without noise: then `output_mismatch` is 0.
    pub output_sqnr_db: Option<Decibel>,
}
