//! The command line of guardbit: arguments in, tables and diagnostics out. The libraries do the work.

mod args;
mod commands;
mod cutout;
mod diagnostic;
mod output;
mod printable;
mod progress;

use std::process::ExitCode;

use args::{Args, Command};
use clap::Parser;

fn main() -> ExitCode {
    let args = Args::parse();
    diagnostic::install();
    match start_threads(&args).and_then(|()| dispatch(&args)) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

fn start_threads(args: &Args) -> Result<(), diagnostic::Failure> {
    let Some(threads) = args.global.threads else { return Ok(()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global();
    pool.map_err(|error| diagnostic::Failure::usage(format!("--threads {threads}: {error}")))
}

fn dispatch(args: &Args) -> Result<ExitCode, diagnostic::Failure> {
    match &args.command {
        Command::Run(run) => commands::run(run, &args.global),
        Command::Sweep(sweep) => commands::sweep(sweep, &args.global),
        Command::Vectors(vectors) => commands::vectors(vectors, &args.global),
        Command::Check(check) => commands::check(check, &args.global),
        Command::Size(size) => commands::size(size, &args.global),
        Command::Inspect(inspect) => commands::inspect(inspect, &args.global),
        Command::Hw(hw) => commands::hw(&hw.command, &args.global),
    }
}
