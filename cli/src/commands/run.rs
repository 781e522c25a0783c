//! `guardbit run`.

use std::process::ExitCode;

use guardbit_reports::{
    AlignedRow, BottleneckRow, CostRecord, CoverageRecord, Fraction, HostRow, Interval, LayerRow,
    NetworkTiming, RunRecord, ScoreFigures, aligned_text, beside_text, duration, grouped, human, layers_text,
    percentage, probability, run_answer, worth,
};
use serde::Serialize;

use super::{existing, note_random, warn_of_float};
use crate::args::{Given, Global, Run};
use crate::diagnostic::Failure;
use crate::output::{print_json, print_results};
use crate::progress::Bar;
use crate::results::Place;
use crate::terminal::view;

pub fn run(args: &Given<Run>, global: &Global) -> Result<ExitCode, Failure> {
    let bar = Bar::new(global.quiet);
    let request = args.run_request()?;
    note_random(args, &request.settings, &bar);
    let place = Place::new(args, global)?;
    let record = guardbit_study::run(&request, place.folder(), existing(global), &bar)?;
    drop(bar);
    if global.json {
        print_json(&Summary {
            outcome: &record.outcome,
            timing: &record.timing,
            coverage: &record.coverage,
            layers: &record.layers,
            costs: &record.costs,
            aligned: &record.aligned,
        })?;
    } else {
        let layers = layers_text(&record.layers, &view(args.all))?;
        let aligned = aligned_text(&record.aligned, &view(args.all))?;
        print_results(&[layers, aligned], &outcome_text(&record, args.all), &run_answer(&record))?;
    }
    place.finish();
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
    #[serde(skip_serializing_if = "<[AlignedRow]>::is_empty")]
    aligned: &'a [AlignedRow],
}

/// Returns the bound of the accelerator, if the host or another resource bounds the inference.
fn accelerator_bound(timing: &NetworkTiming) -> Option<String> {
    let own = timing.accelerator_bound.as_deref().filter(|_| timing.accelerator_bound != timing.bound)?;
    Some(worth(own, timing.accelerator_bound_ratio))
}

/// Returns the number of layers per bound, e.g. `dram 3, compute 1`.
fn bounds_of_layers(rows: &[BottleneckRow]) -> Option<String> {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for row in rows {
        match kinds.iter_mut().find(|(bound, _)| *bound == row.bound) {
            Some((_, count)) => *count += 1,
            None => kinds.push((&row.bound, 1)),
        }
    }
    let layers: Vec<String> = kinds.iter().map(|(bound, count)| format!("{bound} {count}")).collect();
    Some(layers.join(", ")).filter(|layers| !layers.is_empty())
}

/// Returns the figures of the whole network, one per line; `exact` prints every digit.
fn outcome_text(record: &RunRecord, exact: bool) -> String {
    let outcome = &record.outcome;
    let count = |count: u64| if exact { count.to_string() } else { human(count) };
    let time = |micros: f64| if exact { format!("{micros} \u{b5}s") } else { duration(micros) };
    let rate = |rate: f64| {
        if exact {
            format!("{rate} per second")
        } else {
            format!("{} per second", human(rate.round() as u64))
        }
    };
    let shown = |share: Fraction| if exact { share.to_string() } else { percentage(share) };
    let share = |share: Option<Fraction>, interval: Option<Interval>| {
        let ends =
            interval.map(|Interval { low, high }| format!("  95 %: {} to {}", shown(low), shown(high)));
        share.map(|share| format!("{:<8}{}", shown(share), ends.unwrap_or_default()))
    };
    let mut lines = vec![("samples", grouped(outcome.samples))];
    let mut add = |name, value: Option<String>| lines.extend(value.map(|value| (name, value)));
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
    let codes = outcome.output_codes.and_then(|codes| Fraction::of(outcome.output_mismatch, codes));
    let unit = record.output_word();
    let codes = codes.map_or(String::new(), |share| format!(" {unit}s ({})", percentage(share)));
    add("output mismatch", Some(count(outcome.output_mismatch) + &codes));
    add("output SQNR (dB)", outcome.output_sqnr_db.map(|v| v.to_string()));
    let timing = &record.timing;
    add("cycles", Some(count(timing.cycles)));
    let on_host = |of: String| Some(of).filter(|_| timing.host_cycles > 0);
    add("host cycles", on_host(count(timing.host_cycles)));
    add("latency", Some(time(timing.latency_us)));
    let parts = format!("accelerator {}, host {}", time(timing.accelerator_us), time(timing.host_us));
    add("  of them", on_host(parts));
    let overlapped = time(timing.overlapped_us);
    add("  overlapped", on_host(overlapped).filter(|overlapped| *overlapped != time(timing.latency_us)));
    add("throughput", timing.throughput_per_s.map(rate));
    add("pipelined", timing.pipelined_per_s.map(rate));
    add("products", Some(count(timing.macs)));
    add("MACs on hardware", Some(record.coverage.summary()).filter(|_| record.coverage.layers > 0));
    add("bound by", timing.bound.clone());
    add("  twice as fast", timing.gains_text());
    add("  accelerator", accelerator_bound(timing));
    add("  layers", timing.bound.as_ref().and_then(|_| bounds_of_layers(&record.bottlenecks)));
    let settled = &record.settled;
    let [by_weights, by_sums, stepped] = [settled.by_weights, settled.by_sums, settled.stepped];
    let settled =
        format!("{by_weights} settled by their weights, {by_sums} by their sums, {stepped} stepped");
    add("dot products", Some(settled).filter(|_| exact));
    add("on the host", Some(HostRow::counted(&timing.host)).filter(|host| !host.is_empty()));
    let costs = record.costs.iter().flat_map(|cost| cost.lines(exact));
    let lines: Vec<(String, String)> =
        lines.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(costs).collect();
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(17);
    let lines = lines.iter().map(|(name, value)| format!("{name:<width$} {}\n", value.trim_end()));
    let measured = record.layers.iter().any(|row| row.required_prefix.is_some());
    let widths = measured.then(|| {
        "bits required are those of these samples; `guardbit size` proves widths for every input".to_owned()
    });
    let notes = record.coverage.host_sentences().into_iter().chain(beside_text(&record.layers)).chain(widths);
    lines.chain(notes.map(|sentence| format!("note: {sentence}\n"))).collect()
}
