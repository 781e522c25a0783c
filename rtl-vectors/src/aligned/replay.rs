//! Checks a bundle of a floating-point layer: its claims, its words, its replay in simulators, and its mutants.

use std::path::Path;
use std::process::Command;

use super::again;
use super::assemble::FloatBundle;
use super::fault::MUTANTS;
use super::hdl;
use super::manifest::{FloatCase, FloatManifest};
use crate::VectorError;
use crate::check::compare::Fields;
use crate::check::files::{self, Scratch};
use crate::check::mutants::{BROKEN, MutantResult, apply, flip_last_digit};
use crate::check::outcome::{CheckReport, Divergence, Outcome, Replayed};
use crate::check::refused::Refused;
use crate::check::report::{number, value};
use crate::check::simulator::Simulator;
use crate::check::simulators::{is_there, start, told};
use crate::check::{CheckRequest, broken};
use crate::manifest::{FileInfo, MANIFEST_SCHEMA};
use crate::read;
use crate::words::Mem;

/// Arguments of the runs: as the files hold the beats, and with cycles between them and resets.
const RUNS: [(&str, &[&str]); 2] = [("", &[]), (", stress", &["+idle=10", "+resets=8", "+seed=1"])];

/// Checks the bundle in `dir`; `None` for one of an integer layer.
///
/// # Errors
/// [`VectorError`] if there is no usable bundle or no folder to work in.
pub(crate) fn check(dir: &Path, request: &CheckRequest<'_>) -> Result<Option<CheckReport>, VectorError> {
    let Some(manifest) = again::manifest(dir)? else { return Ok(None) };
    let mut report = CheckReport::default();
    match manifest {
        Ok(_) if request.dut.is_some() => Err(VectorError::FloatDut { path: dir.into() }),
        Ok(manifest) => {
            let notes = vec![format!("valid by {MANIFEST_SCHEMA}")];
            report.checks.push(("manifest".into(), Outcome::Pass { checked: 1, notes }));
            checked(dir, &manifest, request, report).map(Some)
        }
        Err(violations) => {
            report.checks.push(("manifest".into(), broken(&violations)));
            Ok(Some(report))
        }
    }
}

/// Checks the bundle in `dir`, whose manifest is valid.
fn checked(
    dir: &Path,
    manifest: &FloatManifest,
    request: &CheckRequest<'_>,
    mut report: CheckReport,
) -> Result<CheckReport, VectorError> {
    let listed = &manifest.files;
    report.checks.push(("files".into(), files::hashes(dir, listed)));
    report.checks.push(("no other files".into(), files::others(dir, listed)));
    if !report.passed() {
        return Ok(report);
    }
    let made = match again::bundle(dir, manifest) {
        Ok(made) => made,
        Err(Refused::Error(error)) => return Err(error),
        Err(Refused::Claim(first)) => {
            report.checks.push(("claims".into(), Outcome::Fail { mismatches: 1, first: *first }));
            return Ok(report);
        }
    };
    report.checks.push(("claims".into(), claims(manifest, &made.manifest)));
    report.checks.push(("reference engine".into(), words(dir, &made)));
    report.checks.push(("generated files".into(), files::generated(listed, &made.manifest.files)));
    if !report.passed() {
        return Ok(report);
    }
    report.cases = manifest.cases.iter().map(|case| case.id.clone()).collect();
    for &simulator in request.simulators {
        let name = simulator.name();
        if let Some(reason) = absent(simulator) {
            // Who asks for every simulator means those that the bundle has a part for.
            let is_all = Simulator::ALL.iter().all(|one| request.simulators.contains(one));
            let outcome = match is_all && simulator == Simulator::Ghdl {
                true => Outcome::NotApplicable { reason },
                false => Outcome::Absent { reason },
            };
            report.checks.push((name.into(), outcome));
            continue;
        }
        let scratch = Scratch::new(request.work, name)?;
        files::write(&made.files, scratch.path())?;
        for ((suffix, _), (outcome, failed)) in
            RUNS.iter().zip(replay(scratch.path(), manifest, simulator, request)?)
        {
            let name = format!("{name}{suffix}");
            report.replays.push(Replayed { name: name.clone(), failed, bins: Vec::new() });
            report.checks.push((name, outcome));
        }
    }
    Ok(report)
}

/// Returns why a simulator cannot replay the bundle.
fn absent(simulator: Simulator) -> Option<String> {
    match simulator {
        Simulator::Ghdl => Some("the reference RTL in VHDL has no floating-point accumulator".into()),
        _ if !is_there(simulator) => Some(format!("`{}` is not installed", simulator.program())),
        _ => None,
    }
}

/// Compares every field of the manifest except the hashes of files.
fn claims(manifest: &FloatManifest, made: &FloatManifest) -> Outcome {
    let is_sealed = manifest.files == made.files;
    let json = |manifest: &FloatManifest| {
        let hidden = manifest.files.iter().map(|file| FileInfo { sha256: String::new(), ..file.clone() });
        let mut manifest = FloatManifest { files: hidden.collect(), ..manifest.clone() };
        if !is_sealed {
            manifest.sha256.clear();
        }
        serde_json::to_value(manifest).unwrap_or_default()
    };
    Fields::outcome(&json(manifest), &json(made))
}

/// Compares every word of the data files.
fn words(dir: &Path, made: &FloatBundle) -> Outcome {
    let (mut checked, mut mismatches, mut first) = (0, 0, None);
    for (path, expected) in made.files.iter().filter(|(path, _)| files::has_words(path)) {
        let bits = made.manifest.files.iter().find(|file| file.path == *path).and_then(|file| file.bits);
        let parse = |bytes: &[u8]| Mem::parse(bytes, bits.unwrap_or(1));
        let found = read::bytes(dir, path, expected.len() as u64).map_err(|error| error.to_string());
        let mut differs = |kind: &str, case: &str, details: String| {
            mismatches += 1;
            first.get_or_insert_with(|| Divergence {
                kind: kind.into(),
                case: case.into(),
                details: format!("{path}{details}"),
                ..Divergence::default()
            });
        };
        let (found, expected) = match (found.and_then(|found| parse(&found)), parse(expected)) {
            (Ok(found), Ok(expected)) => (found, expected),
            (Err(problem), _) | (_, Err(problem)) => {
                differs("file", "", format!(": {problem}"));
                continue;
            }
        };
        if found.len() != expected.len() {
            differs("count", "", format!(": found {} words, expected {}", found.len(), expected.len()));
        }
        checked += expected.len() as u64;
        let hex = |word: &[u64]| word.iter().rev().map(|limb| format!("{limb:016x}")).collect::<String>();
        let kind = path.trim_end_matches(".mem").trim_start_matches("exp_");
        for word in
            (0..found.len().min(expected.len())).filter(|&word| found.word(word) != expected.word(word))
        {
            let by_word = |case: &&FloatCase| case.out_word == Some(word);
            let by_beat = |case: &&FloatCase| (case.first_beat..case.first_beat + case.beats).contains(&word);
            let mut cases = made.manifest.cases.iter();
            let case = if kind == "sum" { cases.find(by_word) } else { cases.find(by_beat) };
            let [found, expected] = [found.word(word), expected.word(word)].map(hex);
            let [found, expected] = [&found, &expected].map(|digits| digits.trim_start_matches('0'));
            let details = format!(" word {word}: found 0x{found:0>1}, reference engine 0x{expected:0>1}");
            differs(kind, case.map_or("", |case| &case.id), details);
        }
    }
    match first {
        Some(first) => Outcome::Fail { mismatches, first },
        None => Outcome::Pass { checked, notes: Vec::new() },
    }
}

/// Outcome of a run, and what it counted, if it printed that.
type Counted = (Outcome, Option<Vec<usize>>);

/// Builds the bench in `work` and runs it in every manner.
fn replay(
    work: &Path,
    manifest: &FloatManifest,
    simulator: Simulator,
    request: &CheckRequest<'_>,
) -> Result<Vec<Counted>, VectorError> {
    let (mut build, run) = commands(simulator);
    build.args(hdl::sources());
    let built = start(build, work, request.time_limit)?;
    if !built.status.is_some_and(|status| status.success()) {
        return Ok(vec![(failed(told(built, request.time_limit)), None)]);
    }
    let mut outcomes = Vec::new();
    for (_, arguments) in RUNS {
        let mut command = Command::new(run[0]);
        command.args(&run[1..]).args(arguments);
        let ran = start(command, work, request.time_limit)?;
        let outcome = match ran.status {
            None => (failed(told(ran, request.time_limit)), None),
            Some(_) => parse(&ran.text, manifest),
        };
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// Returns the command that builds the bench, without its sources, and the one that runs it.
fn commands(simulator: Simulator) -> (Command, &'static [&'static str]) {
    match simulator {
        Simulator::Verilator => {
            let mut build = Command::new("verilator");
            build.args([
                "--binary",
                "--timing",
                "-O3",
                "-Wno-fatal",
                "-Wno-WIDTH",
                "--top-module",
                "tb_aligned",
            ]);
            build.args(["-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"]);
            build.args(["--Mdir", "verilated", "-o", "Vtb"]);
            (build, &["./verilated/Vtb"])
        }
        Simulator::Icarus | Simulator::Ghdl => {
            let mut build = Command::new("iverilog");
            build.args(["-g2012", "-s", "tb_aligned", "-o", "tb.vvp"]);
            (build, &["vvp", "-n", "tb.vvp"])
        }
    }
}

fn failed(text: String) -> Outcome {
    let lines: Vec<&str> = text.lines().collect();
    let details = lines[lines.len().saturating_sub(12)..].join("\n");
    Outcome::Fail {
        mismatches: 1,
        first: Divergence { kind: BROKEN.into(), details, ..Divergence::default() },
    }
}

/// Interprets the report of a run, and returns the places of the cases that differ.
fn parse(text: &str, manifest: &FloatManifest) -> (Outcome, Option<Vec<usize>>) {
    let line = |mark: &str| text.lines().find_map(|line| Some(&line[line.find(mark)?..]));
    let Some(result) = line("RESULT ") else { return (failed(text.into()), None) };
    let failed = line("FAILED").map_or("", |line| line.trim_start_matches("FAILED"));
    let failed = failed.split_whitespace().filter_map(|place| place.parse().ok()).collect();
    let fail = |kind: &str, mismatches: u64, case: &str, details: String| Outcome::Fail {
        mismatches,
        first: Divergence { kind: kind.into(), case: case.into(), details, ..Divergence::default() },
    };
    let mismatches = number(result, "mismatches").unwrap_or(1);
    let compared = &manifest.compared;
    let all = [("acc", compared.acc), ("total", compared.total), ("sum", compared.sum)];
    let missing = all.into_iter().find(|&(kind, expected)| number(result, kind) != Some(expected));
    let outcome = match (mismatches, missing) {
        (0, None) => {
            let beats: usize = manifest.cases.iter().map(|case| case.beats).sum();
            let cycles = value(result, "cycles").unwrap_or_default();
            let checked = all.iter().map(|(_, count)| count).sum();
            Outcome::Pass { checked, notes: vec![format!("{cycles} cycles for {beats} beats")] }
        }
        (0, Some((kind, expected))) => {
            let found = value(result, kind).unwrap_or("none");
            fail("count", 1, "", format!("compared {kind}: {found}, the manifest has {expected}"))
        }
        _ => {
            let line = line("MISMATCH ").unwrap_or_default();
            let details: Vec<&str> =
                line.split_whitespace().skip(2).filter(|word| !word.starts_with("case=")).collect();
            let case = value(line, "case").unwrap_or_default();
            fail(value(line, "kind").unwrap_or_default(), mismatches, case, details.join(" "))
        }
    };
    (outcome, Some(failed))
}

/// Replays every fault of the bundle in `dir` that its unit can have; `None` for one of an integer layer.
///
/// # Errors
/// [`VectorError`] if the bundle or the simulator cannot be used.
pub(crate) fn mutate(
    dir: &Path,
    simulator: Simulator,
    request: &CheckRequest<'_>,
) -> Result<Option<Vec<MutantResult>>, VectorError> {
    let Some(manifest) = again::manifest(dir)? else { return Ok(None) };
    let manifest = &manifest.map_err(|_| read::unusable(dir, "violates its schema".into()))?;
    let made = again::bundle(dir, manifest).map_err(|refused| refused.into_error(dir))?;
    let unit = again::unit_of(dir, manifest).map_err(|refused| refused.into_error(dir))?;
    let mut results = Vec::new();
    for mutant in MUTANTS.iter().filter(|mutant| (mutant.applies)(&unit)) {
        let name = mutant.patch.name();
        let edit = |work: &Path| apply(work, &mutant.patch);
        let outcome = faulty(&made, simulator, request, name, &edit)?;
        let equivalent = (mutant.equivalent)(&unit, longest(manifest));
        results.push(MutantResult {
            name: name.into(),
            change: mutant.patch.change.into(),
            equivalent,
            outcome,
        });
    }
    let name = "flipped_digit";
    let edit = |work: &Path| flip_last_digit(work.join("exp_acc.mem"), 0);
    let outcome = faulty(&made, simulator, request, name, &edit)?;
    let change = "one hexadecimal digit of the expected accumulators, hash check off";
    results.push(MutantResult { name: name.into(), change: change.into(), equivalent: None, outcome });
    Ok(Some(results))
}

/// Returns the number of products of the longest dot product of the bundle or its layer.
pub(super) fn longest(manifest: &FloatManifest) -> usize {
    manifest.cases.iter().map(|case| case.terms).chain([manifest.layer.terms]).max().unwrap_or(0)
}

/// Replays an edited bundle.
fn faulty(
    made: &FloatBundle,
    simulator: Simulator,
    request: &CheckRequest<'_>,
    name: &str,
    edit: &dyn Fn(&Path) -> Result<(), VectorError>,
) -> Result<Outcome, VectorError> {
    if let Some(reason) = absent(simulator) {
        return Ok(Outcome::Absent { reason });
    }
    let scratch = Scratch::new(request.work, &format!("mutant-{name}"))?;
    files::write(&made.files, scratch.path())?;
    edit(scratch.path())?;
    let mut outcomes = replay(scratch.path(), &made.manifest, simulator, request)?;
    // The first run that does not pass shows the mutant.
    let shown = outcomes.iter().position(|(outcome, _)| !matches!(outcome, Outcome::Pass { .. }));
    Ok(outcomes.swap_remove(shown.unwrap_or(0)).0)
}
