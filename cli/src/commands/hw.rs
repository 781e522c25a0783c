//! `guardbit hw`.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use guardbit_hwmodels::{Accelerator, PRESETS, check, check_program, load, lower, schema};
use guardbit_reports::text_table;
use serde_json::json;

use crate::args::{Global, HwCommand};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};

pub fn hw(command: &HwCommand, global: &Global) -> Result<ExitCode, Failure> {
    match command {
        HwCommand::List => list(global)?,
        HwCommand::Show { hw, set } => show(&load(hw, set)?, global)?,
        HwCommand::Schema => print(&schema())?,
        HwCommand::Check { hw, model, set } => check_one(hw, model.as_deref(), set, global)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(global: &Global) -> Result<(), Failure> {
    let presets: Vec<Accelerator> =
        PRESETS.iter().map(|preset| load(preset.name, &[])).collect::<Result<_, _>>()?;
    if global.json {
        let rows = presets.iter().map(|p| json!({ "name": p.name, "description": p.description }));
        return print_json(&rows.collect::<Vec<_>>());
    }
    let rows: Vec<_> = presets.into_iter().map(|p| vec![p.name, p.description]).collect();
    print(&text_table(&["name", "description"], &rows))
}

fn show(accelerator: &Accelerator, global: &Global) -> Result<(), Failure> {
    if global.json {
        return print_json(&accelerator.resolved_json());
    }
    print(&accelerator.commented_yaml())
}

fn check_one(hw: &str, model: Option<&Path>, sets: &[String], global: &Global) -> Result<(), Failure> {
    let (accelerator, mut warnings) = check(hw, sets);
    let accelerator = accelerator?;
    if let Some(model) = model {
        let graph = Arc::new(guardbit_frontends::load(model)?);
        warnings.extend(check_program(&lower(graph, &accelerator)?));
    }
    if global.json {
        let problem = |p: &guardbit_hwmodels::Problem| json!({ "code": p.code(), "key": p.key(), "message": p.message(), "help": p.help() });
        let warnings: Vec<_> = warnings.iter().map(problem).collect();
        return print_json(&json!({ "name": accelerator.name, "warnings": warnings }));
    }
    for warning in &warnings {
        Failure::warning(warning).report();
    }
    let count = match warnings.len() {
        0 => "no warnings".into(),
        1 => "1 warning".into(),
        n => format!("{n} warnings"),
    };
    print(&format!("{}: {count}\n", accelerator.name))
}
