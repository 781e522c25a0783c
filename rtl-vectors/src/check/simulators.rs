//! Real simulators: builds and runs the bench of a bundle, and interprets its report.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::outcome::{Divergence, Outcome};
use super::report::{Ran, number, value};
use super::{array, process};
use crate::VectorError;
use crate::hdl::Sources;
use crate::manifest::{Case, Manifest};

/// Simulator in which bundles are replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Simulator {
    /// Icarus Verilog 11 or later.
    Icarus,
    /// Verilator 5.006 or later.
    Verilator,
    /// GHDL 2.0 or later.
    Ghdl,
}

impl Simulator {
    /// All simulators.
    pub const ALL: [Self; 3] = [Self::Icarus, Self::Verilator, Self::Ghdl];

    /// Returns the name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Icarus => "icarus",
            Self::Verilator => "verilator",
            Self::Ghdl => "ghdl",
        }
    }

    /// Returns its program.
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Icarus => "iverilog",
            Self::Verilator => "verilator",
            Self::Ghdl => "ghdl",
        }
    }
}

/// Design that is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bench {
    /// One MAC unit, beat by beat.
    Unit,
    /// The whole array, tile by tile.
    Array,
}

/// End of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// After the last vector.
    AtEnd,
    /// After the first mismatch, if the bench supports it.
    AtMismatch,
}

/// Replays the bundle that was written to `work`.
pub(super) fn run(
    simulator: Simulator,
    bench: Bench,
    work: &Path,
    manifest: &Manifest,
    limit: Duration,
) -> Result<Outcome, VectorError> {
    if !is_there(simulator) {
        let reason = format!("`{}` is not installed", simulator.program());
        return Ok(Outcome::Absent { reason });
    }
    let mut kinds = manifest.arithmetic.levels.iter().map(|level| level.reduce);
    if let (Simulator::Ghdl, Some(kind)) = (simulator, kinds.find(|kind| !kind.is_in_vhdl())) {
        return Ok(Outcome::Absent { reason: format!("the reference RTL in VHDL has no {kind} level") });
    }
    Ok(match replay(simulator, bench, Stop::AtEnd, work, manifest, limit)? {
        Ran::Report(outcome) => outcome,
        Ran::Broken(text) => {
            let first =
                Divergence { kind: "build or run".into(), details: tail(&text), ..Divergence::default() };
            Outcome::Fail { mismatches: 1, first }
        }
    })
}

pub(super) fn is_there(simulator: Simulator) -> bool {
    ["--version", "-V"].iter().any(|argument| {
        let mut command = Command::new(simulator.program());
        command.arg(argument);
        process::run(command, Duration::from_secs(60)).is_ok()
    })
}

pub(super) fn replay(
    simulator: Simulator,
    bench: Bench,
    stop: Stop,
    work: &Path,
    manifest: &Manifest,
    limit: Duration,
) -> Result<Ran, VectorError> {
    let Sources { top, files: sources } = match (bench, simulator) {
        (Bench::Unit, Simulator::Ghdl) => Sources::vhdl(),
        (Bench::Unit, _) => Sources::unit(),
        (Bench::Array, _) => Sources::array(),
    };
    let (build, mut run) = match simulator {
        Simulator::Ghdl => {
            let mut build = Command::new("ghdl");
            build.args(["-a", "--std=08"]).args(&sources);
            let mut run = Command::new("ghdl");
            run.args(["--elab-run", "--std=08", top]);
            (build, run)
        }
        Simulator::Icarus => {
            let mut build = Command::new("iverilog");
            build.args(["-g2012", "-s", top, "-o", "tb.vvp"]).args(&sources);
            let mut run = Command::new("vvp");
            run.args(["-n", "tb.vvp"]);
            (build, run)
        }
        Simulator::Verilator => {
            // A folder that the caller keeps may contain a build of other sources.
            let _ = std::fs::remove_dir_all(work.join("verilated"));
            let mut build = Command::new("verilator");
            build.args(["--binary", "--timing", "-O3", "-Wno-fatal", "-Wno-WIDTH", "--top-module", top]);
            // A run takes a second, while optimizing the code of an array would take minutes.
            build.args(["-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"]);
            build.args(["--Mdir", "verilated", "-o", "Vtb"]).args(&sources);
            (build, Command::new("./verilated/Vtb"))
        }
    };
    if bench == Bench::Array && stop == Stop::AtMismatch {
        run.arg("+quick=1");
    }
    let built = start(build, work, limit)?;
    if !built.status.is_some_and(|status| status.success()) {
        return Ok(Ran::Broken(told(built, limit)));
    }
    let ran = start(run, work, limit)?;
    if ran.status.is_none() {
        return Ok(Ran::Broken(told(ran, limit)));
    }
    Ok(match bench {
        Bench::Unit => parse(&ran.text, manifest),
        Bench::Array => array::parse(&ran.text, manifest),
    })
}

fn start(mut command: Command, work: &Path, limit: Duration) -> Result<process::Ended, VectorError> {
    command.current_dir(work);
    let program = command.get_program().into();
    process::run(command, limit).map_err(|source| VectorError::Read { path: program, source })
}

/// Returns the output of a program that failed, and whether it was stopped.
fn told(ended: process::Ended, limit: Duration) -> String {
    match ended.status {
        Some(_) => ended.text,
        None => format!("{}\nstopped after {} seconds", ended.text, limit.as_secs()),
    }
}

/// Returns the last lines, which are enough to see the cause.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

fn parse(text: &str, manifest: &Manifest) -> Ran {
    let Some(result) = text.lines().find_map(|line| Some(&line[line.find("RESULT ")?..])) else {
        return Ran::Broken(text.into());
    };
    let mismatches = number(result, "mismatches").unwrap_or(1);
    if mismatches == 0 {
        let checked = number(result, "checked").unwrap_or(0);
        return Ran::Report(Outcome::Pass { checked, notes: notes(result, manifest) });
    }
    let line = text.lines().find_map(|line| Some(&line[line.find("MISMATCH ")?..])).unwrap_or("");
    let beat = number(line, "beat").map(|b| b as usize);
    let word = number(line, "word").map(|w| w as usize);
    let case = find_case(manifest, beat, word);
    let level = number(line, "level").and_then(|i| manifest.arithmetic.levels.get(i as usize));
    let first = Divergence {
        kind: value(line, "kind").unwrap_or_default().into(),
        case: case.map_or(String::new(), |c| c.id.clone()),
        level: level.map_or(String::new(), |l| l.name.clone()),
        details: details(line),
    };
    Ran::Report(Outcome::Fail { mismatches, first })
}

/// Returns the details of a mismatch other than its kind, level and case.
fn details(line: &str) -> String {
    let words = line.split_whitespace().skip(3).filter(|word| !word.starts_with("case="));
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the notes of a run that passed.
fn notes(result: &str, manifest: &Manifest) -> Vec<String> {
    let beats: usize = manifest.cases.iter().map(|c| c.beats).sum();
    let cycles = value(result, "cycles").unwrap_or_default();
    let mut notes = vec![format!("{cycles} cycles for {beats} beats")];
    if let (Some(acc), Some(out)) = (value(result, "acc_latency"), value(result, "out_latency")) {
        let (acc_asked, out_asked) = (manifest.interface.acc_latency, manifest.interface.out_latency);
        notes.push(format!(
            "measured latency: accumulators {acc}, outputs {out} (contract {acc_asked} and {out_asked})"
        ));
    }
    if value(result, "vhdl").is_some() {
        notes.push("exp_out not compared: the VHDL MAC has no requantizer".into());
    } else if number(result, "outputs") == Some(0) {
        let scheme = &manifest.arithmetic.requantize.scheme;
        notes.push(format!("exp_out not compared: the reference RTL does not support `{scheme}`"));
    }
    notes
}

pub(super) fn find_case(manifest: &Manifest, beat: Option<usize>, word: Option<usize>) -> Option<&Case> {
    manifest.cases.iter().find(|case| match (beat, word) {
        (Some(beat), _) => (case.first_beat..case.first_beat + case.beats).contains(&beat),
        (None, Some(_)) => case.out_word == word,
        (None, None) => false,
    })
}
