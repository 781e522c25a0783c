//! A design that a search within the budget found.

use serde::{Deserialize, Serialize};

use super::candidate::Design;
use super::outcome::Outcome;

/// Widths within the budget, and the network's results with them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Found {
    pub design: Design,
    /// Widths per accelerated layer, in order of execution, and level.
    pub widths: Vec<Vec<u32>>,
    pub outcome: Outcome,
}
