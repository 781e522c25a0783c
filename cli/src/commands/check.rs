//! `guardbit check`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use guardbit_files::{SingleFile, WorkFolder, read_text};
use guardbit_reports::text_table;
use guardbit_rtl_vectors::manifest::Need;
use guardbit_rtl_vectors::{
    CheckReport, CheckRequest, Divergence, Dut, DutFate, DutLatency, DutMutant, DutProfile, JUNIT,
    MutantResult, Outcome, Replayed, Simulator, TIME_LIMIT, TrailBeat, Verdict,
};
use guardbit_study::{Progress as _, Seconds};
use serde_json::{Value, json};

use super::existing;
use crate::args::{Check, Given, Global};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};
use crate::progress::Bar;
use crate::terminal;

pub fn check(args: &Given<Check>, global: &Global) -> Result<ExitCode, Failure> {
    let dir = args.bundle.as_deref().unwrap_or(Path::new(""));
    let dut = dut(args)?;
    let simulators = simulators_of(&args.simulator, dut.as_ref());
    let work = args.work.as_deref();
    let junit = args.junit.as_deref().map(|path| junit_file(path, global)).transpose()?;
    let kept = work.map(|work| WorkFolder::claim(work, dir, existing(global))).transpose()?;
    let time_limit = args.timeout.map_or(TIME_LIMIT, |Seconds(seconds)| Duration::from_secs(seconds));
    let request = CheckRequest { simulators: &simulators, work, time_limit, dut: dut.as_ref() };
    let bar = Bar::new(global.quiet);
    bar.step("checking the bundle");
    let report = guardbit_rtl_vectors::check(dir, &request)?;
    if let Some(file) = junit {
        file.write(report.junit().as_bytes())?;
    }
    let mut passed = report.passed();
    let mut mutants = Vec::new();
    if args.mutate && passed {
        let simulator = simulators.first().copied().unwrap_or(Simulator::Icarus);
        bar.step("replaying faults");
        mutants = guardbit_rtl_vectors::mutate(dir, simulator, &request)?;
        passed = mutants.iter().all(MutantResult::passed);
    }
    let mut faults = Vec::new();
    if let (Some(count), Some(dut), true) = (args.mutate_dut, &dut, passed) {
        let simulator = simulators.first().copied().unwrap_or(Simulator::Icarus);
        bar.step("replaying faults of the design");
        faults = guardbit_rtl_vectors::mutate_dut(dir, simulator, &request, dut, count)?;
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
            "cases": cases_json(&report),
            "replays": report.replays.iter().map(|replay| replay_json(replay, &report)).collect::<Vec<_>>(),
            "mutants": mutants.collect::<Vec<_>>(),
            "dut_mutants": faults.iter().map(fault_json).collect::<Vec<_>>(),
        }))?;
    } else {
        let rows: Vec<_> = report.checks.iter().map(|(name, outcome)| row(name, outcome)).collect();
        print(&terminal::table(&["check", "result", "details"], &rows))?;
        print(&skipped(&report))?;
        if let Some((name, first)) = report.checks.iter().find_map(|(name, outcome)| match outcome {
            Outcome::Fail { first, .. } if !first.trail.is_empty() => Some((name, first)),
            _ => None,
        }) {
            print(&trail(name, first))?;
        }
        let waves = report.checks.iter().filter_map(|(name, outcome)| match outcome {
            Outcome::Fail { first, .. } => Some((name, first.waves.as_ref()?)),
            _ => None,
        });
        for (name, path) in waves {
            print(&format!("{name}: waveform of the first difference: {}\n", path.display()))?;
        }
        if !mutants.is_empty() {
            let count = |verdict| mutants.iter().filter(|m| m.verdict() == verdict).count();
            let (caught, equivalent) = (count(Verdict::Caught), count(Verdict::Equivalent));
            let rows: Vec<_> = mutants.iter().map(mutant_row).collect();
            let table = terminal::table(
                &["mutant", "caught", "change", "first divergence, or reason for none"],
                &rows,
            );
            let all = mutants.len();
            print(&format!("\n{table}\n{caught} of {all} mutants caught, {equivalent} equivalent\n"))?;
        }
    }
    if !faults.is_empty() && !global.json {
        print(&survivors(&faults))?;
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
            ("--without", !args.without.is_empty()),
            ("--mutate-dut", args.mutate_dut.is_some()),
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
    let without = args.without.iter().map(|need| need.parse()).collect::<Result<_, String>>();
    let without = without.map_err(|error| Failure::usage(error, help))?;
    let dut = Dut { files: args.dut.clone(), top, profile, latency, seeds, without };
    if args.mutate_dut.is_some() && dut.is_vhdl() {
        return Err(Failure::usage("--mutate-dut needs a design in SystemVerilog".into(), help));
    }
    Ok(Some(dut))
}

/// Returns the JUnit file of `--junit`, for which nothing is written yet.
fn junit_file(path: &Path, global: &Global) -> Result<SingleFile, Failure> {
    if path.extension().is_none_or(|end| end != "xml") {
        let problem = format!("--junit {}: not an XML file", path.display());
        return Err(Failure::usage(problem, "name a file that ends in .xml"));
    }
    let is_ours = |path: &Path| read_text(path, u64::MAX).is_ok_and(|text| text.contains(JUNIT));
    Ok(SingleFile::new(path, existing(global), is_ours)?)
}

/// Returns the simulators of `--simulator`. Of `all` those that read the language of the design; without the option,
/// one for a design.
fn simulators_of(names: &[String], dut: Option<&Dut>) -> Vec<Simulator> {
    let reads =
        |simulator: &Simulator| dut.is_none_or(|dut| (*simulator == Simulator::Ghdl) == dut.is_vhdl());
    if names.is_empty() && dut.is_some() {
        return Simulator::ALL.into_iter().find(reads).into_iter().collect();
    }
    let is_named = |simulator: &Simulator| {
        names.iter().any(|name| name == simulator.name() || name == "all" && reads(simulator))
    };
    Simulator::ALL.into_iter().filter(is_named).collect()
}

/// Returns how many cases were skipped, and why; empty if none was.
fn skipped(report: &CheckReport) -> String {
    if report.skipped.is_empty() {
        return String::new();
    }
    let counts: Vec<String> =
        skipped_by_need(report).into_iter().map(|(need, count)| format!("{need} {count}")).collect();
    let (skipped, all) = (report.skipped.len(), report.cases.len());
    format!("skipped {skipped} of {all} cases: {}\n", counts.join(", "))
}

/// Returns the number of skipped cases for each need; a case may have several.
fn skipped_by_need(report: &CheckReport) -> Vec<(Need, usize)> {
    let count = |need| report.skipped.iter().filter(|(_, needs)| needs.contains(&need)).count();
    Need::ALL.into_iter().map(|need| (need, count(need))).filter(|(_, count)| *count > 0).collect()
}

/// Returns the beats before the first difference as a table.
fn trail(name: &str, first: &Divergence) -> String {
    let number = |value: Option<i64>| value.map_or(String::new(), |value| value.to_string());
    let row = |beat: &TrailBeat| {
        vec![
            beat.beat.to_string(),
            beat.case.clone(),
            if beat.clear { "clear" } else { "" }.into(),
            operands(beat),
            number(beat.held),
            number(beat.addend),
            beat.exact.to_string(),
            number(beat.expected),
            number(beat.got),
        ]
    };
    let columns = ["beat", "case", "", "operands", "held", "addend", "exact", "expected", "got"];
    let rows: Vec<_> = first.trail.iter().map(row).collect();
    let level = if first.level.is_empty() { String::new() } else { format!(", level {}", first.level) };
    format!(
        "\n{name}: beats up to the first difference ({}{level})\n{}",
        first.kind,
        text_table(&columns, &rows)
    )
}

/// Returns activation times weight of every lane in use.
fn operands(beat: &TrailBeat) -> String {
    beat.operands.iter().map(|[a, w]| format!("{a}*{w}")).collect::<Vec<_>>().join(",")
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
        Outcome::NotApplicable { reason } => ("-", format!("not applicable: {reason}")),
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
        Outcome::NotApplicable { reason } | Outcome::Absent { reason } => reason.clone(),
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
            "first": {
                "kind": first.kind,
                "case": first.case,
                "level": first.level,
                "details": first.details,
                "beats": first.trail.iter().map(beat_json).collect::<Vec<_>>(),
                "waves": first.waves,
            },
        }),
        Outcome::NotApplicable { reason } => json!({ "result": "not applicable", "reason": reason }),
        Outcome::Absent { reason } => json!({ "result": "not run", "reason": reason }),
    }
}

/// Returns how many faults of the design were caught, and a table of the others.
fn survivors(faults: &[DutMutant]) -> String {
    let count = |is: fn(&DutFate) -> bool| faults.iter().filter(|fault| is(&fault.fate)).count();
    let caught = count(|fate| *fate == DutFate::Caught);
    let broken = count(|fate| matches!(fate, DutFate::Broken(_)));
    let row = |fault: &DutMutant| match &fault.fate {
        DutFate::Caught => None,
        DutFate::Broken(_) => Some("does not build".to_owned()),
        DutFate::Survived(nearest) if nearest.is_empty() => Some("none: no named signal differs".into()),
        DutFate::Survived(nearest) => {
            let listed = nearest.iter().map(|(case, signals)| format!("{case} ({signals})"));
            Some(listed.collect::<Vec<_>>().join(", "))
        }
    };
    let rows: Vec<Vec<String>> = faults
        .iter()
        .filter_map(|fault| Some(vec![fault.change.clone(), fault.source.join(" "), row(fault)?]))
        .collect();
    let survived = faults.len() - caught - broken;
    let summary = format!("\n{caught} of {} changed designs caught, {survived} survived", faults.len());
    let not_built = if broken > 0 { format!(", {broken} did not build") } else { String::new() };
    let columns = ["change", "source", "nearest cases (signals that differ)"];
    let table = if rows.is_empty() { String::new() } else { terminal::table(&columns, &rows) };
    format!("{summary}{not_built}\n{table}")
}

fn fault_json(fault: &DutMutant) -> Value {
    let (fate, nearest) = match &fault.fate {
        DutFate::Caught => ("caught", json!([])),
        DutFate::Broken(_) => ("not built", json!([])),
        DutFate::Survived(nearest) => (
            "survived",
            nearest.iter().map(|(case, signals)| json!({ "case": case, "signals": signals })).collect(),
        ),
    };
    json!({ "change": fault.change, "source": fault.source, "fate": fate, "nearest": nearest })
}

fn beat_json(beat: &TrailBeat) -> Value {
    json!({
        "beat": beat.beat,
        "case": beat.case,
        "clear": beat.clear,
        "operands": beat.operands,
        "held": beat.held,
        "addend": beat.addend,
        "exact": beat.exact,
        "expected": beat.expected,
        "got": beat.got,
    })
}

fn cases_json(report: &CheckReport) -> Value {
    let needs: serde_json::Map<_, _> =
        skipped_by_need(report).into_iter().map(|(need, count)| (need.to_string(), json!(count))).collect();
    json!({ "all": report.cases.len(), "skipped": report.skipped.len(), "skipped_for": needs })
}

fn replay_json(replay: &Replayed, report: &CheckReport) -> Value {
    let mut bins = serde_json::Map::new();
    for bin in &replay.bins {
        let group = bins.entry(bin.group).or_insert_with(|| json!({}));
        group[bin.name] = json!(bin.hits);
    }
    let failed =
        replay.failed.as_ref().map(|places| places.iter().map(|&i| &report.cases[i]).collect::<Vec<_>>());
    json!({ "check": replay.name, "failed_cases": failed, "bins": bins })
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
        let needs = Row::find(Command::Check, "without").unwrap().values(Command::Check);
        assert!(needs.into_iter().map(|(name, _)| name).eq(Need::ALL.map(Need::name)));
    }
}
