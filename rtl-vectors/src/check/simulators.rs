//! Real simulators: builds and runs the bench of a bundle, and interprets its report.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use guardbit_hwmodels::BiasPlace;

use super::dut::{Dut, DutLatency};
use super::outcome::{Divergence, Outcome, StressBin};
use super::report::{Ran, number, value};
use super::simulator::Simulator;
use super::{array, process};
use crate::VectorError;
use crate::bins::GROUPS;
use crate::hdl::Sources;
use crate::manifest::{BiasAt, Case, Compared, Manifest};
use crate::profile::DutProfile;

/// Waveform of a mismatch.
const MISMATCH: &str = "mismatch.vcd";
/// Clock cycles before a mismatch in its waveform, and after it. GHDL dumps all cycles before.
const DUMPED_BEFORE: u64 = 64;
const DUMPED_AFTER: u64 = 16;

/// Arguments of a run with idle cycles and resets, apart from the seed: names and values.
const STRESS: [(&str, u32); 3] = [("idle", 10), ("idle_max", 64), ("resets", 6)];

/// Percentage of cycles in which a run with idle cycles begins to let results wait.
const STALL: u32 = 10;

/// Manner in which the beats are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// Beat by beat, as the files hold them.
    Plain,
    /// With idle cycles between beats, and resets, at places that this seed determines.
    Stress(u32),
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

/// A bench with a design in a simulator.
#[derive(Clone, Copy)]
pub(super) struct Replay<'a> {
    pub simulator: Simulator,
    pub bench: Bench,
    /// Design that replaces the reference design.
    pub dut: Option<&'a Dut>,
    pub stop: Stop,
    /// Limit of the time in which the simulator may build the bench, and of the time of each run.
    pub limit: Duration,
}

impl Replay<'_> {
    /// Replays the bundle that was written to `work`, in every manner. Without a simulator or a build there is one
    /// outcome. Of a design of the user, the first mismatch is dumped as a waveform.
    pub fn outcomes(&self, work: &Path, manifest: &Manifest) -> Result<Vec<Ended>, VectorError> {
        let absent = |reason: String| {
            let run = Run { ran: Ran::Report(Outcome::Absent { reason }), failed: None, bins: Vec::new() };
            Ok(vec![run.ended(Manner::Plain)])
        };
        let simulator = self.simulator;
        if let Some(reason) = self.dut.and_then(|dut| dut.refuses(simulator)) {
            return absent(reason);
        }
        if !is_there(simulator) {
            return absent(format!("`{}` is not installed", simulator.program()));
        }
        if self.dut.is_some_and(|dut| dut.profile == DutProfile::Raw)
            && manifest.layer.weight.zero_points.len() > 1
        {
            return absent("profile raw needs one zero point for all weights".into());
        }
        let mut kinds = manifest.arithmetic.levels.iter().map(|level| level.reduce);
        if let (Simulator::Ghdl, None, Some(kind)) =
            (simulator, self.dut, kinds.find(|kind| !kind.is_in_vhdl()))
        {
            return absent(format!("the reference RTL in VHDL has no {kind} level"));
        }
        let runs = self.runs(work, manifest)?;
        let mut ended: Vec<Ended> =
            self.manners().into_iter().zip(runs).map(|(manner, run)| run.ended(manner)).collect();
        let failed = ended.iter_mut().find_map(|ended| match &mut ended.outcome {
            Outcome::Fail { first, .. } => Some((ended.manner, first)),
            _ => None,
        });
        if let (Some(_), Some((manner, first))) = (self.dut, failed) {
            first.waves = self.dump(work, manner, first)?;
        }
        Ok(ended)
    }

    /// Repeats a run up to its first mismatch with a waveform, and returns the file.
    fn dump(&self, work: &Path, manner: Manner, first: &Divergence) -> Result<Option<PathBuf>, VectorError> {
        let Some(cycle) = number(&first.details, "cycle") else { return Ok(None) };
        let (from, until) = (cycle.saturating_sub(DUMPED_BEFORE), cycle + DUMPED_AFTER);
        let mut arguments: Vec<String> = match self.simulator {
            // The clock of the bench has 10 ns.
            Simulator::Ghdl => vec![format!("--vcd={MISMATCH}"), format!("--stop-time={}ns", 10 * until)],
            _ => vec![format!("+waves={MISMATCH}"), format!("+from={from}"), format!("+until={until}")],
        };
        let run = match self.simulator {
            Simulator::Verilator => match self.build(work, &["--trace"])? {
                Ok(run) => run,
                Err(_) => return Ok(None),
            },
            _ => self.program(),
        };
        arguments.splice(0..0, self.arguments(manner));
        start(command(&run, arguments), work, self.limit)?;
        let file = work.join(MISMATCH);
        Ok(file.exists().then_some(file))
    }

    /// Repeats a run with a waveform of all cycles in `file`.
    pub fn dump_all(&self, work: &Path, manner: Manner, file: &str) -> Result<(), VectorError> {
        let Ok(run) = self.build(work, &["--trace"])? else { return Ok(()) };
        let mut arguments = self.arguments(manner);
        arguments.push(format!("+waves={file}"));
        start(command(&run, arguments), work, self.limit)?;
        Ok(())
    }

    /// Returns the runs of the bench, in order.
    fn manners(&self) -> Vec<Manner> {
        let seeds = match self.bench {
            Bench::Unit => self.dut.map_or(1, |dut| dut.seeds),
            Bench::Array => 0,
        };
        [Manner::Plain].into_iter().chain((1..=seeds).map(Manner::Stress)).collect()
    }

    /// Builds the bench and runs it in every manner; with [`Stop::AtMismatch`] up to the first that does not pass.
    /// The result has at least one element, and only one if the bench cannot be built.
    pub fn run(&self, work: &Path, manifest: &Manifest) -> Result<Vec<Ran>, VectorError> {
        Ok(self.runs(work, manifest)?.into_iter().map(|run| run.ran).collect())
    }

    fn runs(&self, work: &Path, manifest: &Manifest) -> Result<Vec<Run>, VectorError> {
        let run = match self.build(work, &[])? {
            Ok(run) => run,
            Err(text) => return Ok(vec![Run::broken(text)]),
        };
        let mut runs = Vec::new();
        for manner in self.manners() {
            let ran = start(command(&run, self.arguments(manner)), work, self.limit)?;
            let run = match (ran.status, self.bench) {
                (None, _) => Run::broken(told(ran, self.limit)),
                (Some(_), Bench::Unit) => parse(&ran.text, manifest, self.dut),
                (Some(_), Bench::Array) => {
                    Run { ran: array::parse(&ran.text, manifest), failed: None, bins: Vec::new() }
                }
            };
            let passed = matches!(run.ran, Ran::Report(Outcome::Pass { .. }));
            runs.push(run);
            if self.stop == Stop::AtMismatch && !passed {
                break;
            }
        }
        Ok(runs)
    }

    /// Returns the command of a run, without the arguments of the bench.
    fn program(&self) -> Vec<&'static str> {
        let top = match self.bench {
            Bench::Unit if self.dut.is_some_and(|dut| dut.profile.is_stream()) => "tb_stream",
            Bench::Unit => "tb",
            Bench::Array => "tb_array",
        };
        match self.simulator {
            Simulator::Ghdl => vec!["ghdl", "--elab-run", "--std=08", top],
            Simulator::Icarus => vec!["vvp", "-n", "tb.vvp"],
            Simulator::Verilator => vec!["./verilated/Vtb"],
        }
    }

    /// Builds the bench, in Verilator with `more` options. Returns the command of a run, or what the simulator reports.
    fn build(&self, work: &Path, more: &[&str]) -> Result<Result<Vec<&'static str>, String>, VectorError> {
        let Self { simulator, bench, dut, limit, .. } = *self;
        let (mut design, mut folders) = (Vec::new(), Vec::new());
        let is_stream = dut.is_some_and(|dut| dut.profile.is_stream());
        if let Some(dut) = dut {
            design = dut.copied(work)?;
            design.extend(dut.adapter());
            folders = dut.folders();
        }
        let Sources { top, files: sources } = match (bench, simulator) {
            (Bench::Unit, Simulator::Ghdl) if is_stream => Sources::vhdl_stream(design),
            (Bench::Unit, Simulator::Ghdl) => Sources::vhdl(design),
            (Bench::Unit, _) if is_stream => Sources::stream_with(design),
            (Bench::Unit, _) if dut.is_some() => Sources::unit_with(design),
            (Bench::Unit, _) => Sources::unit(),
            (Bench::Array, Simulator::Ghdl) => Sources::array_vhdl(),
            (Bench::Array, _) => Sources::array(),
        };
        // Options that Icarus and Verilator share.
        let mut options: Vec<OsString> = Vec::new();
        for folder in folders {
            let mut option = OsString::from("-I");
            option.push(folder);
            options.push(option);
        }
        if let Some(name) = dut.and_then(|dut| dut.top.as_ref()) {
            options.push(format!("-DGB_TOP={name}").into());
        }
        let build = match simulator {
            Simulator::Ghdl => {
                let mut build = Command::new("ghdl");
                build.args(["-a", "--std=08"]).args(&sources);
                build
            }
            Simulator::Icarus => {
                let mut build = Command::new("iverilog");
                build.args(["-g2012", "-s", top, "-o", "tb.vvp"]).args(options).args(&sources);
                build
            }
            Simulator::Verilator => {
                // A folder that the caller keeps may contain a build of other sources.
                let _ = std::fs::remove_dir_all(work.join("verilated"));
                let mut build = Command::new("verilator");
                build.args(["--binary", "--timing", "-O3", "-Wno-fatal", "-Wno-WIDTH", "--top-module", top]);
                // A run takes a second, while optimizing the code of an array would take minutes.
                build.args(["-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"]);
                build.args(["--Mdir", "verilated", "-o", "Vtb"]).args(more).args(options).args(&sources);
                build
            }
        };
        let built = start(build, work, limit)?;
        let is_built = built.status.is_some_and(|status| status.success());
        Ok(if is_built { Ok(self.program()) } else { Err(told(built, limit)) })
    }

    /// Returns the arguments of a run.
    fn arguments(&self, manner: Manner) -> Vec<String> {
        let mut all = Vec::new();
        if self.bench == Bench::Array && self.stop == Stop::AtMismatch {
            all.push(("quick", 1));
        }
        let is_stream = self.dut.is_some_and(|dut| dut.profile.is_stream());
        if let Some(dut) = self.dut.filter(|dut| !dut.profile.is_stream()) {
            match dut.latency {
                DutLatency::Contract => {}
                DutLatency::Any => all.push(("latency", 0)),
                DutLatency::Cycles(cycles) => all.extend([("latency", 0), ("acc_latency", cycles)]),
            }
            // The bench in VHDL always compares all ports.
            if !dut.profile.has_accumulators() {
                all.push(("acc", 0));
            }
            if !dut.profile.has_codes() {
                all.push(("out", 0));
            }
        }
        if let Manner::Stress(seed) = manner {
            all.extend(STRESS);
            if is_stream {
                all.push(("stall", STALL));
            }
            all.push(("seed", seed));
        }
        let mark = if self.simulator == Simulator::Ghdl { "-g" } else { "+" };
        all.into_iter().map(|(name, value): (_, u32)| format!("{mark}{name}={value}")).collect()
    }
}

/// Result of a run, with what a report about cases needs.
struct Run {
    ran: Ran,
    /// Places of the cases that differ; `None` if the bench did not reach its end.
    failed: Option<Vec<usize>>,
    bins: Vec<StressBin>,
}

impl Run {
    fn broken(text: String) -> Self {
        Self { ran: Ran::Broken(text), failed: None, bins: Vec::new() }
    }

    fn ended(self, manner: Manner) -> Ended {
        let outcome = match self.ran {
            Ran::Report(outcome) => outcome,
            Ran::Broken(text) => {
                let first =
                    Divergence { kind: "build or run".into(), details: tail(&text), ..Divergence::default() };
                Outcome::Fail { mismatches: 1, first }
            }
        };
        Ended { manner, outcome, failed: self.failed, bins: self.bins }
    }
}

/// A run with its outcome.
pub(super) struct Ended {
    pub manner: Manner,
    pub outcome: Outcome,
    /// Places of the cases that differ; `None` if the bench did not reach its end.
    pub failed: Option<Vec<usize>>,
    pub bins: Vec<StressBin>,
}

fn command(program: &[&str], arguments: Vec<String>) -> Command {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).args(arguments);
    command
}

pub(crate) fn is_there(simulator: Simulator) -> bool {
    ["--version", "-V"].iter().any(|argument| {
        let mut command = Command::new(simulator.program());
        command.arg(argument);
        process::run(command, Duration::from_secs(60)).is_ok()
    })
}

pub(crate) fn start(
    mut command: Command,
    work: &Path,
    limit: Duration,
) -> Result<process::Ended, VectorError> {
    command.current_dir(work);
    let program = command.get_program().into();
    process::run(command, limit).map_err(|source| VectorError::Read { path: program, source })
}

/// Returns the output of a program that failed, and whether it was stopped.
pub(crate) fn told(ended: process::Ended, limit: Duration) -> String {
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

fn parse(text: &str, manifest: &Manifest, dut: Option<&Dut>) -> Run {
    let line = |mark: &str| text.lines().find_map(|line| Some(&line[line.find(mark)?..]));
    let Some(result) = line("RESULT ") else {
        return Run::broken(text.into());
    };
    let failed = line("FAILED").map_or("", |line| line.trim_start_matches("FAILED"));
    let failed = failed.split_whitespace().filter_map(|place| place.parse().ok()).collect();
    let bins = GROUPS.iter().flat_map(|group| {
        let counts = value(result, group.name).unwrap_or_default().split(',');
        let hits = counts.filter_map(|count| count.parse().ok());
        group.bins.iter().zip(hits).map(|(bin, hits)| StressBin { group: group.name, name: bin.name, hits })
    });
    Run { ran: report(text, result, manifest, dut), failed: Some(failed), bins: bins.collect() }
}

/// Interprets the line RESULT of a run and the first mismatch.
fn report(text: &str, result: &str, manifest: &Manifest, dut: Option<&Dut>) -> Ran {
    let mismatches = number(result, "mismatches").unwrap_or(1);
    if mismatches == 0 {
        let checked = number(result, "checked").unwrap_or(0);
        return Ran::Report(match shortfall(result, manifest, dut) {
            None => Outcome::Pass { checked, notes: notes(result, manifest) },
            Some(details) => {
                let first = Divergence { kind: "count".into(), details, ..Divergence::default() };
                Outcome::Fail { mismatches: 1, first }
            }
        });
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
        ..Divergence::default()
    };
    Ran::Report(Outcome::Fail { mismatches, first })
}

/// Returns the details of a mismatch other than its kind, level and case.
fn details(line: &str) -> String {
    let words = line.split_whitespace().skip(3).filter(|word| !word.starts_with("case="));
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the first number of compared values that is not the manifest's.
fn shortfall(result: &str, manifest: &Manifest, dut: Option<&Dut>) -> Option<String> {
    let Compared { acc, sum, .. } = &manifest.compared;
    let acc: Vec<String> = acc.iter().map(u64::to_string).collect();
    // Codes of a requantization that the RTL does not have are counted, but not compared.
    let profile = dut.map_or(DutProfile::Full, |dut| dut.profile);
    let all = [
        ("acc", acc.join(","), profile.has_accumulators()),
        ("sum", sum.to_string(), true),
        ("out", sum.to_string(), profile.has_codes()),
    ];
    let all = all.into_iter().filter(|(_, _, is_compared)| *is_compared);
    all.map(|(kind, expected, _)| (kind, expected)).find_map(|(kind, expected)| {
        let found = value(result, kind).unwrap_or("none");
        (found != expected).then(|| format!("compared {kind}: {found}, the manifest has {expected}"))
    })
}

/// Returns the notes of a run that passed.
fn notes(result: &str, manifest: &Manifest) -> Vec<String> {
    let beats: usize = manifest.cases.iter().map(|c| c.beats).sum();
    let cycles = value(result, "cycles").unwrap_or_default();
    let mut notes = vec![format!("{cycles} cycles for {beats} beats")];
    let latencies = value(result, "acc_latency").zip(value(result, "out_latency"));
    // A design without these ports has no such latency.
    let latencies = latencies.filter(|(acc, out)| !acc.starts_with('-') && !out.starts_with('-'));
    if let (Some((acc, out)), Some("0,0,0")) = (latencies, value(result, "reset")) {
        let (acc_asked, out_asked) = (manifest.interface.acc_latency, manifest.interface.out_latency);
        notes.push(format!(
            "measured latency: accumulators {acc}, outputs {out} (contract {acc_asked} and {out_asked})"
        ));
    }
    if let Some((resets, gaps)) =
        value(result, "reset").filter(|&r| r != "0,0,0").zip(value(result, "gap_inside"))
    {
        let between = value(result, "gap_between").unwrap_or_default();
        notes.push(format!(
            "idle cycles (0, 1, 2, 3-7, 8+) before beats {gaps}, before dot products {between}; resets (between \
             dot products, within one, after an overflow) {resets}"
        ));
    }
    if number(result, "outputs") == Some(0) {
        let reason = match manifest.arithmetic.bias.at {
            at @ BiasAt::Some(BiasPlace::PostRequantize) => format!("a bias at `{at}`"),
            _ => format!("`{}`", manifest.arithmetic.requantize.scheme),
        };
        notes.push(format!("exp_out not compared: the reference RTL does not support {reason}"));
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
