//! Objectives: quantities that a design should minimize.

use std::fmt;
use std::str::FromStr;

/// Quantity to minimize, in addition to errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Objective {
    /// Cycles of one inference.
    Cycles,
    /// Time of one inference at the clock.
    Latency,
    /// Area, from the first cost model that provides it.
    Area,
    /// Energy of one inference, from the first cost model that provides it.
    Energy,
}

/// Text that is not an objective.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown objective `{0}`; expected cycles, latency, area or energy")]
pub struct ObjectiveError(String);

impl Objective {
    /// All objectives.
    pub const ALL: [Self; 4] = [Self::Cycles, Self::Latency, Self::Area, Self::Energy];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Latency => "latency",
            Self::Area => "area",
            Self::Energy => "energy",
        }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Objective {
    type Err = ObjectiveError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|one| one.name() == name).ok_or_else(|| ObjectiveError(name.into()))
    }
}
