//! `guardbit plot`.

use std::process::ExitCode;

use guardbit_reports::text_table;
use serde_json::{Map, Value};

use super::existing;
use crate::args::{Given, Global, Plot};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};
use crate::progress::Bar;

pub fn plot(args: &Given<Plot>, global: &Global) -> Result<ExitCode, Failure> {
    let bar = Bar::new(global.quiet);
    let plotted = guardbit_study::plot(&args.plot_request()?)?;
    if let Some(out) = &args.plot_file {
        plotted.write(out, existing(global))?;
    }
    drop(bar);
    if global.json {
        let row = |row: &Vec<String>| -> Value {
            let cell = |(name, value): (&String, &String)| (name.clone(), Value::from(value.as_str()));
            plotted.columns.iter().zip(row).map(cell).collect::<Map<String, Value>>().into()
        };
        print_json(&plotted.rows.iter().map(row).collect::<Vec<Value>>())?;
    } else if args.plot_file.is_none() {
        print(&text_table(&plotted.columns, &plotted.rows))?;
    }
    Ok(ExitCode::SUCCESS)
}
