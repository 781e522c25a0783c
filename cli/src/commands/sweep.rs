//! `guardbit sweep`.

use std::process::ExitCode;

use guardbit_reports::{not_swept_text, summary_text, trapped_text};
use guardbit_study::{DEFAULT_EVENTS, SweepRequest, default_sweep_stats, load_study};

use super::{existing, settings};
use crate::args::{Common, Global, SweepArgs};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};
use crate::progress::Bar;

pub fn sweep(args: &SweepArgs, global: &Global) -> Result<ExitCode, Failure> {
    let bar = Bar::new(global.quiet);
    let request = request(args, &bar)?;
    let records = guardbit_study::sweep(&request, args.output_dir.as_deref(), existing(global), &bar)?;
    drop(bar);
    let not_swept = not_swept_text(&records);
    let rows: Vec<_> = records.into_iter().map(|record| record.summary).collect();
    if global.json {
        print_json(&rows)?;
    } else {
        print(&summary_text(&rows)?)?;
        for sentences in [not_swept, trapped_text(&rows)] {
            let lines: String = sentences.iter().map(|sentence| format!("{sentence}\n")).collect();
            print(&if lines.is_empty() { lines } else { format!("\n{lines}") })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn request(args: &SweepArgs, bar: &Bar) -> Result<SweepRequest, Failure> {
    let (Some(hw), Some(bits)) = (&args.hw, &args.bits) else {
        if let Some(flag) = given(&args.common) {
            return Err(Failure::usage(format!(
                "{flag} goes with a model and --hw; a study file states its own settings"
            )));
        }
        return Ok(load_study(&args.study_or_model)?);
    };
    Ok(SweepRequest {
        models: vec![args.study_or_model.clone()],
        hws: vec![hw.clone()],
        settings: settings(&args.common, default_sweep_stats, DEFAULT_EVENTS, bar)?,
        level: args.level.clone(),
        bits: bits.clone(),
        overflow: args.overflow.clone(),
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
        ("--output", common.output.is_some()),
        ("--mode", common.mode.is_some()),
        ("--set", !common.set.is_empty()),
        ("--stats", common.stats.is_some()),
        ("--requantize", common.requantize.is_some()),
        ("--profile", common.profile.is_some()),
    ];
    flags.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
}
