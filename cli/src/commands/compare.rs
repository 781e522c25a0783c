//! `guardbit compare`.

use std::process::ExitCode;

use guardbit_reports::compare_text;
use guardbit_study::write_comparison;

use super::existing;
use crate::args::{Compare, Given, Global};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};
use crate::progress::Bar;
use crate::terminal::view;

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
        print(&compare_text(&comparison, &view(args.all)))?;
    }
    Ok(ExitCode::SUCCESS)
}
