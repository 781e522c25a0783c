//! `guardbit sweep`, and `guardbit merge` of its parts.

use std::collections::BTreeMap;
use std::process::ExitCode;

use guardbit_reports::{
    PointRecord, SummaryRow, beside_text, counted, coverage_text, not_swept_text, summary_text, text_table,
    trapped_text,
};
use guardbit_study::{
    FolderStatus, Settings, StudyError, SweepRequest, SweepStatus, default_sweep_stats, load_study,
};

use serde::Serialize;

use super::{axes, existing, settings, warn_of_float};
use crate::args::{Common, Global, MergeArgs, StatusArgs, SweepArgs};
use crate::diagnostic::{CHECK_FAILED, Failure};
use crate::output::{print, print_json, say};
use crate::progress::Bar;

pub fn sweep(args: &SweepArgs, global: &Global) -> Result<ExitCode, Failure> {
    let bar = Bar::new(global.quiet);
    let request = request(args, &bar)?;
    let records = guardbit_study::sweep(&request, args.output_dir.as_deref(), existing(global), &bar)?;
    drop(bar);
    show(&records, args.common.strict, global)
}

pub fn merge(args: &MergeArgs, global: &Global) -> Result<ExitCode, Failure> {
    if !args.partial {
        return show(
            &guardbit_study::merge(&args.folders, &args.output_dir, existing(global))?,
            false,
            global,
        );
    }
    let merging = guardbit_study::merge_partial(&args.folders, &args.output_dir, existing(global))?;
    let shown = show(&merging.records, false, global)?;
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

/// Points that are named, of those that are missing in a sweep.
const NAMED: usize = 20;

pub fn status(args: &StatusArgs, global: &Global) -> Result<ExitCode, Failure> {
    let status = guardbit_study::status(&args.folders);
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

/// What of a sweep is missing: a line per shard that is, then one per point, of the first ones.
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

fn show(records: &[PointRecord], strict: bool, global: &Global) -> Result<ExitCode, Failure> {
    if global.json {
        print_json(&records.iter().map(Row::new).collect::<Vec<_>>())?;
    } else {
        print(&summary_text(records)?)?;
        let beside = beside_text(records.iter().flat_map(|record| &record.layers));
        for sentences in [coverage_text(records), not_swept_text(records), beside, trapped_text(records)] {
            let lines: String = sentences.iter().map(|sentence| format!("{sentence}\n")).collect();
            print(&if lines.is_empty() { lines } else { format!("\n{lines}") })?;
        }
    }
    let mut layers: Vec<String> = Vec::new();
    for layer in records.iter().flat_map(|record| record.coverage.quantized_weights_in_float()) {
        if !layers.contains(&layer) {
            layers.push(layer);
        }
    }
    Ok(warn_of_float(layers, strict, global))
}

/// A point for machines: its row of `summary.csv`, and what it has of every axis.
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

fn request(args: &SweepArgs, bar: &Bar) -> Result<SweepRequest, Failure> {
    let Some(hw) = &args.hw else {
        if let Some(flag) = given(&args.common) {
            return Err(Failure::usage(format!(
                "{flag} goes with a model and --hw; a study file states its own settings"
            )));
        }
        let study = load_study(&args.study_or_model)?;
        let settings = Settings { format: args.format, ..study.settings };
        return Ok(SweepRequest { settings, cache: args.cache.clone(), shard: args.shard, ..study });
    };
    Ok(SweepRequest {
        models: vec![args.study_or_model.clone()],
        hws: vec![hw.clone()],
        settings: Settings { format: args.format, ..settings(&args.common, default_sweep_stats, None, bar)? },
        level: args.level.clone(),
        bits: args.bits.clone(),
        overflow: args.overflow.clone(),
        axes: axes(&args.axis, &args.zip, &args.conditions).map_err(StudyError::from)?,
        stats_given: args.common.stats.is_some(),
        cache: args.cache.clone(),
        shard: args.shard,
    })
}

/// A setting that was given on the command line.
fn given(common: &Common) -> Option<&'static str> {
    let flags = [
        ("--input", common.input.is_some()),
        ("--random", common.random.is_some()),
        ("--samples", common.samples.is_some()),
        ("--seed", common.seed.is_some()),
        ("--labels", common.labels.is_some()),
        ("--task", common.task.is_some()),
        ("--output", common.output.is_some()),
        ("--mode", common.mode.is_some()),
        ("--set", !common.set.is_empty()),
        ("--stats", common.stats.is_some()),
        ("--requantize", common.requantize.is_some()),
        ("--profile", common.profile.is_some()),
        ("--from", !common.part.from.is_empty()),
        ("--to", !common.part.to.is_empty()),
        ("--dim", !common.part.dim.is_empty()),
    ];
    flags.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
}
