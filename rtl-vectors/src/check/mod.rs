//! Checks a bundle: its files, its numbers, and its replay in real simulators.

pub(crate) mod again;
mod array;
pub(crate) mod compare;
mod dut;
mod faults;
pub(crate) mod files;
mod junit;
pub(crate) mod mutants;
mod nearest;
pub(crate) mod outcome;
mod process;
pub(crate) mod refused;
pub(crate) mod report;
pub(crate) mod simulator;
pub(crate) mod simulators;
mod stimuli;
mod trail;

use std::path::Path;
use std::time::Duration;

pub use dut::{Dut, DutLatency};
pub use faults::{DutFate, DutMutant, mutate_dut};
pub use junit::JUNIT;
pub use mutants::{MutantResult, Verdict, mutate};
pub use outcome::{CheckReport, Divergence, Outcome, Replayed, StressBin, TrailBeat};
pub use simulator::Simulator;

use guardbit_files::Violation;

use crate::VectorError;
use crate::bundle::Bundle;
use crate::manifest::{Case, MANIFEST_SCHEMA, Manifest, Need};
use crate::read::validated_manifest;
use again::Made;
use refused::Refused;
use simulators::{Bench, Ended, Manner, Replay, Stop};

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

/// Checks the bundle of an integer layer in `dir`. First the manifest is checked against its schema, and every file against its
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
    report.checks.push(("files".into(), files::hashes(dir, &manifest.files)));
    report.checks.push(("no other files".into(), files::others(dir, &manifest.files)));
    if !report.passed() {
        return Ok(report);
    }
    let again = match again::bundle(dir, &manifest, &[]) {
        Ok(again) => again,
        Err(Refused::Error(error)) => return Err(error),
        Err(Refused::Claim(first)) => {
            report.checks.push(("claims".into(), Outcome::Fail { mismatches: 1, first: *first }));
            return Ok(report);
        }
    };
    let made = &again.bundle;
    report.checks.push(("claims".into(), compare::claims(&manifest, &made.manifest)));
    report.checks.push(("reference engine".into(), compare::words(dir, made, false)));
    if made.manifest.array.is_some() {
        report.checks.push(("reference engine, array".into(), compare::words(dir, made, true)));
    }
    report.checks.push(("generated files".into(), files::generated(&manifest.files, &made.manifest.files)));
    if !report.passed() {
        return Ok(report);
    }
    report.cases = manifest.cases.iter().map(|case| case.id.clone()).collect();
    let without = request.dut.map_or(&[][..], |dut| &dut.without);
    report.skipped = skipped(&manifest, without);
    let again = match report.skipped.len() {
        0 => again,
        all if all == manifest.cases.len() => {
            let needs: Vec<&str> = without.iter().map(|need| need.name()).collect();
            let reason = format!("no case is left without {}", needs.join(","));
            report.checks.push(("cases".into(), Outcome::Absent { reason }));
            return Ok(report);
        }
        _ => again::bundle(dir, &manifest, without).map_err(|refused| refused.into_error(dir))?,
    };
    for &simulator in request.simulators {
        replay_cases(&again, simulator, request, &mut report)?;
        if again.bundle.manifest.array.is_some() && request.dut.is_none() {
            for ended in replay(&again.bundle, simulator, Bench::Array, request)? {
                report.checks.push((format!("{}, array", simulator.name()), ended.outcome));
            }
        }
    }
    Ok(report)
}

/// Returns the cases that need one of `without`, as places in the manifest.
fn skipped(manifest: &Manifest, without: &[Need]) -> Vec<(usize, Vec<Need>)> {
    let needs = |case: &Case| -> Vec<Need> {
        case.needs.iter().copied().filter(|need| without.contains(need)).collect()
    };
    let all = manifest.cases.iter().map(needs).enumerate();
    all.filter(|(_, needs)| !needs.is_empty()).collect()
}

/// Replays the cases of the MAC unit, and adds the runs to the report.
fn replay_cases(
    made: &Made,
    simulator: Simulator,
    request: &CheckRequest<'_>,
    report: &mut CheckReport,
) -> Result<(), VectorError> {
    let kept: Vec<usize> = (0..report.cases.len())
        .filter(|place| !report.skipped.iter().any(|(skipped, _)| skipped == place))
        .collect();
    for Ended { manner, mut outcome, failed, bins } in replay(&made.bundle, simulator, Bench::Unit, request)?
    {
        let stressed = match manner {
            Manner::Plain => String::new(),
            Manner::Stress(1) => ", stress".into(),
            Manner::Stress(seed) => format!(", stress, seed {seed}"),
        };
        let name = format!("{}{stressed}", simulator.name());
        if let Outcome::Fail { first, .. } = &mut outcome {
            first.trail = trail::trail(made, first);
        }
        let failed =
            failed.map(|places| places.iter().filter_map(|&place| kept.get(place).copied()).collect());
        report.replays.push(Replayed { name: name.clone(), failed, bins });
        report.checks.push((name, outcome));
    }
    Ok(())
}

/// Returns the outcome for a manifest that violates its schema.
pub(crate) fn broken(violations: &[Violation]) -> Outcome {
    let details = violations.first().map_or(String::new(), |v| format!("at {}: {}", v.at, v.problem));
    let first = Divergence { kind: "schema".into(), details, ..Divergence::default() };
    Outcome::Fail { mismatches: violations.len() as u64, first }
}

fn replay(
    made: &Bundle,
    simulator: Simulator,
    bench: Bench,
    request: &CheckRequest<'_>,
) -> Result<Vec<Ended>, VectorError> {
    let name = match bench {
        Bench::Unit => simulator.name().to_owned(),
        Bench::Array => format!("{}-array", simulator.name()),
    };
    let scratch = files::Scratch::new(request.work, &name)?;
    files::write(&made.files, scratch.path())?;
    let replay = Replay { simulator, bench, dut: request.dut, stop: Stop::AtEnd, limit: request.time_limit };
    let mut ended = replay.outcomes(scratch.path(), &made.manifest)?;
    let expected = compare::comparisons(&made.manifest, bench, request.dut);
    for Ended { outcome, .. } in &mut ended {
        match outcome {
            Outcome::Pass { checked, .. } if *checked != expected => {
                let details = format!("compared {checked} values, expected {expected}");
                let first = Divergence { kind: "count".into(), details, ..Divergence::default() };
                *outcome = Outcome::Fail { mismatches: 1, first };
            }
            Outcome::Fail { first, .. } => {
                first.waves = first.waves.take().map(|waves| scratch.kept(waves, &name)).transpose()?;
            }
            _ => {}
        }
    }
    Ok(ended)
}
