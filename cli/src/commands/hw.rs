//! `guardbit hw`.

use std::process::ExitCode;
use std::sync::Arc;

use guardbit_hwmodels::cost::{COST_MODELS, CostModel, Figure, Formula, load_cost};
use guardbit_hwmodels::{Accelerator, PRESETS, check, check_with, load, lower, schema};
use guardbit_reports::{CoverageRecord, TileRecord, doubled_text, text_table, tiles_text};
use guardbit_study::{Arguments, Command, StudyError};
use serde_json::json;

use crate::args::{Global, HwCommand};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};
use crate::progress::Bar;
use crate::terminal;

pub fn hw(command: &HwCommand, global: &Global) -> Result<ExitCode, Failure> {
    match command {
        HwCommand::List => list(global)?,
        HwCommand::Show(args) => show(&load(hw_of(args), &args.set)?, global)?,
        HwCommand::Costs(args) => match &args.cost_model {
            None => list_costs(global)?,
            Some(model) => show_cost(&load_cost(model)?, global)?,
        },
        HwCommand::Schema => print(&schema())?,
        HwCommand::Check(args) => check_one(args, global)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The accelerator, which clap asks for.
fn hw_of(args: &Arguments) -> &str {
    args.accelerator.as_deref().unwrap_or_default()
}

fn list(global: &Global) -> Result<(), Failure> {
    let presets: Vec<Accelerator> =
        PRESETS.iter().map(|preset| load(preset.name, &[])).collect::<Result<_, _>>()?;
    if global.json {
        let rows = presets.iter().map(|p| json!({ "name": p.name, "description": p.description }));
        return print_json(&rows.collect::<Vec<_>>());
    }
    let rows: Vec<_> = presets.into_iter().map(|p| vec![p.name, p.description]).collect();
    print(&terminal::table(&["name", "description"], &rows))
}

fn list_costs(global: &Global) -> Result<(), Failure> {
    let models: Vec<CostModel> =
        COST_MODELS.iter().map(|model| load_cost(model.name)).collect::<Result<_, _>>()?;
    if global.json {
        return print_json(&models.iter().map(cost_json).collect::<Vec<_>>());
    }
    let row = |model: &CostModel| {
        let [energy, area, flip_flops] = model.tells();
        let unit = |told: bool, unit: &str| if told { unit.to_owned() } else { String::new() };
        vec![
            model.name.clone(),
            unit(energy, "pJ"),
            unit(area, &model.area_unit),
            unit(flip_flops, "yes"),
            model.node_nm.map_or(String::new(), |node| format!("{node} nm")),
            model.description.clone(),
        ]
    };
    let columns = ["name", "energy", "area", "flip-flops", "technology", "description"];
    print(&terminal::table(&columns, &models.iter().map(row).collect::<Vec<_>>()))
}

fn show_cost(model: &CostModel, global: &Global) -> Result<(), Failure> {
    if global.json {
        return print_json(&cost_json(model));
    }
    let formula = |formula: &Option<Formula>| formula.as_ref().map_or(String::new(), Formula::to_string);
    let row = |figure: &Figure| {
        vec![
            figure.part.name().to_owned(),
            figure.of.clone(),
            figure.holds_for(),
            formula(&figure.energy),
            formula(&figure.area),
            formula(&figure.flip_flops),
            figure.source.clone(),
        ]
    };
    let area = if model.area_unit.is_empty() { "area".into() } else { format!("area ({})", model.area_unit) };
    let columns = ["part", "of", "for", "energy (pJ)", &area, "flip-flops", "source"];
    let table = text_table(&columns, &model.figures.iter().map(row).collect::<Vec<_>>());
    let mut text = format!("{}: {}\nsource: {}\n", model.name, model.description, model.source);
    if !model.leaves_out.is_empty() {
        text += &format!("not included: {}\n", model.leaves_out);
    }
    let notes = model.figures.iter().filter(|figure| !figure.note.is_empty());
    let notes: String = notes.map(|figure| format!("{}: {}\n", figure.part.name(), figure.note)).collect();
    print(&format!("{text}\n{table}\n{notes}"))
}

fn cost_json(model: &CostModel) -> serde_json::Value {
    let formula = |formula: &Option<Formula>| formula.as_ref().map(Formula::to_string);
    let figure = |figure: &Figure| {
        json!({
            "part": figure.part.name(),
            "of": figure.of,
            "for": figure.holds_for(),
            "energy_pj": formula(&figure.energy),
            "area": formula(&figure.area),
            "flip_flops": formula(&figure.flip_flops),
            "source": figure.source,
            "note": figure.note,
        })
    };
    json!({
        "name": model.name,
        "description": model.description,
        "source": model.source,
        "area_unit": model.area_unit,
        "node_nm": model.node_nm,
        "leaves_out": model.leaves_out,
        "figures": model.figures.iter().map(figure).collect::<Vec<_>>(),
    })
}

fn show(accelerator: &Accelerator, global: &Global) -> Result<(), Failure> {
    if global.json {
        return print_json(&accelerator.resolved_json());
    }
    print(&accelerator.commented_yaml())
}

fn check_one(args: &Arguments, global: &Global) -> Result<(), Failure> {
    args.check(Command::HwCheck).map_err(StudyError::from)?;
    let (accelerator, mut warnings) = check(hw_of(args), &args.set);
    let accelerator = accelerator?;
    let mut of_network = None;
    let bar = Bar::new(global.quiet);
    if let Some(model) = &args.checked_network {
        let graph = Arc::new(guardbit_frontends::load_part(model, None, &args.cut()?)?);
        let program = lower(graph, &accelerator)?;
        warnings = check_with(warnings, &program);
        let tiles = program.mac_layers().map(TileRecord::new).collect::<Vec<_>>();
        of_network = Some((CoverageRecord::new(&program), tiles, guardbit_study::sensitivity(&program)?));
    }
    drop(bar);
    if global.json {
        let problem = |p: &guardbit_hwmodels::Problem| json!({ "code": p.code(), "key": p.key(), "message": p.message(), "help": p.help() });
        let warnings: Vec<_> = warnings.iter().map(problem).collect();
        let mut result = json!({ "name": accelerator.name, "warnings": warnings });
        if let Some((coverage, tiles, sensitivity)) = of_network {
            result["coverage"] = json!(coverage);
            result["tiles"] = json!(tiles);
            result["sensitivity"] = json!(sensitivity);
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
    let of_network = of_network.map_or(String::new(), |(coverage, tiles, sensitivity)| {
        let coverage: String = coverage.sentences().iter().map(|sentence| format!("{sentence}.\n")).collect();
        let tiles = if tiles.is_empty() {
            String::new()
        } else {
            format!("\n{}", tiles_text(&tiles, &terminal::view(false)))
        };
        format!("{coverage}{tiles}\n{}", doubled_text(&accelerator.name, &sensitivity, ""))
    });
    print(&format!("{}: {count}\n{of_network}", accelerator.name))
}
