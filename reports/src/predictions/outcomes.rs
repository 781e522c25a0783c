//! Correctness of every sample, one bit each.

use bitvec::prelude::*;
use serde::{Deserialize, Serialize};

use crate::Discordant;

/// Whether each sample is right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Packed", into = "Packed")]
pub struct Outcomes {
    /// Definition of right.
    pub kind: OutcomeKind,
    right: BitVec<u8, Lsb0>,
}

/// Outcomes in files.
#[derive(Serialize, Deserialize)]
struct Packed {
    kind: OutcomeKind,
    samples: usize,
    /// Hexadecimal bytes of eight samples each, the first one in the lowest bit.
    right: String,
}

/// Definition of a right sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// The predicted class equals the label.
    Accuracy,
    /// The predicted class equals that of the exact network.
    Agreement,
}

impl OutcomeKind {
    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::Agreement => "agreement",
        }
    }
}

impl Outcomes {
    /// Creates outcomes from one value per sample, in order.
    pub fn new(kind: OutcomeKind, right: impl IntoIterator<Item = bool>) -> Self {
        Self { kind, right: right.into_iter().collect() }
    }

    /// Returns the number of samples.
    pub fn samples(&self) -> u64 {
        self.right.len() as u64
    }

    /// Returns the number of right samples.
    pub fn right(&self) -> u64 {
        self.right.count_ones() as u64
    }

    /// Returns whether two outcomes can be compared: the definition of right and the number of samples are
    /// equal.
    pub(crate) fn goes_with(&self, other: &Self) -> bool {
        (self.kind, self.right.len()) == (other.kind, other.right.len())
    }

    /// Returns the numbers of samples that are right in exactly one of the two outcomes.
    pub(crate) fn beside(&self, other: &Self) -> Discordant {
        let only = |a: &Self, b: &Self| (!b.right.clone() & &a.right).count_ones() as u64;
        Discordant { first: only(self, other), second: only(other, self) }
    }
}

impl From<Outcomes> for Packed {
    fn from(outcomes: Outcomes) -> Self {
        let Outcomes { kind, mut right } = outcomes;
        right.set_uninitialized(false);
        let hex = right.as_raw_slice().iter().map(|byte| format!("{byte:02x}")).collect();
        Self { kind, samples: right.len(), right: hex }
    }
}

impl TryFrom<Packed> for Outcomes {
    type Error = String;

    fn try_from(packed: Packed) -> Result<Self, String> {
        let Packed { kind, samples, right } = packed;
        let digits: Option<Vec<u8>> = right.chars().map(|c| Some(c.to_digit(16)? as u8)).collect();
        let digits = digits.filter(|digits| digits.len() == 2 * samples.div_ceil(8));
        let digits = digits.ok_or_else(|| format!("expected hexadecimal bytes of {samples} samples"))?;
        let bytes = digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        let mut right: BitVec<u8, Lsb0> = BitVec::from_vec(bytes);
        right.truncate(samples);
        Ok(Self { kind, right })
    }
}
