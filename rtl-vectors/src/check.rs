//! Checking a bundle: its files, its numbers, and its replay in real simulators.

mod array;
mod files;
mod mutants;
mod recompute;
mod simulators;

use std::path::Path;

pub use mutants::{MutantResult, Verdict, mutate};
pub use simulators::Simulator;

use crate::VectorError;
use crate::manifest::{MANIFEST_SCHEMA, Manifest};
use crate::read::{Violation, validated_manifest};
use simulators::Bench;

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

/// Checks the bundle in `dir`: the manifest against its schema, the SHA-256 of every file, and the replay in `simulators`; without any,
/// every expected value is computed anew by the reference engine. Writes nothing under `dir`; with `work`, what was
/// built and run stays there.
///
/// # Errors
/// [`VectorError`] if there is no usable bundle or no folder to work in.
pub fn check(dir: &Path, simulators: &[Simulator], work: Option<&Path>) -> Result<CheckReport, VectorError> {
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
    let hashes = files::hashes(dir, &manifest);
    let intact = matches!(hashes, Outcome::Pass { .. });
    report.checks.push(("files".into(), hashes));
    if !intact {
        return Ok(report);
    }
    if simulators.is_empty() {
        report.checks.push(("reference engine".into(), recompute::recompute(dir, &manifest)?));
        if let Some(info) = &manifest.array {
            report.checks.push(("reference engine, array".into(), array::recompute(dir, &manifest, info)?));
        }
    }
    for &simulator in simulators {
        let outcome = replay(dir, &manifest, simulator, Bench::Unit, work)?;
        report.checks.push((simulator.name().into(), outcome));
        // There is no array in VHDL.
        if manifest.array.is_some() && simulator != Simulator::Ghdl {
            let outcome = replay(dir, &manifest, simulator, Bench::Array, work)?;
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
    dir: &Path,
    manifest: &Manifest,
    simulator: Simulator,
    bench: Bench,
    work: Option<&Path>,
) -> Result<Outcome, VectorError> {
    let name = match bench {
        Bench::Unit => simulator.name().to_owned(),
        Bench::Array => format!("{}-array", simulator.name()),
    };
    let scratch = files::Scratch::new(work, &name)?;
    files::copy(dir, manifest, scratch.path())?;
    simulators::run(simulator, bench, scratch.path(), manifest)
}
