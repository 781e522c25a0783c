//! Why a bundle has no array part.

use std::fmt;

/// Reason why a bundle has no array part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoArray {
    /// There are no activations.
    NoActivations,
    /// The layer's outputs share no operands along rows and columns.
    NotShared,
    /// The reference RTL does not support this array, or a bundle cannot hold it.
    Unsupported(String),
}

impl NoArray {
    /// Reasons that depend on the operands alone, which only the exporter knows.
    const OF_OPERANDS: [Self; 2] = [Self::NoActivations, Self::NotShared];

    /// Returns the reason, if it depends on the operands alone, that a manifest states in words.
    pub fn of_operands(words: &str) -> Option<Self> {
        Self::OF_OPERANDS.into_iter().find(|reason| reason.to_string() == words)
    }
}

impl From<String> for NoArray {
    fn from(reason: String) -> Self {
        Self::Unsupported(reason)
    }
}

impl fmt::Display for NoArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoActivations => "there are no activations",
            Self::NotShared => "the layer's outputs share no operands along rows and columns",
            Self::Unsupported(reason) => reason,
        })
    }
}
