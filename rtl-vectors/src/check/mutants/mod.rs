//! Built-in faults. Each changes the reference RTL or the expected data. The replay must detect it, or a
//! proof must show that it changes nothing for any stimulus of the layer.

mod array;
mod facts;
#[cfg(test)]
mod model;
mod mutant;
mod registers;
mod unit;

use std::fs;
use std::path::{Path, PathBuf};

use super::outcome::{Divergence, Outcome};
use super::report::Ran;
use super::simulator::Simulator;
use super::simulators::{Bench, Replay, Stop};
use super::{CheckRequest, again, files};
use crate::VectorError;
use crate::bundle::Bundle;
use crate::hdl;
use crate::manifest::Manifest;
use crate::read::read_manifest;
use facts::{Facts, Target};
pub(crate) use mutant::Patch;
use registers::{FIT_FAULTS, registers};

/// Result of a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MutantResult {
    /// Name of the mutant, followed by its register if it has one: `one_bit_wider, acc`.
    pub name: String,
    /// Description of the change.
    pub change: String,
    /// Proof, if there is one, that no stimulus of this layer shows the change.
    pub equivalent: Option<String>,
    /// Outcome of the replay.
    pub outcome: Outcome,
}

/// Conclusion from a mutant about the bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The replay found a difference.
    Caught,
    /// The replay found no difference, and a proof shows that there is none.
    Equivalent,
    /// The replay found no difference although one is possible, or the mutant did not run.
    Missed,
    /// The replay found a difference although a proof shows that there is none.
    Contradicted,
}

impl MutantResult {
    /// Returns the conclusion about the bundle.
    pub fn verdict(&self) -> Verdict {
        let caught = match &self.outcome {
            Outcome::Fail { first, .. } if first.kind != BROKEN => true,
            Outcome::Pass { .. } => false,
            _ => return Verdict::Missed,
        };
        match (caught, &self.equivalent) {
            (true, None) => Verdict::Caught,
            (true, Some(_)) => Verdict::Contradicted,
            (false, Some(_)) => Verdict::Equivalent,
            (false, None) => Verdict::Missed,
        }
    }

    /// Returns whether the mutant was caught, or is proved to be equivalent.
    pub fn passed(&self) -> bool {
        matches!(self.verdict(), Verdict::Caught | Verdict::Equivalent)
    }
}

/// Kind of divergence of a mutant that did not run, so that nothing was compared.
pub(crate) const BROKEN: &str = "build or run";

/// Runs every mutant of the bundle in `dir` in `simulator`, then one with a flipped digit of the expected
/// values and without the hash check. Mutants of the array, if the bundle has one, follow those of the unit.
///
/// # Errors
/// [`VectorError`] if the bundle or the simulator cannot be used.
pub fn mutate(
    dir: &Path,
    simulator: Simulator,
    request: &CheckRequest<'_>,
) -> Result<Vec<MutantResult>, VectorError> {
    let again::Made { bundle: made, .. } =
        again::bundle(dir, &read_manifest(dir)?, &[]).map_err(|refused| refused.into_error(dir))?;
    let facts = Facts::new(made.manifest.clone());
    let is_vhdl = simulator == Simulator::Ghdl;
    let mut runner = Runner { made: &made, facts: &facts, simulator, request, results: Vec::new() };
    runner.design(if is_vhdl { Target::VhdlUnit } else { Target::Unit })?;
    if facts.array().is_some() {
        runner.design(if is_vhdl { Target::VhdlArray } else { Target::Array })?;
    }
    Ok(runner.results)
}

struct Runner<'a> {
    made: &'a Bundle,
    facts: &'a Facts,
    simulator: Simulator,
    request: &'a CheckRequest<'a>,
    results: Vec<MutantResult>,
}

impl Runner<'_> {
    /// Runs every mutant of one design.
    fn design(&mut self, target: Target) -> Result<(), VectorError> {
        let facts = self.facts;
        let is_vhdl = target.is_vhdl();
        if !is_vhdl {
            for register in &registers(facts, target) {
                for fault in register.faults() {
                    let name = format!("{}, {}", fault.name(register), register.name);
                    let faulty = fault.planted(&facts.manifest, register);
                    let edit = |work: &Path| write_design(work, fault.name(register), target, &faulty);
                    self.run(target, name, fault.change(), fault.equivalent(register), &edit)?;
                }
            }
        }
        for fault in FIT_FAULTS.iter().filter(|f| f.patch.is_vhdl() == is_vhdl && f.applies(facts, target)) {
            self.run_patch(target, &fault.patch, fault.equivalent(facts, target))?;
        }
        let table = if target.is_array() { array::MUTANTS } else { unit::MUTANTS };
        for mutant in table.iter().filter(|m| m.patch.is_vhdl() == is_vhdl && (m.applies)(facts)) {
            self.run_patch(target, &mutant.patch, (mutant.equivalent)(facts))?;
        }
        match facts.array().filter(|_| target.is_array()) {
            None => {
                let change = "one hexadecimal digit of the expected accumulators, hash check off";
                // The first case starts with a beat that is compared.
                let file = format!("exp_acc_{}.mem", facts.levels()[0].name);
                let flip = |work: &Path| flip_last_digit(work.join(&file), 0);
                self.run(target, "flipped_digit".into(), change, None, &flip)
            }
            Some(info) => {
                let change = "one hexadecimal digit of the array's sums, hash check off";
                // First word with a sum of an output in column 0, which is the last digit of every line.
                let line = (0..info.words).find(|&word| info.output(word, 0).is_some()).unwrap_or(0);
                let flip = |work: &Path| flip_last_digit(work.join("array/exp_sum.mem"), line);
                self.run(target, "flipped_sum".into(), change, None, &flip)
            }
        }
    }

    fn run_patch(
        &mut self,
        target: Target,
        patch: &Patch,
        equivalent: Option<String>,
    ) -> Result<(), VectorError> {
        self.run(target, patch.name().into(), patch.change, equivalent, &|work| apply(work, patch))
    }

    fn run(
        &mut self,
        target: Target,
        name: String,
        change: &str,
        equivalent: Option<String>,
        edit: &dyn Fn(&Path) -> Result<(), VectorError>,
    ) -> Result<(), VectorError> {
        let (prefix, bench) = match target {
            Target::Array | Target::VhdlArray => ("array, ", Bench::Array),
            Target::Unit | Target::VhdlUnit => ("", Bench::Unit),
        };
        let name = format!("{prefix}{name}");
        let scratch = files::Scratch::new(self.request.work, &format!("mutant-{}", name.replace(", ", "-")))?;
        files::write(&self.made.files, scratch.path())?;
        edit(scratch.path())?;
        let limit = self.request.time_limit;
        let replay = Replay { simulator: self.simulator, bench, dut: None, stop: Stop::AtMismatch, limit };
        let mut runs = replay.run(scratch.path(), &self.facts.manifest)?;
        // The last run is the one that shows the mutant, if one does.
        let outcome = match runs.pop().unwrap_or(Ran::Broken(String::new())) {
            Ran::Report(outcome) => outcome,
            Ran::Broken(text) => {
                let first = Divergence { kind: BROKEN.into(), details: text, ..Divergence::default() };
                Outcome::Fail { mismatches: 0, first }
            }
        };
        self.results.push(MutantResult { name, change: change.into(), equivalent, outcome });
        Ok(())
    }
}

/// Returns a file from a folder that this process has written.
fn read(path: &Path) -> Result<Vec<u8>, VectorError> {
    guardbit_files::read(path, u64::MAX).map_err(|source| VectorError::Read { path: path.into(), source })
}

/// Applies a patch to the design in `work`.
pub(crate) fn apply(work: &Path, patch: &Patch) -> Result<(), VectorError> {
    let path = work.join(patch.file());
    let text = String::from_utf8_lossy(&read(&path)?).into_owned();
    let text = patch.apply(&text).map_err(|found| VectorError::Mutant {
        mutant: patch.name().into(),
        file: patch.file().into(),
        found,
    })?;
    fs::write(&path, text).map_err(|source| VectorError::Write { path, source })
}

/// Replaces the existing design with that of a faulty manifest, which must be a different one.
fn write_design(work: &Path, mutant: &str, target: Target, faulty: &Manifest) -> Result<(), VectorError> {
    let (file, text) = match (target, &faulty.array) {
        (Target::Array, Some(info)) => ("rtl/gb_array.sv", hdl::array_design(faulty, info)),
        _ => ("rtl/gb_dut.sv", hdl::unit_design(faulty)),
    };
    let path = work.join(file);
    if read(&path)? == text.as_bytes() {
        return Err(VectorError::Mutant { mutant: mutant.into(), file: file.into(), found: 0 });
    }
    fs::write(&path, text).map_err(|source| VectorError::Write { path, source })
}

/// Flips the last digit of a line.
pub(crate) fn flip_last_digit(path: PathBuf, line: usize) -> Result<(), VectorError> {
    let mut text = read(&path)?;
    let end = text.split(|&b| b == b'\n').take(line + 1).map(|l| l.len() + 1).sum::<usize>();
    if let Some(digit) = text.get_mut(end.saturating_sub(2)) {
        *digit = if *digit == b'0' { b'1' } else { b'0' };
    }
    fs::write(&path, text).map_err(|source| VectorError::Write { path, source })
}

#[cfg(test)]
mod tests;
