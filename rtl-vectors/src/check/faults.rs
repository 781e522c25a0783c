//! Faults in a design of the user: Yosys changes one cell at a time, and the replay must show the change.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::process::Command;

use vcd::{Command as Change, IdCode, ScopeItem, Value};

use super::dut::Dut;
use super::outcome::Outcome;
use super::report::Ran;
use super::simulator::Simulator;
use super::simulators::{Bench, Manner, Replay, Stop, find_case, start};
use super::{CheckRequest, again, files, process};
use crate::VectorError;
use crate::hdl::UNIT_RTL;
use crate::manifest::Manifest;
use crate::read::read_manifest;

/// Greatest number of cases that are listed for a survivor.
const NEAREST: usize = 3;

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
    files::write(&made.bundle, work)?;
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
    let replay = |dut: &Dut| -> Result<Vec<Ran>, VectorError> {
        let limit = request.time_limit;
        Replay { simulator, bench: Bench::Unit, dut: Some(dut), stop: Stop::AtMismatch, limit }
            .run(work, manifest)
    };
    let dump = |dut: &Dut, file: &str| {
        let limit = request.time_limit;
        let replay = Replay { simulator, bench: Bench::Unit, dut: Some(dut), stop: Stop::AtMismatch, limit };
        replay.dump_all(work, Manner::Plain, file)
    };
    let intact = netlist("intact.v");
    if let Some(problem) = replay(&intact)?.into_iter().find_map(|ran| problem(&ran)) {
        return Err(yosys.failed(&format!("the netlist of the unchanged design fails: {problem}")));
    }
    let path = work.join("mutations.ys");
    let list = fs::read_to_string(&path).map_err(|source| VectorError::Read { path, source })?;
    let mut intact_waves = None;
    let mut mutants = Vec::new();
    for line in list.lines().filter(|line| line.starts_with("mutate ")) {
        yosys.run(&format!("read_rtlil design.il\n{line}\nwrite_verilog -noattr mutant.v\n"))?;
        let mutant = netlist("mutant.v");
        let runs = replay(&mutant)?;
        let fate = match runs.iter().find(|ran| !matches!(ran, Ran::Report(Outcome::Pass { .. }))) {
            None => {
                if intact_waves.is_none() {
                    dump(&intact, "intact.vcd")?;
                    intact_waves = Some(work.join("intact.vcd"));
                }
                dump(&mutant, "mutant.vcd")?;
                DutFate::Survived(nearest(&work.join("intact.vcd"), &work.join("mutant.vcd"), manifest))
            }
            // Without a build there is a single text.
            Some(Ran::Broken(text)) if text.contains("error") => DutFate::Broken(text.clone()),
            Some(_) => DutFate::Caught,
        };
        mutants.push(DutMutant { change: change(line), source: source(line, &copies, dut), fate });
    }
    Ok(mutants)
}

/// Returns what a run found, unless it passed.
fn problem(ran: &Ran) -> Option<String> {
    match ran {
        Ran::Report(Outcome::Pass { .. }) => None,
        Ran::Report(Outcome::Fail { first, .. }) => Some(format!("{}, {}", first.kind, first.details)),
        Ran::Report(Outcome::Absent { reason }) => Some(reason.clone()),
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

/// Values of named signals in a waveform, change by change.
struct Waves {
    parser: vcd::Parser<BufReader<File>>,
    names: HashMap<IdCode, Vec<String>>,
}

impl Waves {
    fn open(path: &Path) -> Option<Self> {
        let mut parser = vcd::Parser::new(BufReader::new(File::open(path).ok()?));
        let header = parser.parse_header().ok()?;
        let mut names: HashMap<IdCode, Vec<String>> = HashMap::new();
        let mut left: Vec<(String, &[ScopeItem])> = vec![(String::new(), &header.items)];
        while let Some((scope, items)) = left.pop() {
            for item in items {
                match item {
                    ScopeItem::Var(var) => {
                        names.entry(var.code).or_default().push(format!("{scope}{}", var.reference));
                    }
                    ScopeItem::Scope(inner) => {
                        left.push((format!("{scope}{}.", inner.identifier), &inner.items))
                    }
                    _ => {}
                }
            }
        }
        Some(Self { parser, names })
    }

    /// Returns the next time with the changes before it.
    fn step(&mut self) -> Option<(Vec<(String, String)>, u64)> {
        let mut changes = Vec::new();
        loop {
            let (code, text) = match self.parser.next()?.ok()? {
                Change::Timestamp(time) => return Some((changes, time)),
                Change::ChangeScalar(code, value) => (code, value.to_string()),
                Change::ChangeVector(code, value) => {
                    let digits: String = value.iter().map(|bit: Value| bit.to_string()).collect();
                    (code, digits.trim_start_matches('0').to_owned())
                }
                _ => continue,
            };
            for name in self.names.get(&code).into_iter().flatten() {
                changes.push((name.clone(), text.clone()));
            }
        }
    }
}

/// Returns the cases in which the most named signals of the design differ between two runs, with that number.
fn nearest(intact: &Path, mutant: &Path, manifest: &Manifest) -> Vec<(String, usize)> {
    let (Some(mut a), Some(mut b)) = (Waves::open(intact), Waves::open(mutant)) else { return Vec::new() };
    // Numbered names differ between netlists, and the bench's own signals say nothing about the design.
    let is_seen = |name: &str| {
        let last = name.rsplit('.').next().unwrap_or(name);
        !last.starts_with('_') && name.matches('.').count() > 1
    };
    let (mut now, mut then): (HashMap<String, String>, HashMap<String, String>) = Default::default();
    let (mut differing, mut beat) = (std::collections::HashSet::<String>::new(), 0usize);
    let mut most: BTreeMap<usize, usize> = BTreeMap::new();
    let (mut left, mut right) = (a.step(), b.step());
    while let (Some((one, time_a)), Some((other, time_b))) = (&left, &right) {
        let time = (*time_a).min(*time_b);
        let mut touched = Vec::new();
        let mut take = |changes: &[(String, String)], values: &mut HashMap<String, String>| {
            for (name, value) in changes {
                values.insert(name.clone(), value.clone());
                touched.push(name.clone());
            }
        };
        let [advance_a, advance_b] = [*time_a == time, *time_b == time];
        if advance_a {
            take(one, &mut now);
        }
        if advance_b {
            take(other, &mut then);
        }
        for name in touched.into_iter().filter(|name| is_seen(name)) {
            match (now.get(&name), then.get(&name)) {
                (Some(x), Some(y)) if x != y => drop(differing.insert(name)),
                _ => drop(differing.remove(&name)),
            }
        }
        if let Some(value) = now.get("tb.beat").or_else(|| now.get("tb_stream.beat")) {
            beat = usize::from_str_radix(value, 2).unwrap_or(0);
        }
        let entry = most.entry(beat.saturating_sub(1)).or_default();
        *entry = (*entry).max(differing.len());
        if advance_a {
            left = a.step();
        }
        if advance_b {
            right = b.step();
        }
    }
    let mut cases: Vec<(String, usize)> = Vec::new();
    for (beat, count) in most.into_iter().filter(|(_, count)| *count > 0) {
        let Some(case) = find_case(manifest, Some(beat), None) else { continue };
        match cases.last_mut().filter(|(id, _)| *id == case.id) {
            Some((_, most)) => *most = (*most).max(count),
            None => cases.push((case.id.clone(), count)),
        }
    }
    cases.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    cases.truncate(NEAREST);
    cases
}
