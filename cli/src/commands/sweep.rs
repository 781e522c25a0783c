//! Commands `guardbit sweep` and `guardbit merge`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use guardbit_reports::{
    PointRecord, SummaryRow, beside_text, counted, coverage_text, not_swept_text, summary_text, sweep_answer,
    text_table, trapped_text,
};
use guardbit_study::{Arguments, FolderStatus, SweepStatus};

use serde::Serialize;

use super::{existing, note_random, warn_of_float};
use crate::args::{Given, Global, Merge, Status, Sweep};
use crate::diagnostic::{CHECK_FAILED, Failure};
use crate::output::{print, print_json, print_results, say};
use crate::progress::Bar;
use crate::results::Place;
use crate::terminal::view;

pub fn sweep(args: &Given<Sweep>, global: &Global) -> Result<ExitCode, Failure> {
    let bar = Bar::new(global.quiet);
    let request = match args.hw.is_empty() {
        true => args.study_request()?,
        false => {
            let request = args.sweep_request()?;
            note_random(args, &request.settings, &bar);
            request
        }
    };
    let place = Place::new(args, global)?;
    let records = guardbit_study::sweep(&request, place.folder(), existing(global), &bar)?;
    drop(bar);
    let code = show(&records, args, global)?;
    place.finish();
    Ok(code)
}

pub fn merge(args: &Given<Merge>, global: &Global) -> Result<ExitCode, Failure> {
    let bar = Bar::new(global.quiet);
    if !args.partial {
        let records = guardbit_study::merge(&args.folders, args.out(), existing(global))?;
        drop(bar);
        return show(&records, args, global);
    }
    let merging = guardbit_study::merge_partial(&args.folders, args.out(), existing(global))?;
    drop(bar);
    let shown = show(&merging.records, args, global)?;
    if !merging.missing_points.is_empty() && !global.quiet {
        let all = merging.records.len() + merging.missing_points.len();
        say(&format!(
            "{} of {} missing: `guardbit status` lists them",
            merging.missing_points.len(),
            counted(all as u64, "point"),
        ));
    }
    Ok(shown)
}

/// Maximum number of missing points that are listed.
const NAMED: usize = 20;

pub fn status(args: &Given<Status>, global: &Global) -> Result<ExitCode, Failure> {
    let status = guardbit_study::status(&args.folders)?;
    if global.json {
        print_json(&status)?;
    } else {
        let heads = ["folder", "shard", "points", "stored", "state"].map(String::from);
        let row = |one: &FolderStatus| {
            let shard = one.shard.clone().unwrap_or_default();
            let (points, stored) = (one.points.to_string(), one.stored.to_string());
            vec![one.folder.display().to_string(), shard, points, stored, one.state.name().into()]
        };
        print(&text_table(&heads, &status.folders.iter().map(row).collect::<Vec<_>>()))?;
        status.sweeps.iter().try_for_each(|sweep| print(&missing_text(sweep)))?;
    }
    Ok(if status.is_complete() { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

/// Lists what is missing in a sweep: a line per missing shard, then one per missing point, for the first
/// ones.
fn missing_text(sweep: &SweepStatus) -> String {
    let mut text = String::new();
    if !sweep.missing_shards.is_empty() {
        text += &format!("\nmissing shards: {}\n", sweep.missing_shards.join(", "));
    }
    if !sweep.missing.is_empty() {
        let (missing, all) = (sweep.missing.len(), counted(sweep.points as u64, "point"));
        text += &format!("\n{missing} of {all} missing:\n");
    }
    for one in sweep.missing.iter().take(NAMED) {
        let shard = one.shard.as_ref().map_or(String::new(), |shard| format!(" (shard {shard})"));
        text += &format!("  {}: {}{shard}\n", one.point, one.what);
    }
    match sweep.missing.len().saturating_sub(NAMED) {
        0 => text,
        more => text + &format!("  and {more} more\n"),
    }
}

pub(super) fn show(records: &[PointRecord], args: &Arguments, global: &Global) -> Result<ExitCode, Failure> {
    if global.json {
        print_json(&records.iter().map(Row::new).collect::<Vec<_>>())?;
    } else {
        let beside = beside_text(records.iter().flat_map(|record| &record.layers));
        let notes = [coverage_text(records), not_swept_text(records), beside, trapped_text(records)];
        let notes: String = notes.iter().flatten().map(|sentence| format!("{sentence}\n")).collect();
        let table = summary_text(records, &view(args.all))?;
        print_results(&[table], &notes, &sweep_answer(records).unwrap_or_default())?;
    }
    let mut layers: Vec<String> = Vec::new();
    for layer in records.iter().flat_map(|record| record.coverage.quantized_weights_in_float()) {
        if !layers.contains(&layer) {
            layers.push(layer);
        }
    }
    Ok(warn_of_float(layers, args.strict, global))
}

/// Point in JSON output: its row of `summary.csv`, and its value on every axis.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    summary: &'a SummaryRow,
    #[serde(flatten)]
    parameters: BTreeMap<String, &'a str>,
}

impl<'a> Row<'a> {
    fn new(record: &'a PointRecord) -> Self {
        let parameters = record.parameters.iter().map(|one| (one.column(), one.value.as_str()));
        Self { summary: &record.summary, parameters: parameters.collect() }
    }
}
