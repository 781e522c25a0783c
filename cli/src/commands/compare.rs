//! `guardbit compare`.

use std::path::Path;
use std::process::ExitCode;

use guardbit_reports::text_table;
use guardbit_study::{Compared, Comparison};

use crate::args::{CompareArgs, Global};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};

pub fn compare(args: &CompareArgs, global: &Global) -> Result<ExitCode, Failure> {
    let comparison = guardbit_study::compare(&args.dirs)?;
    if global.json {
        print_json(&comparison)?;
    } else {
        print(&text(&comparison))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(comparison: &Comparison) -> String {
    let names = short(&comparison.folders);
    let heads = |first: &[&str]| {
        first.iter().map(|name| (*name).to_owned()).chain(names.iter().cloned()).collect::<Vec<String>>()
    };
    let cells = |row: &Compared| std::iter::once(row.name.clone()).chain(row.values.clone()).collect();
    let mut text = String::new();
    if comparison.settings.is_empty() {
        text += "All settings are the same.\n";
    } else {
        text += &text_table(&heads(&["setting"]), &comparison.settings.iter().map(cells).collect::<Vec<_>>());
    }
    if !comparison.totals.is_empty() {
        text += "\n";
        text += &text_table(&heads(&["figure"]), &comparison.totals.iter().map(cells).collect::<Vec<_>>());
    }
    if !comparison.rows.is_empty() {
        let rows = comparison
            .rows
            .iter()
            .map(|row| [vec![row.row.clone(), row.column.clone()], row.values.clone()].concat());
        text += "\n";
        text += &text_table(&heads(&[row_name(&comparison.command), "figure"]), &rows.collect::<Vec<_>>());
    }
    let plural = if comparison.same == 1 { "figure is" } else { "figures are" };
    text += &format!("\n{} other {plural} the same\n", comparison.same);
    for row in &comparison.unmatched {
        text += &format!("not in all of them: {row}\n");
    }
    text
}

fn row_name(command: &str) -> &'static str {
    match command {
        "run" | "size" => "layer",
        _ => "point",
    }
}

/// The last parts of paths, as long as they tell them apart.
fn short(folders: &[String]) -> Vec<String> {
    let last = |folder: &String| {
        Path::new(folder)
            .file_name()
            .map_or_else(|| folder.clone(), |name| name.to_string_lossy().into_owned())
    };
    let names: Vec<String> = folders.iter().map(last).collect();
    let differ = names.iter().enumerate().all(|(index, name)| !names[..index].contains(name));
    if differ { names } else { folders.to_vec() }
}
