//! `guardbit size`.

use std::process::ExitCode;

use guardbit_reports::{SizeRateRow, SizeRecord, size_text, text_table};
use guardbit_sim::StatsLevel;
use guardbit_study::{DEFAULT_EVENTS, SizeRequest};

use super::{existing, settings};
use crate::args::{Global, SizeArgs};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};
use crate::progress::Bar;

pub fn size(args: &SizeArgs, global: &Global) -> Result<ExitCode, Failure> {
    let bar = Bar::new(global.quiet);
    let request = SizeRequest {
        model: args.model.clone(),
        hw: args.hw.clone(),
        settings: settings(&args.common, |_| StatsLevel::Full, DEFAULT_EVENTS, &bar)?,
        budget: args.budget,
        area: args.area,
        rtl: guardbit_rtl_vectors::reference_rtl(),
    };
    let record = guardbit_study::size(&request, &args.output_dir, existing(global), &bar)?;
    drop(bar);
    if global.json {
        print_json(&record)?;
    } else {
        print(&format!(
            "{}\n{}\n{}",
            size_text(&record.layers)?,
            rates_text(&record.rates),
            outcome_text(&record)
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How many dot products of all layers together do not fit a width.
fn rates_text(rates: &[SizeRateRow]) -> String {
    let percent = |share: Option<guardbit_reports::Fraction>| {
        share.map_or(String::new(), |share| format!("{:.2}", share.value() * 100.0))
    };
    let row =
        |row: &SizeRateRow| vec![row.bits.to_string(), percent(row.rate_final), percent(row.rate_prefix)];
    let columns = ["bits", "out of range, final sums (%)", "prefixes (%)"];
    text_table(&columns, &rates.iter().map(row).collect::<Vec<_>>())
}

fn outcome_text(record: &SizeRecord) -> String {
    let outcome = &record.recommended;
    let mut lines = vec![("samples", outcome.samples.to_string())];
    let mut add = |name, value: Option<String>| lines.extend(value.map(|value| (name, value)));
    add("area", record.area.clone());
    add("accuracy, exact", outcome.accuracy_exact.map(|v| v.to_string()));
    add("accuracy, recommended", outcome.accuracy.map(|v| v.to_string()));
    add("output mismatch, recommended", Some(outcome.output_mismatch.to_string()));
    lines.iter().map(|(name, value)| format!("{name:<29} {value}\n")).collect()
}
