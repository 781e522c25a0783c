//! Faults in a design of the user: Yosys changes one cell at a time, and the replay must show the change.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::dut::Dut;
use super::nearest::nearest;
use super::outcome::Outcome;
use super::report::Ran;
use super::simulator::Simulator;
use super::simulators::{Bench, Manner, Replay, Stop, start};
use super::{CheckRequest, again, files, process};
use crate::VectorError;
use crate::hdl::UNIT_RTL;
use crate::read::read_manifest;

/// Greatest number of lines that are listed for a change.
const SOURCES: usize = 4;

/// A fault in a design of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DutMutant {
    /// The change, as Yosys names it: kind, and bit of a signal or of a cell's port.
    pub change: String,
    /// Lines of the source that the changed cell comes from.
    pub source: Vec<String>,
    /// Result of the replay.
    pub fate: DutFate,
}

/// Result of a fault in a design of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DutFate {
    /// The replay found a difference, or did not end.
    Caught,
    /// The replay found no difference. The cases in which most signals within the design differ, with their number.
    Survived(Vec<(String, usize)>),
    /// The simulator could not build the changed design.
    Broken(String),
}

/// Changes the design of the user in up to `count` places, one at a time, and replays the cases of the bundle in `dir`.
///
/// # Errors
/// [`VectorError`] if the bundle, the simulator or Yosys cannot be used, and if Yosys cannot read the design.
pub fn mutate_dut(
    dir: &Path,
    simulator: Simulator,
    request: &CheckRequest<'_>,
    dut: &Dut,
    count: usize,
) -> Result<Vec<DutMutant>, VectorError> {
    let made =
        again::bundle(dir, &read_manifest(dir)?, &dut.without).map_err(|refused| refused.into_error(dir))?;
    let manifest = &made.bundle.manifest;
    let scratch = files::Scratch::new(request.work, "mutate-dut")?;
    let work = scratch.path();
    files::write(&made.bundle.files, work)?;
    let copies = dut.copied(work)?;
    let yosys = Yosys { work, request };
    let top = dut.top.as_deref().unwrap_or("gb_dut");
    let modules = UNIT_RTL.iter().map(|(name, _)| format!("rtl/{name}"));
    let sources: Vec<String> = modules.chain(copies.iter().cloned()).collect();
    let folders: String = dut.folders().iter().map(|folder| format!(" -I{}", folder.display())).collect();
    yosys.run(&format!(
        "read_verilog -sv{folders} {}\nhierarchy -check -top {top}\nproc\nflatten\nopt_clean\nwrite_rtlil design.il\n\
         write_verilog -noattr intact.v\nmutate -list {count} -seed 1 -o mutations.ys\n",
        sources.join(" ")
    ))?;
    let netlist = |name: &str| Dut { files: vec![work.join(name)], ..dut.clone() };
    let intact = netlist("intact.v");
    if let Some(problem) =
        replay(simulator, request, &intact).run(work, manifest)?.into_iter().find_map(|ran| problem(&ran))
    {
        return Err(yosys.failed(&format!("the netlist of the unchanged design fails: {problem}")));
    }
    let path = work.join("mutations.ys");
    let list = fs::read_to_string(&path).map_err(|source| VectorError::Read { path, source })?;
    let mut has_waves = false;
    let mut mutants = Vec::new();
    for line in list.lines().filter(|line| line.starts_with("mutate ")) {
        yosys.run(&format!("read_rtlil design.il\n{line}\nwrite_verilog -noattr mutant.v\n"))?;
        let mutant = netlist("mutant.v");
        let runs = replay(simulator, request, &mutant).run(work, manifest)?;
        let fate = match runs.iter().find(|ran| !matches!(ran, Ran::Report(Outcome::Pass { .. }))) {
            None => {
                let [expected, changed] = ["intact.vcd", "mutant.vcd"];
                if !has_waves {
                    replay(simulator, request, &intact).dump_all(work, Manner::Plain, expected)?;
                    has_waves = true;
                }
                replay(simulator, request, &mutant).dump_all(work, Manner::Plain, changed)?;
                DutFate::Survived(nearest(&work.join(expected), &work.join(changed), manifest))
            }
            // Without a build there is a single text.
            Some(Ran::Broken(text)) if text.contains("error") => DutFate::Broken(text.clone()),
            Some(_) => DutFate::Caught,
        };
        mutants.push(DutMutant { change: change(line), source: source(line, &copies, dut), fate });
    }
    Ok(mutants)
}

fn replay<'a>(simulator: Simulator, request: &CheckRequest<'_>, dut: &'a Dut) -> Replay<'a> {
    let limit = request.time_limit;
    Replay { simulator, bench: Bench::Unit, dut: Some(dut), stop: Stop::AtMismatch, limit }
}

/// Returns what a run found, unless it passed.
fn problem(ran: &Ran) -> Option<String> {
    match ran {
        Ran::Report(Outcome::Pass { .. }) => None,
        Ran::Report(Outcome::Fail { first, .. }) => Some(format!("{}, {}", first.kind, first.details)),
        Ran::Report(Outcome::NotApplicable { reason } | Outcome::Absent { reason }) => Some(reason.clone()),
        Ran::Broken(text) => Some(text.chars().take(500).collect()),
    }
}

struct Yosys<'a> {
    work: &'a Path,
    request: &'a CheckRequest<'a>,
}

impl Yosys<'_> {
    fn run(&self, script: &str) -> Result<(), VectorError> {
        let path = self.work.join("script.ys");
        fs::write(&path, script).map_err(|source| VectorError::Write { path, source })?;
        let mut command = Command::new("yosys");
        command.args(["-q", "script.ys"]);
        let ended: process::Ended = start(command, self.work, self.request.time_limit)?;
        match ended.status {
            Some(status) if status.success() => Ok(()),
            _ => Err(self.failed(ended.text.trim())),
        }
    }

    fn failed(&self, problem: &str) -> VectorError {
        VectorError::Yosys { problem: problem.chars().take(1000).collect() }
    }
}

/// Returns the values of an option of a command.
fn option<'a>(line: &'a str, name: &str) -> Vec<&'a str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(2).filter(|pair| pair[0] == name).map(|pair| pair[1]).collect()
}

fn change(line: &str) -> String {
    let one = |name| option(line, name).first().copied().unwrap_or_default().trim_start_matches('\\');
    match one("-wire") {
        "" => format!(
            "{} at bit {} of port {} of {}",
            one("-mode"),
            one("-portbit"),
            one("-port"),
            one("-cell")
        ),
        wire => format!("{} at bit {} of {wire}", one("-mode"), one("-wirebit")),
    }
}

/// Returns the lines that a change comes from: those of the user's files, then those of reference modules in use.
fn source(line: &str, copies: &[String], dut: &Dut) -> Vec<String> {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for place in option(line, "-src") {
        let Some((file, rest)) = place.rsplit_once(':') else { continue };
        let number = rest.split('.').next().unwrap_or_default();
        let copy = copies.iter().position(|copy| copy == file);
        let list = if copy.is_some() { &mut own } else { &mut others };
        let name = copy.map_or(file.to_owned(), |index| dut.files[index].display().to_string());
        let text = format!("{name}:{number}");
        if !list.contains(&text) {
            list.push(text);
        }
    }
    own.extend(others);
    own.truncate(SOURCES);
    own
}
