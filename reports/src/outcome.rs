//! What a network as a whole did.

use serde::{Deserialize, Serialize};

use crate::{Decibel, Fraction};

/// What a network did over all samples, as the narrow hardware ran it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Samples run.
    pub samples: u64,
    /// Samples whose top-1 class is that of the exact network. Undefined in isolated mode.
    pub top1_agreement: Option<Fraction>,
    /// Accuracy of the exact network. Undefined without labels.
    pub accuracy_exact: Option<Fraction>,
    /// Accuracy on the narrow hardware. Undefined without labels and in isolated mode.
    pub accuracy: Option<Fraction>,
    /// Output codes that differ from the exact network; in isolated mode summed over the layers.
    pub output_mismatch: u64,
    /// Of the network's output against the exact one. Undefined in isolated mode.
    pub output_sqnr_db: Option<Decibel>,
}
