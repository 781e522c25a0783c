//! `guardbit run`.

use std::process::ExitCode;

use guardbit_reports::{
    BottleneckRow, CostRecord, CoverageRecord, Fraction, HostRow, Interval, LayerRow, NetworkTiming,
    RunRecord, ScoreFigures, beside_text, layers_text, probability, worth,
};
use serde::Serialize;

use super::{existing, note_random, warn_of_float};
use crate::args::{Given, Global, Run};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};
use crate::progress::Bar;

pub fn run(args: &Given<Run>, global: &Global) -> Result<ExitCode, Failure> {
    let bar = Bar::new(global.quiet);
    let request = args.run_request()?;
    note_random(args, &request.settings, &bar);
    let record = guardbit_study::run(&request, args.out(), existing(global), &bar)?;
    drop(bar);
    if global.json {
        print_json(&Summary {
            outcome: &record.outcome,
            timing: &record.timing,
            coverage: &record.coverage,
            layers: &record.layers,
            costs: &record.costs,
        })?;
    } else {
        print(&format!("{}\n{}", layers_text(&record.layers)?, outcome_text(&record)))?;
    }
    Ok(warn_of_float(record.coverage.quantized_weights_in_float(), args.strict, global))
}

#[derive(Serialize)]
struct Summary<'a> {
    outcome: &'a ScoreFigures,
    timing: &'a NetworkTiming,
    coverage: &'a CoverageRecord,
    layers: &'a [LayerRow],
    #[serde(skip_serializing_if = "<[CostRecord]>::is_empty")]
    costs: &'a [CostRecord],
}

/// Returns the bound of the inference with the effect of doubling it, that of the accelerator if the host
/// bounds the inference, and the number of layers per bound: `dram (-41.0 %); layers: dram 3, compute 1`.
fn bounds(timing: &NetworkTiming, rows: &[BottleneckRow]) -> Option<String> {
    let mut all = worth(timing.bound.as_deref()?, timing.bound_ratio);
    if timing.accelerator_bound.is_some() && timing.accelerator_bound != timing.bound {
        let own = worth(timing.accelerator_bound.as_deref()?, timing.accelerator_bound_ratio);
        all = format!("{all}; accelerator: {own}");
    }
    if rows.is_empty() {
        return Some(all);
    }
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for row in rows {
        match kinds.iter_mut().find(|(bound, _)| *bound == row.bound) {
            Some((_, count)) => *count += 1,
            None => kinds.push((&row.bound, 1)),
        }
    }
    let layers: Vec<String> = kinds.iter().map(|(bound, count)| format!("{bound} {count}")).collect();
    Some(format!("{all}; layers: {}", layers.join(", ")))
}

/// Returns the figures of the whole network, one per line.
fn outcome_text(record: &RunRecord) -> String {
    let outcome = &record.outcome;
    let mut lines = vec![("samples", outcome.samples.to_string())];
    let mut add = |name, value: Option<String>| lines.extend(value.map(|value| (name, value)));
    let share = |share: Option<Fraction>, interval: Option<Interval>| {
        let ends = interval.map(|Interval { low, high }| format!("  95 %: {low} to {high}"));
        share.map(|share| format!("{share:<8}{}", ends.unwrap_or_default()))
    };
    add("accuracy, exact", share(outcome.accuracy_exact, outcome.accuracy_exact_interval));
    add("accuracy", share(outcome.accuracy, outcome.accuracy_interval));
    let pairs = outcome.lost.zip(outcome.gained).zip(outcome.mcnemar_p);
    add(
        "lost, gained",
        pairs.map(|((lost, gained), p)| format!("{lost}, {gained}  McNemar's p {}", probability(p))),
    );
    add("top-1 agreement", share(outcome.top1_agreement, outcome.agreement_interval));
    add("AUC, exact", outcome.auc_exact.map(|v| v.to_string()));
    add("AUC", outcome.auc.map(|v| v.to_string()));
    add("MSE, exact", outcome.mse_exact.map(|v| v.to_string()));
    add("MSE", outcome.mse.map(|v| v.to_string()));
    add("output mismatch", Some(outcome.output_mismatch.to_string()));
    add("output SQNR (dB)", outcome.output_sqnr_db.map(|v| v.to_string()));
    let timing = &record.timing;
    add("cycles", Some(timing.cycles.to_string()));
    let on_host = |of: String| Some(of).filter(|_| timing.host_cycles > 0);
    add("host cycles", on_host(timing.host_cycles.to_string()));
    add("latency (us)", Some(timing.latency_us.to_string()));
    add("  of them", on_host(format!("accelerator {}, host {}", timing.accelerator_us, timing.host_us)));
    add("  overlapped (us)", on_host(timing.overlapped_us.to_string()));
    add("throughput (1/s)", timing.throughput_per_s.map(|v| v.to_string()));
    add("pipelined (1/s)", timing.pipelined_per_s.map(|v| v.to_string()));
    add("products", Some(timing.macs.to_string()));
    add("MACs on hardware", Some(record.coverage.summary()).filter(|_| record.coverage.layers > 0));
    add("bound by", bounds(timing, &record.bottlenecks));
    add("on the host", Some(HostRow::counted(&timing.host)).filter(|host| !host.is_empty()));
    let costs = record.costs.iter().flat_map(CostRecord::lines);
    let lines: Vec<(String, String)> =
        lines.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(costs).collect();
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(17);
    let lines = lines.iter().map(|(name, value)| format!("{name:<width$} {value}\n"));
    let notes = record.coverage.host_sentences().into_iter().chain(beside_text(&record.layers));
    lines.chain(notes.map(|sentence| format!("note: {sentence}\n"))).collect()
}
