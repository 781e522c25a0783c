//! Why a bundle cannot be generated again.

use std::path::Path;

use super::outcome::Divergence;
use crate::VectorError;
use crate::manifest::MANIFEST;

/// Greatest length of an error description in characters.
const MAX_DETAILS: usize = 500;

/// Reason why a bundle cannot be generated again.
pub(crate) enum Refused {
    /// A file cannot be read.
    Error(VectorError),
    /// A field or a file is inconsistent.
    Claim(Box<Divergence>),
}

impl From<VectorError> for Refused {
    fn from(error: VectorError) -> Self {
        match error {
            VectorError::Read { .. } => Self::Error(error),
            other => claim("/arithmetic", other.to_string()),
        }
    }
}

impl Refused {
    /// Returns the error for the bundle in `dir`.
    pub fn into_error(self, dir: &Path) -> VectorError {
        match self {
            Self::Error(error) => error,
            Self::Claim(first) => VectorError::Manifest { path: dir.join(MANIFEST), problem: first.details },
        }
    }
}

/// Returns the error for a claim that does not hold. `at` is the JSON pointer of the field or the name of the
/// file.
pub(crate) fn claim(at: &str, problem: impl Into<String>) -> Refused {
    let details = format!("{at}: {}", problem.into()).chars().take(MAX_DETAILS).collect();
    Refused::Claim(Box::new(Divergence { kind: "claim".into(), details, ..Divergence::default() }))
}
