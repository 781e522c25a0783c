//! `guardbit run`.

use std::process::ExitCode;

use guardbit_reports::{LayerRow, NetworkTiming, RunRecord, ScoreFigures, layers_text};
use guardbit_sim::StatsLevel;
use guardbit_study::RunRequest;
use serde::Serialize;

use super::{existing, settings};
use crate::args::{Global, RunArgs};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};
use crate::progress::Bar;

pub fn run(args: &RunArgs, global: &Global) -> Result<ExitCode, Failure> {
    let bar = Bar::new(global.quiet);
    let request = RunRequest {
        model: args.model.clone(),
        hw: args.hw.clone(),
        settings: settings(&args.common, |_| StatsLevel::Full, args.events, &bar)?,
        dump_tensors: args.dump_tensors,
        layer: args.layer.clone(),
    };
    let record = guardbit_study::run(&request, &args.output_dir, existing(global), &bar)?;
    drop(bar);
    if global.json {
        print_json(&Summary { outcome: &record.outcome, timing: &record.timing, layers: &record.layers })?;
    } else {
        print(&format!("{}\n{}", layers_text(&record.layers)?, outcome_text(&record)))?;
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Summary<'a> {
    outcome: &'a ScoreFigures,
    timing: &'a NetworkTiming,
    layers: &'a [LayerRow],
}

/// The figures of the whole network, one a line.
fn outcome_text(record: &RunRecord) -> String {
    let outcome = &record.outcome;
    let mut lines = vec![("samples", outcome.samples.to_string())];
    let mut add = |name, value: Option<String>| lines.extend(value.map(|value| (name, value)));
    add("accuracy, exact", outcome.accuracy_exact.map(|v| v.to_string()));
    add("accuracy", outcome.accuracy.map(|v| v.to_string()));
    add("top-1 agreement", outcome.top1_agreement.map(|v| v.to_string()));
    add("output mismatch", Some(outcome.output_mismatch.to_string()));
    add("output SQNR (dB)", outcome.output_sqnr_db.map(|v| v.to_string()));
    let timing = &record.timing;
    add("cycles", Some(timing.cycles.to_string()));
    add("latency (us)", Some(timing.latency_us.to_string()));
    add("throughput (1/s)", timing.throughput_per_s.map(|v| v.to_string()));
    add("pipelined (1/s)", timing.pipelined_per_s.map(|v| v.to_string()));
    lines.iter().map(|(name, value)| format!("{name:<17} {value}\n")).collect()
}
