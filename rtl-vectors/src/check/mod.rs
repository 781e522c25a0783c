//! Checks a bundle: its files, its numbers, and its replay in real simulators.

mod again;
mod array;
mod compare;
mod dut;
mod files;
mod mutants;
mod outcome;
mod process;
mod refused;
mod report;
mod simulator;
mod simulators;
mod stimuli;

use std::path::Path;
use std::time::Duration;

pub use dut::{Dut, DutLatency};
pub use mutants::{MutantResult, Verdict, mutate};
pub use outcome::{CheckReport, Divergence, Outcome};
pub use simulator::Simulator;

use guardbit_files::Violation;

use crate::VectorError;
use crate::bundle::Bundle;
use crate::manifest::MANIFEST_SCHEMA;
use crate::read::validated_manifest;
use refused::Refused;
use simulators::{Bench, Manner, Replay, Stop};

/// Default limit of the time in which a simulator may build a bench, and of the time in which it may run it.
pub const TIME_LIMIT: Duration = Duration::from_secs(600);

/// Settings of a check.
#[derive(Debug, Clone, Copy)]
pub struct CheckRequest<'a> {
    /// Simulators that replay the bundle.
    pub simulators: &'a [Simulator],
    /// Folder that keeps the built and run files; a temporary folder if `None`.
    pub work: Option<&'a Path>,
    /// Limit of the time in which a simulator may build a bench, and of the time in which it may run it.
    pub time_limit: Duration,
    /// Design that replaces the reference design of the MAC unit; the array is then not replayed.
    pub dut: Option<&'a Dut>,
}

impl Default for CheckRequest<'_> {
    fn default() -> Self {
        Self { simulators: &[], work: None, time_limit: TIME_LIMIT, dut: None }
    }
}

/// Checks the bundle in `dir`. First the manifest is checked against its schema, and every file against its
/// SHA-256. Then the exporter's code generates the bundle again from the data that only the bundle defines:
/// the accelerator, the geometry and types of the layer, and the operands in the stimuli. Every field, file
/// and word is compared. Only then the simulators replay the generated files. Writes nothing under `dir`.
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
    report.checks.push(("no other files".into(), files::others(dir, &manifest)));
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
        for (manner, outcome) in replay(&made, simulator, Bench::Unit, request)? {
            let stressed = match manner {
                Manner::Plain => String::new(),
                Manner::Stress(1) => ", stress".into(),
                Manner::Stress(seed) => format!(", stress, seed {seed}"),
            };
            report.checks.push((format!("{}{stressed}", simulator.name()), outcome));
        }
        if made.manifest.array.is_some() && request.dut.is_none() {
            for (_, outcome) in replay(&made, simulator, Bench::Array, request)? {
                report.checks.push((format!("{}, array", simulator.name()), outcome));
            }
        }
    }
    Ok(report)
}

/// Returns the outcome for a manifest that violates its schema.
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
) -> Result<Vec<(Manner, Outcome)>, VectorError> {
    let name = match bench {
        Bench::Unit => simulator.name().to_owned(),
        Bench::Array => format!("{}-array", simulator.name()),
    };
    let scratch = files::Scratch::new(request.work, &name)?;
    files::write(made, scratch.path())?;
    let replay = Replay { simulator, bench, dut: request.dut, stop: Stop::AtEnd, limit: request.time_limit };
    let outcomes = replay.outcomes(scratch.path(), &made.manifest)?;
    let expected = compare::comparisons(&made.manifest, bench, request.dut);
    let counted = |outcome| match outcome {
        Outcome::Pass { checked, .. } if checked != expected => {
            let details = format!("compared {checked} values, expected {expected}");
            let first = Divergence { kind: "count".into(), details, ..Divergence::default() };
            Outcome::Fail { mismatches: 1, first }
        }
        outcome => outcome,
    };
    Ok(outcomes.into_iter().map(|(manner, outcome)| (manner, counted(outcome))).collect())
}
