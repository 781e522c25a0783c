//! `guardbit compare`.

use std::process::ExitCode;

use guardbit_reports::{Compared, Comparison, text_table};
use guardbit_study::write_comparison;

use super::existing;
use crate::args::{Compare, Given, Global};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};
use crate::progress::Bar;

/// Maximum number of rows missing in some folder that are listed; further ones are counted.
const UNMATCHED: usize = 10;

pub fn compare(args: &Given<Compare>, global: &Global) -> Result<ExitCode, Failure> {
    let bar = Bar::new(global.quiet);
    let comparison = guardbit_study::compare(&args.folders)?;
    drop(bar);
    if let Some(out) = &args.compare_file {
        write_comparison(&comparison, out, existing(global))?;
    }
    if global.json {
        print_json(&comparison)?;
    } else {
        print(&text(&comparison))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(comparison: &Comparison) -> String {
    let heads = |first: &[&str]| {
        first
            .iter()
            .map(|name| (*name).to_owned())
            .chain(comparison.names.iter().cloned())
            .collect::<Vec<String>>()
    };
    let cells = |row: &Compared| std::iter::once(row.name.clone()).chain(row.values.clone()).collect();
    let mut text = String::new();
    if comparison.settings.is_empty() {
        text += "All settings are equal.\n";
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
    text += &format!("\n{} other {plural} equal\n", comparison.same);
    for row in comparison.unmatched.iter().take(UNMATCHED) {
        text += &format!("not in all folders: {row}\n");
    }
    match comparison.unmatched.len().saturating_sub(UNMATCHED) {
        0 => {}
        more => text += &format!("and {more} more that are not in all folders\n"),
    }
    text
}

fn row_name(command: &str) -> &'static str {
    match command {
        "run" | "size" => "layer",
        _ => "point",
    }
}
