//! `guardbit hw`.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use guardbit_hwmodels::{Accelerator, PRESETS, check, check_program, load, lower, schema};
use guardbit_reports::{TileRecord, text_table, tiles_text};
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
    let mut tiles = None;
    if let Some(model) = model {
        let graph = Arc::new(guardbit_frontends::load(model)?);
        let program = lower(graph, &accelerator)?;
        warnings.extend(check_program(&program));
        tiles = Some(program.mac_layers().map(TileRecord::new).collect::<Vec<_>>());
    }
    if global.json {
        let problem = |p: &guardbit_hwmodels::Problem| json!({ "code": p.code(), "key": p.key(), "message": p.message(), "help": p.help() });
        let warnings: Vec<_> = warnings.iter().map(problem).collect();
        let mut result = json!({ "name": accelerator.name, "warnings": warnings });
        if let Some(tiles) = tiles {
            result["tiles"] = json!(tiles);
        }
        return print_json(&result);
    }
    if !global.quiet {
        for warning in &warnings {
            Failure::warning(warning).report();
        }
    }
    let count = match warnings.len() {
        0 => "no warnings".into(),
        1 => "1 warning".into(),
        n => format!("{n} warnings"),
    };
    let tiles = tiles.map_or(String::new(), |tiles| tiles_text(&tiles));
    print(&format!("{}: {count}\n{tiles}", accelerator.name))
}
