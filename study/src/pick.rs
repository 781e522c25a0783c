//! Selection of samples from a file.

use guardbit_frontends::random_subset;
use guardbit_reports::number;
use serde::Serialize;

/// Selected samples of a file, in the order of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(untagged)]
pub enum Pick {
    /// All samples.
    #[default]
    All,
    /// First samples.
    First {
        /// Number of samples.
        first: usize,
    },
    /// Distinct samples drawn by [`random_subset`].
    Random {
        /// Number of samples.
        count: usize,
        /// Seed of the draws.
        seed: u64,
    },
}

impl Pick {
    /// Selects the first `samples` samples, or with a seed that many drawn ones. Returns `None` for a seed
    /// without a number of samples.
    pub fn new(samples: Option<usize>, seed: Option<u64>) -> Option<Self> {
        match (samples, seed) {
            (None, None) => Some(Self::All),
            (None, Some(_)) => None,
            (Some(first), None) => Some(Self::First { first }),
            (Some(count), Some(seed)) => Some(Self::Random { count, seed }),
        }
    }

    /// Returns the number of selected samples, unless all are selected.
    pub(crate) fn count(self) -> Option<usize> {
        match self {
            Self::All => None,
            Self::First { first: count } | Self::Random { count, .. } => Some(count),
        }
    }

    /// Returns the indices of the selected samples out of `available`, unless all are selected.
    pub(crate) fn indices(self, available: usize) -> Option<Vec<usize>> {
        match self {
            Self::All => None,
            Self::First { first } => Some((0..first.min(available)).collect()),
            Self::Random { count, seed } => Some(random_subset(seed, count, available)),
        }
    }

    /// Returns a description in words.
    pub(crate) fn describe(self) -> Option<String> {
        match self {
            Self::All => None,
            Self::First { first } => Some(number(first as u64, "the first one", "the first ones").into()),
            Self::Random { seed, .. } => Some(format!("drawn with seed {seed}")),
        }
    }
}
