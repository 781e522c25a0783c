//! `guardbit size`.

use std::process::ExitCode;

use guardbit_reports::{SizeRateRow, SizeRecord, size_text, text_table};

use super::{existing, note_random, warn_of_float};
use crate::args::{Given, Global, Size};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};
use crate::progress::Bar;

pub fn size(args: &Given<Size>, global: &Global) -> Result<ExitCode, Failure> {
    let bar = Bar::new(global.quiet);
    let request = args.size_request(guardbit_rtl_vectors::reference_rtl())?;
    note_random(args, &request.settings, &bar);
    let record = guardbit_study::size(&request, args.out(), existing(global), &bar)?;
    drop(bar);
    if global.json {
        print_json(&record)?;
    } else {
        print(&format!(
            "{}\n{}\n{}",
            size_text(&record.layers, &record.levels)?,
            rates_text(&record.rates),
            outcome_text(&record)
        ))?;
    }
    Ok(warn_of_float(record.coverage.quantized_weights_in_float(), args.strict, global))
}

/// Returns how many dot products of all layers do not fit each width.
fn rates_text(rates: &[SizeRateRow]) -> String {
    let percent = |share: Option<guardbit_reports::Fraction>| {
        share.map_or(String::new(), |share| format!("{:.2}", share.value() * 100.0))
    };
    let row = |row: &SizeRateRow| {
        let shares = [row.rate_final, row.rate_prefix, row.rate_transient].map(percent);
        [vec![row.level.clone(), row.bits.to_string()], shares.into()].concat()
    };
    let columns = ["level", "bits", "out of range, final sums (%)", "prefixes (%)", "transient (%)"];
    text_table(&columns, &rates.iter().map(row).collect::<Vec<_>>())
}

fn outcome_text(record: &SizeRecord) -> String {
    let outcome = &record.recommended;
    let coverage = &record.coverage;
    let mut lines = vec![("samples".to_owned(), outcome.samples.to_string())];
    let mut add =
        |name: &str, value: Option<String>| lines.extend(value.map(|value| (name.to_owned(), value)));
    add("MACs on hardware", Some(coverage.summary()).filter(|_| coverage.layers > 0));
    add("area", record.area.clone());
    let design: Vec<String> =
        record.design.iter().map(|level| format!("{} {}", level.level, level.bits)).collect();
    add(&format!("one design for {}", coverage.sized()), Some(design.join(", ")));
    add("bits of all levels", total_bits(record).map(|bits| bits.to_string()));
    add("accuracy, exact", outcome.accuracy_exact.map(|v| v.to_string()));
    add("accuracy, recommended", outcome.accuracy.map(|v| v.to_string()));
    add("output mismatch, recommended", Some(outcome.output_mismatch.to_string()));
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(29);
    let lines = lines.iter().map(|(name, value)| format!("{name:<width$} {value}\n"));
    let remarks = coverage.host_sentences();
    lines.chain(remarks.iter().chain(&record.remarks).map(|remark| format!("note: {remark}\n"))).collect()
}

/// Returns the sum of the recommended bits of all levels of all layers; `None` if a level has no width.
fn total_bits(record: &SizeRecord) -> Option<u32> {
    record.levels.iter().map(|row| row.bits_recommended.bits()).sum()
}
