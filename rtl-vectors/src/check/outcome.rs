//! What a check finds.

/// First difference of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Divergence {
    /// Kind of value that differs: `acc`, `flags`, `hold`, `sum`, `out`, `latency`, `file`, ...
    pub kind: String,
    /// Identifier of the case.
    pub case: String,
    /// Name of the level.
    pub level: String,
    /// All known details in words: cycle, beat, lane, expected and actual value in hexadecimal and decimal,
    /// exact sum.
    pub details: String,
}

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// All compared values agree.
    Pass {
        /// Number of values compared.
        checked: u64,
        /// Further information: measured latencies, cycles, values that were not compared.
        notes: Vec<String>,
    },
    /// Some value differs.
    Fail {
        /// Number of differences.
        mismatches: u64,
        /// First difference.
        first: Divergence,
    },
    /// The simulator is missing, or cannot replay this bundle. This does not count as a pass.
    Absent {
        /// Reason.
        reason: String,
    },
}

/// Checks of a bundle by name, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// Name and outcome of every check.
    pub checks: Vec<(String, Outcome)>,
}

impl CheckReport {
    /// Returns whether every check was carried out and passed.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|(_, outcome)| matches!(outcome, Outcome::Pass { .. }))
    }
}
