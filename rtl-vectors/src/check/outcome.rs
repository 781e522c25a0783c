//! What a check finds.

use std::path::PathBuf;

use crate::manifest::Need;

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
    /// Up to eight beats before the difference and its own; empty if it belongs to no beat.
    pub trail: Vec<TrailBeat>,
    /// Waveform of the design with the expected values next to it.
    pub waves: Option<PathBuf>,
}

/// A beat, and what the register of the level that differs should have done in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrailBeat {
    /// Number of the beat.
    pub beat: usize,
    /// Identifier of its case.
    pub case: String,
    /// Whether a dot product starts.
    pub clear: bool,
    /// Activation and weight of every lane in use; empty in a cycle without a beat.
    pub operands: Vec<[i64; 2]>,
    /// Register before the addition; `None` where nothing arrives at the level, and for a tree.
    pub held: Option<i64>,
    /// Value that is added.
    pub addend: Option<i64>,
    /// Exact sum of the dot product so far.
    pub exact: i64,
    /// Register after the addition, or what a tree hands on.
    pub expected: Option<i64>,
    /// What the design showed, in the last beat.
    pub got: Option<i64>,
}

/// Replay of the MAC unit's cases in a simulator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// Name of the check.
    pub name: String,
    /// Cases that were replayed and differ, as places in the manifest; `None` if the bench did not reach its end.
    pub failed: Option<Vec<usize>>,
    /// What the idle cycles and resets of the run hit.
    pub bins: Vec<StressBin>,
}

/// Number of times that something happened in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StressBin {
    /// What is counted.
    pub group: &'static str,
    /// The bin.
    pub name: &'static str,
    /// How often it was hit.
    pub hits: u64,
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
    /// All simulators were requested, and this one has no part in the bundle. Nothing was compared.
    NotApplicable {
        /// Reason.
        reason: String,
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
    /// Identifiers of the bundle's cases.
    pub cases: Vec<String>,
    /// Cases that were skipped, as places in the manifest, each with what it needs of those that are excluded.
    pub skipped: Vec<(usize, Vec<Need>)>,
    /// Replays of the cases.
    pub replays: Vec<Replayed>,
}

impl CheckReport {
    /// Returns whether every check that applies was carried out and passed.
    pub fn passed(&self) -> bool {
        self.checks
            .iter()
            .all(|(_, outcome)| matches!(outcome, Outcome::Pass { .. } | Outcome::NotApplicable { .. }))
    }
}
