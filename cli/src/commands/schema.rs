//! `guardbit study schema`, `guardbit graph schema` and `guardbit cost schema`.

use std::process::ExitCode;

use crate::args::SchemaCommand;
use crate::diagnostic::Failure;
use crate::output::print;

pub fn schema(command: &SchemaCommand, text: fn() -> String) -> Result<ExitCode, Failure> {
    let SchemaCommand::Schema = command;
    print(&text())?;
    Ok(ExitCode::SUCCESS)
}
