//! Checking a bundle: its files, its numbers, and its replay in real simulators.

mod again;
mod array;
mod compare;
mod files;
mod mutants;
mod process;
mod simulators;
mod stimuli;

use std::path::Path;
use std::time::Duration;

pub use mutants::{MutantResult, Verdict, mutate};
pub use simulators::Simulator;

use guardbit_files::Violation;

use crate::VectorError;
use crate::export::Bundle;
use crate::manifest::MANIFEST_SCHEMA;
use crate::read::validated_manifest;
use again::Refused;
use simulators::Bench;

/// How long a simulator may build a bench, and how long it may run it.
pub const TIME_LIMIT: Duration = Duration::from_secs(600);

/// What to check a bundle with.
#[derive(Debug, Clone, Copy)]
pub struct CheckRequest<'a> {
    /// What replays it.
    pub simulators: &'a [Simulator],
    /// Where what was built and run stays; a temporary folder, if none is given.
    pub work: Option<&'a Path>,
    /// How long a simulator may build a bench, and how long it may run it.
    pub time_limit: Duration,
}

impl Default for CheckRequest<'_> {
    fn default() -> Self {
        Self { simulators: &[], work: None, time_limit: TIME_LIMIT }
    }
}

/// Where a replay first differs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Divergence {
    /// What differs: `acc`, `flags`, `hold`, `sum`, `out`, `latency`, `file`, ...
    pub kind: String,
    /// The case.
    pub case: String,
    /// The level.
    pub level: String,
    /// Everything that is known, in words: cycle, beat, lane, expected and got in hexadecimal and decimal, exact sum.
    pub details: String,
}

/// How one check ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Everything agrees.
    Pass {
        /// Values compared.
        checked: u64,
        /// What is worth knowing: measured latencies, cycles, what was not compared.
        notes: Vec<String>,
    },
    /// Something differs.
    Fail {
        /// Differences.
        mismatches: u64,
        /// The first one.
        first: Divergence,
    },
    /// The simulator is not there, or cannot replay this bundle: not a pass.
    Absent {
        /// Why.
        reason: String,
    },
}

/// The checks of a bundle, by name, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// Name and outcome.
    pub checks: Vec<(String, Outcome)>,
}

impl CheckReport {
    /// Whether every check was done and found nothing.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|(_, outcome)| matches!(outcome, Outcome::Pass { .. }))
    }
}

/// Checks the bundle in `dir`: the manifest against its schema, and the SHA-256 of every file. Then the bundle is made
/// once more, by the code that exports one, from what it alone can know (the accelerator, the geometry and types of the
/// layer, the operands in the stimuli), and every field, every file and every word is compared. Only then it is replayed in
/// the simulators, and that from the files that were made here. Writes nothing under `dir`.
///
/// # Errors
/// [`VectorError`] if there is no usable bundle or no folder to work in.
pub fn check(dir: &Path, request: &CheckRequest<'_>) -> Result<CheckReport, VectorError> {
    let mut report = CheckReport::default();
    let manifest = match validated_manifest(dir)? {
        Ok(manifest) => manifest,
        Err(violations) => {
            report.checks.push(("manifest".into(), broken(&violations)));
            return Ok(report);
        }
    };
    let notes = vec![format!("valid by {MANIFEST_SCHEMA}")];
    report.checks.push(("manifest".into(), Outcome::Pass { checked: 1, notes }));
    report.checks.push(("files".into(), files::hashes(dir, &manifest)));
    if !report.passed() {
        return Ok(report);
    }
    let made = match again::bundle(dir, &manifest) {
        Ok(made) => made,
        Err(Refused::Error(error)) => return Err(error),
        Err(Refused::Claim(first)) => {
            report.checks.push(("claims".into(), Outcome::Fail { mismatches: 1, first }));
            return Ok(report);
        }
    };
    report.checks.push(("claims".into(), compare::claims(&manifest, &made.manifest)));
    report.checks.push(("reference engine".into(), compare::words(dir, &made, false)));
    if made.manifest.array.is_some() {
        report.checks.push(("reference engine, array".into(), compare::words(dir, &made, true)));
    }
    report.checks.push(("generated files".into(), files::generated(&manifest, &made)));
    if !report.passed() {
        return Ok(report);
    }
    for &simulator in request.simulators {
        let outcome = replay(&made, simulator, Bench::Unit, request)?;
        report.checks.push((simulator.name().into(), outcome));
        // There is no array in VHDL.
        if made.manifest.array.is_some() && simulator != Simulator::Ghdl {
            let outcome = replay(&made, simulator, Bench::Array, request)?;
            report.checks.push((format!("{}, array", simulator.name()), outcome));
        }
    }
    Ok(report)
}

/// A manifest that breaks its schema.
fn broken(violations: &[Violation]) -> Outcome {
    let details = violations.first().map_or(String::new(), |v| format!("at {}: {}", v.at, v.problem));
    let first = Divergence { kind: "schema".into(), details, ..Divergence::default() };
    Outcome::Fail { mismatches: violations.len() as u64, first }
}

fn replay(
    made: &Bundle,
    simulator: Simulator,
    bench: Bench,
    request: &CheckRequest<'_>,
) -> Result<Outcome, VectorError> {
    let name = match bench {
        Bench::Unit => simulator.name().to_owned(),
        Bench::Array => format!("{}-array", simulator.name()),
    };
    let scratch = files::Scratch::new(request.work, &name)?;
    files::write(made, scratch.path())?;
    let outcome = simulators::run(simulator, bench, scratch.path(), &made.manifest, request.time_limit)?;
    let expected = compare::comparisons(made, simulator, bench);
    Ok(match outcome {
        Outcome::Pass { checked, .. } if checked != expected => {
            let details = format!("{checked} values were compared, there are {expected}");
            let first = Divergence { kind: "count".into(), details, ..Divergence::default() };
            Outcome::Fail { mismatches: 1, first }
        }
        outcome => outcome,
    })
}
