//! Correctness of every sample, one bit each.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Discordant;

/// Whether each sample is right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
    /// Definition of right.
    pub kind: OutcomeKind,
    samples: usize,
    #[serde(serialize_with = "as_hex", deserialize_with = "from_hex")]
    right: Vec<u8>,
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
        let (mut samples, mut bytes) = (0, Vec::new());
        for right in right {
            if samples % 8 == 0 {
                bytes.push(0);
            }
            if let Some(last) = bytes.last_mut() {
                *last |= u8::from(right) << (samples % 8);
            }
            samples += 1;
        }
        Self { kind, samples, right: bytes }
    }

    /// Returns the number of samples.
    pub fn samples(&self) -> u64 {
        self.samples as u64
    }

    /// Returns the number of right samples.
    pub fn right(&self) -> u64 {
        self.right.iter().map(|byte| u64::from(byte.count_ones())).sum()
    }

    /// Returns whether two outcomes can be compared: the definition of right and the number of samples are
    /// equal.
    pub(crate) fn goes_with(&self, other: &Self) -> bool {
        (self.kind, self.samples) == (other.kind, other.samples)
    }

    /// Returns the numbers of samples that are right in exactly one of the two outcomes.
    pub(crate) fn beside(&self, other: &Self) -> Discordant {
        let only = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| u64::from((a & !b).count_ones())).sum();
        Discordant { first: only(&self.right, &other.right), second: only(&other.right, &self.right) }
    }
}

fn as_hex<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    serializer.serialize_str(&text)
}

fn from_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let digits: Option<Vec<u8>> = text.chars().map(|c| Some(c.to_digit(16)? as u8)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0).ok_or_else(|| D::Error::custom("no bytes"))?;
    Ok(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}
