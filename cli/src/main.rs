//! Command line of guardbit: arguments in, tables and diagnostics out. The libraries do the work.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod browser;
mod commands;
mod cutout;
mod diagnostic;
mod interrupt;
mod output;
mod pages;
mod printable;
mod progress;
mod results;
mod terminal;
mod wrap;

use std::process::ExitCode;

use args::{Args, Command};
use clap::Parser;

fn main() -> ExitCode {
    diagnostic::install();
    interrupt::install();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    match start_threads(&args).and_then(|()| dispatch(&args)) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

/// Prints help and version as results; all other cases are usage errors.
fn usage(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        // An error of stderr cannot be reported.
        let _ = error.print();
        return ExitCode::from(diagnostic::BAD_INPUT);
    }
    // Without colours, so that output on a terminal has no control characters.
    match output::print(&error.render().to_string()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn start_threads(args: &Args) -> Result<(), diagnostic::Failure> {
    let Some(threads) = args.global.threads else { return Ok(()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global();
    pool.map_err(|error| {
        diagnostic::Failure::usage(format!("--threads {threads}: {error}"), "use fewer threads")
    })
}

fn dispatch(args: &Args) -> Result<ExitCode, diagnostic::Failure> {
    match &args.command {
        Command::Demo(demo) => commands::demo(demo, &args.global),
        Command::Run(run) => commands::run(run, &args.global),
        Command::Sweep(sweep) => commands::sweep(sweep, &args.global),
        Command::Merge(merge) => commands::merge(merge, &args.global),
        Command::Status(status) => commands::status(status, &args.global),
        Command::Quantize(quantize) => commands::quantize(quantize, &args.global),
        Command::Vectors(vectors) => commands::vectors(vectors, &args.global),
        Command::Check(check) => commands::check(check, &args.global),
        Command::DiffLayer(diff) => commands::diff_layer(diff, &args.global),
        Command::Discriminate(discriminate) => commands::discriminate(discriminate, &args.global),
        Command::Size(size) => commands::size(size, &args.global),
        Command::Compare(compare) => commands::compare(compare, &args.global),
        Command::Plot(plot) => commands::plot(plot, &args.global),
        Command::Explore(explore) => commands::explore(explore, &args.global),
        Command::Inspect(inspect) => commands::inspect(inspect, &args.global),
        Command::Study(args) => commands::schema(&args.command, guardbit_study::study_schema),
        Command::Graph(args) => commands::schema(&args.command, guardbit_frontends::graph_schema),
        Command::Cost(args) => commands::schema(&args.command, guardbit_hwmodels::cost::cost_schema),
        Command::Hw(hw) => commands::hw(&hw.command, &args.global),
        Command::Completions(completions) => commands::completions(completions),
        Command::Man(man) => commands::man(man, &args.global),
        Command::Explain(explain) => commands::explain(explain, &args.global),
        Command::Help(help) => commands::help(help),
    }
}
