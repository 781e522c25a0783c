//! `guardbit check`.

use std::process::ExitCode;
use std::time::Duration;

use guardbit_files::WorkFolder;
use guardbit_reports::text_table;
use guardbit_rtl_vectors::{CheckRequest, Divergence, MutantResult, Outcome, Simulator, Verdict};
use serde_json::{Value, json};

use super::existing;
use crate::args::{CheckArgs, Global, SimulatorChoice};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};

pub fn check(args: &CheckArgs, global: &Global) -> Result<ExitCode, Failure> {
    let simulators: &[Simulator] = match args.simulator {
        SimulatorChoice::None => &[],
        SimulatorChoice::Icarus => &[Simulator::Icarus],
        SimulatorChoice::Verilator => &[Simulator::Verilator],
        SimulatorChoice::Ghdl => &[Simulator::Ghdl],
        SimulatorChoice::All => &Simulator::ALL,
    };
    let kept =
        args.work.as_deref().map(|work| WorkFolder::claim(work, &args.dir, existing(global))).transpose()?;
    let time_limit = Duration::from_secs(args.timeout);
    let request = CheckRequest { simulators, work: args.work.as_deref(), time_limit };
    let report = guardbit_rtl_vectors::check(&args.dir, &request)?;
    let mut passed = report.passed();
    let mut mutants = Vec::new();
    if args.mutate && passed {
        let simulator = simulators.first().copied().unwrap_or(Simulator::Icarus);
        mutants = guardbit_rtl_vectors::mutate(&args.dir, simulator, &request)?;
        passed = mutants.iter().all(MutantResult::passed);
    }
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
