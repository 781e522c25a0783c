//! Which samples of a file are run.

use guardbit_frontends::random_subset;
use guardbit_reports::number;
use serde::Serialize;

/// Which samples of a file are run; they keep their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(untagged)]
pub enum Pick {
    /// All of them.
    #[default]
    All,
    /// The first ones.
    First {
        /// How many.
        first: usize,
    },
    /// Different ones, drawn by [`random_subset`].
    Random {
        /// How many.
        count: usize,
        /// Seed of the draws.
        seed: u64,
    },
}

impl Pick {
    /// With a number of samples the first ones, or with a seed too those that it draws. A seed alone picks nothing:
    /// `None`.
    pub fn new(samples: Option<usize>, seed: Option<u64>) -> Option<Self> {
        match (samples, seed) {
            (None, None) => Some(Self::All),
            (None, Some(_)) => None,
            (Some(first), None) => Some(Self::First { first }),
            (Some(count), Some(seed)) => Some(Self::Random { count, seed }),
        }
    }

    /// How many are asked for, if not all.
    pub(crate) fn count(self) -> Option<usize> {
        match self {
            Self::All => None,
            Self::First { first: count } | Self::Random { count, .. } => Some(count),
        }
    }

    /// The indices of those that are run, out of `available`, if not all.
    pub(crate) fn indices(self, available: usize) -> Option<Vec<usize>> {
        match self {
            Self::All => None,
            Self::First { first } => Some((0..first.min(available)).collect()),
            Self::Random { count, seed } => Some(random_subset(seed, count, available)),
        }
    }

    /// In words.
    pub(crate) fn describe(self) -> Option<String> {
        match self {
            Self::All => None,
            Self::First { first } => Some(number(first as u64, "the first one", "the first ones").into()),
            Self::Random { seed, .. } => Some(format!("drawn with seed {seed}")),
        }
    }
}
