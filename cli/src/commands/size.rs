//! `guardbit size`.

use std::process::ExitCode;

use guardbit_reports::{
    Fraction, SizeRecord, fraction_bits_text, human, percentage, rates_text, size_answer, size_text,
};

use super::{existing, note_random, warn_of_float};
use crate::args::{Given, Global, Size};
use crate::diagnostic::Failure;
use crate::output::{print_json, print_results};
use crate::progress::Bar;
use crate::results::Place;
use crate::terminal::view;

pub fn size(args: &Given<Size>, global: &Global) -> Result<ExitCode, Failure> {
    let bar = Bar::new(global.quiet);
    let rtl = guardbit_study::ReferenceRtl {
        integer: guardbit_rtl_vectors::reference_rtl(),
        float: guardbit_rtl_vectors::float_unit_rtl,
    };
    let request = args.size_request(rtl)?;
    note_random(args, &request.settings, &bar);
    let place = Place::new(args, global)?;
    let record = guardbit_study::size(&request, place.folder(), existing(global), &bar)?;
    drop(bar);
    if global.json {
        print_json(&record)?;
    } else {
        let view = view(args.all);
        let mut tables = vec![fraction_bits_text(&record.fraction_bits, &view)];
        if !record.layers.is_empty() {
            tables.insert(0, size_text(&record.layers, &record.levels, &view)?);
            tables.push(rates_text(&record.rates, &view));
        }
        tables.retain(|table| !table.is_empty());
        print_results(&tables, &outcome_text(&record, args.all), &size_answer(&record))?;
    }
    place.finish();
    Ok(warn_of_float(record.coverage.quantized_weights_in_float(), args.strict, global))
}

/// Returns the figures of the sizing, one per line; `exact` prints every digit.
fn outcome_text(record: &SizeRecord, exact: bool) -> String {
    let shown = |share: Fraction| if exact { share.to_string() } else { percentage(share) };
    let outcome = &record.recommended;
    let coverage = &record.coverage;
    let mut lines = vec![("samples".to_owned(), outcome.samples.to_string())];
    let mut add =
        |name: &str, value: Option<String>| lines.extend(value.map(|value| (name.to_owned(), value)));
    add("MACs on hardware", Some(coverage.summary()).filter(|_| coverage.layers > 0));
    add("area", record.area.clone());
    let bits = record.recommended_fraction_bits().map(|bits| format!("{bits} fraction bits"));
    let design = record.design.iter().map(|level| format!("{} {}", level.level, level.bits));
    let design: Vec<String> = design.chain(bits).collect();
    add(&format!("one design for {}", coverage.sized()), Some(design.join(", ")));
    let levels = total_bits(record).filter(|_| !record.levels.is_empty());
    add("bits of all levels", levels.map(|bits| bits.to_string()));
    add("accuracy, exact", outcome.accuracy_exact.map(shown));
    add("accuracy, recommended", outcome.accuracy.map(shown));
    let mismatch = outcome.output_mismatch;
    add("output mismatch, recommended", Some(if exact { mismatch.to_string() } else { human(mismatch) }));
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(29);
    let lines = lines.iter().map(|(name, value)| format!("{name:<width$} {value}\n"));
    let remarks = coverage.host_sentences();
    lines.chain(remarks.iter().chain(&record.remarks).map(|remark| format!("note: {remark}\n"))).collect()
}

/// Returns the sum of the recommended bits of all levels of all layers; `None` if a level has no width.
fn total_bits(record: &SizeRecord) -> Option<u32> {
    record.levels.iter().map(|row| row.bits_recommended.bits()).sum()
}
