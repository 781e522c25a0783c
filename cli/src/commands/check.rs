//! `guardbit check`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use guardbit_files::WorkFolder;
use guardbit_reports::text_table;
use guardbit_rtl_vectors::{
    CheckRequest, Divergence, Dut, DutLatency, DutProfile, MutantResult, Outcome, Simulator, TIME_LIMIT,
    Verdict,
};
use guardbit_study::{Progress as _, Seconds};
use serde_json::{Value, json};

use super::existing;
use crate::args::{Check, Given, Global};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};
use crate::progress::Bar;

pub fn check(args: &Given<Check>, global: &Global) -> Result<ExitCode, Failure> {
    let dir = args.bundle.as_deref().unwrap_or(Path::new(""));
    let dut = dut(args)?;
    let simulators = simulators_of(args.simulator.as_deref(), dut.as_ref());
    let work = args.work.as_deref();
    let kept = work.map(|work| WorkFolder::claim(work, dir, existing(global))).transpose()?;
    let time_limit = args.timeout.map_or(TIME_LIMIT, |Seconds(seconds)| Duration::from_secs(seconds));
    let request = CheckRequest { simulators: &simulators, work, time_limit, dut: dut.as_ref() };
    let bar = Bar::new(global.quiet);
    bar.step("checking the bundle");
    let report = guardbit_rtl_vectors::check(dir, &request)?;
    let mut passed = report.passed();
    let mut mutants = Vec::new();
    if args.mutate && passed {
        let simulator = simulators.first().copied().unwrap_or(Simulator::Icarus);
        bar.step("replaying faults");
        mutants = guardbit_rtl_vectors::mutate(dir, simulator, &request)?;
        passed = mutants.iter().all(MutantResult::passed);
    }
    drop(bar);
    if let Some(kept) = kept {
        kept.finish("check")?;
    }
    if global.json {
        let checks = report
            .checks
            .iter()
            .map(|(name, outcome)| json!({ "check": name, "outcome": outcome_json(outcome) }));
        let mutants = mutants.iter().map(|m| {
            let caught = m.verdict() == Verdict::Caught;
            json!({ "mutant": m.name, "change": m.change, "caught": caught, "equivalent": m.equivalent })
        });
        print_json(&json!({
            "passed": passed,
            "checks": checks.collect::<Vec<_>>(),
            "mutants": mutants.collect::<Vec<_>>(),
        }))?;
    } else {
        let rows: Vec<_> = report.checks.iter().map(|(name, outcome)| row(name, outcome)).collect();
        print(&text_table(&["check", "result", "details"], &rows))?;
        if !mutants.is_empty() {
            let count = |verdict| mutants.iter().filter(|m| m.verdict() == verdict).count();
            let (caught, equivalent) = (count(Verdict::Caught), count(Verdict::Equivalent));
            let rows: Vec<_> = mutants.iter().map(mutant_row).collect();
            let table =
                text_table(&["mutant", "caught", "change", "first divergence, or reason for none"], &rows);
            let all = mutants.len();
            print(&format!("\n{table}\n{caught} of {all} mutants caught, {equivalent} equivalent\n"))?;
        }
    }
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Returns the design of `--dut`.
fn dut(args: &Given<Check>) -> Result<Option<Dut>, Failure> {
    let help = "see `guardbit check --help`";
    if args.dut.is_empty() {
        let names = [
            ("--top", args.top.is_some()),
            ("--profile", args.dut_profile.is_some()),
            ("--latency", args.latency.is_some()),
            ("--seeds", args.seeds.is_some()),
        ];
        return match names.into_iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => Err(Failure::usage(format!("{name} needs --dut"), help)),
            None => Ok(None),
        };
    }
    if args.mutate {
        let help = "run `guardbit check BUNDLE --mutate` on its own";
        return Err(Failure::usage("--mutate changes the reference design, not --dut".into(), help));
    }
    let top = args.top.clone();
    let is_name = |top: &String| {
        top.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && top.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    if let Some(top) = top.as_ref().filter(|top| !is_name(top)) {
        return Err(Failure::usage(format!("invalid module name `{top}` of --top"), "letters, digits and _"));
    }
    let profile = args.dut_profile.as_deref().unwrap_or_default();
    let profile = DutProfile::ALL.into_iter().find(|p| p.name() == profile).unwrap_or_default();
    let latency = args.latency.as_deref().unwrap_or("contract").parse();
    let latency: DutLatency = latency.map_err(|error| Failure::usage(error, help))?;
    let seeds = u32::try_from(args.seeds.unwrap_or(1)).unwrap_or(u32::MAX);
    Ok(Some(Dut { files: args.dut.clone(), top, profile, latency, seeds }))
}

/// Returns the simulators of `--simulator`. Of `all` those that read the language of the design; without the option,
/// one for a design.
fn simulators_of(name: Option<&str>, dut: Option<&Dut>) -> Vec<Simulator> {
    let Some(dut) = dut else { return simulators(name.unwrap_or_default()).to_vec() };
    let reads = |simulator: &Simulator| (*simulator == Simulator::Ghdl) == dut.is_vhdl();
    match name {
        None => Simulator::ALL.into_iter().find(reads).into_iter().collect(),
        Some("all") => Simulator::ALL.into_iter().filter(reads).collect(),
        Some(name) => simulators(name).to_vec(),
    }
}

/// Those that a value of `--simulator` names.
fn simulators(name: &str) -> &'static [Simulator] {
    match name {
        "all" => &Simulator::ALL,
        name => {
            let place = Simulator::ALL.iter().position(|simulator| simulator.name() == name);
            place.map_or(&[], |place| &Simulator::ALL[place..=place])
        }
    }
}

fn row(name: &str, outcome: &Outcome) -> Vec<String> {
    let (result, details) = match outcome {
        Outcome::Pass { checked, notes } => {
            let notes = notes.iter().map(|note| format!("; {note}")).collect::<String>();
            ("pass", format!("{checked} compared, 0 differ{notes}"))
        }
        Outcome::Fail { mismatches, first } => {
            ("FAIL", format!("{mismatches} differ; first: {}", divergence(first)))
        }
        Outcome::Absent { reason } => ("not run", reason.clone()),
    };
    vec![name.into(), result.into(), details]
}

fn divergence(first: &Divergence) -> String {
    let parts = [("", &first.kind), ("case ", &first.case), ("level ", &first.level), ("", &first.details)];
    let said =
        parts.iter().filter(|(_, text)| !text.is_empty()).map(|(label, text)| format!("{label}{text}"));
    said.collect::<Vec<_>>().join(", ")
}

fn mutant_row(mutant: &MutantResult) -> Vec<String> {
    let first = match &mutant.outcome {
        Outcome::Fail { first, .. } => divergence(first),
        Outcome::Pass { .. } => "none".into(),
        Outcome::Absent { reason } => reason.clone(),
    };
    let reason = mutant.equivalent.clone().unwrap_or_default();
    let (caught, details) = match mutant.verdict() {
        Verdict::Caught => ("yes", first),
        Verdict::Equivalent => ("equivalent", reason),
        Verdict::Missed => ("NO", first),
        Verdict::Contradicted => ("NO", format!("{first}; should not differ: {reason}")),
    };
    vec![mutant.name.clone(), caught.into(), mutant.change.clone(), details]
}

fn outcome_json(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Pass { checked, notes } => json!({ "result": "pass", "checked": checked, "notes": notes }),
        Outcome::Fail { mismatches, first } => json!({
            "result": "fail",
            "mismatches": mismatches,
            "first": { "kind": first.kind, "case": first.case, "level": first.level, "details": first.details },
        }),
        Outcome::Absent { reason } => json!({ "result": "not run", "reason": reason }),
    }
}

#[cfg(test)]
mod tests {
    use guardbit_study::{Command, DEFAULT_TIMEOUT, Row};

    use super::*;

    /// The table of arguments names every simulator, and states the limit that holds.
    #[test]
    fn the_table_says_what_holds() {
        let choices = Row::find(Command::Check, "simulator").unwrap().values(Command::Check);
        let choices = choices.into_iter().map(|(name, _)| name);
        let names = Simulator::ALL.iter().map(|simulator| simulator.name());
        assert!(choices.eq(["none"].into_iter().chain(names).chain(["all"])));
        assert_eq!(Duration::from_secs(DEFAULT_TIMEOUT), TIME_LIMIT);
    }
}
