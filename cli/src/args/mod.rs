//! Command-line arguments. The options of commands are rows of the table in `guardbit-study`.

mod hw;
mod schema;
mod table;

pub use hw::{HwArgs, HwCommand};
pub use schema::{SchemaArgs, SchemaCommand};
pub use table::{
    Check, Compare, Completions, Demo, DiffLayer, Discriminate, Explain, Explore, Given, Help, Inspect, Man,
    Merge, Plot, Quantize, Run, Size, Status, Sweep, Vectors,
};

use std::num::NonZeroUsize;

use clap::{Arg, ArgAction, ArgMatches, FromArgMatches, Parser, Subcommand};
use guardbit_study::{GLOBAL_OPTIONS, MOST_THREADS};

/// What does a narrow accumulator do to this network?
///
/// guardbit runs a quantized network on an accelerator model with narrow accumulators. It reports every
/// overflow, its effect on the outputs, and how many bits would have been enough.
#[derive(Debug, Parser)]
#[command(name = "guardbit", version = env!("GUARDBIT_VERSION"), propagate_version = true, disable_help_subcommand = true, max_term_width = 110)]
pub struct Args {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command, declared from their table in `guardbit-study`.
#[derive(Debug)]
pub struct Global {
    pub threads: Option<NonZeroUsize>,
    pub json: bool,
    pub force: bool,
    pub quiet: bool,
}

impl clap::Args for Global {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(GLOBAL_OPTIONS.map(|option| {
            let arg = Arg::new(option.name).long(option.name).help(option.help);
            let arg = arg.global(true).display_order(1000);
            match option.value {
                "" => arg.action(ArgAction::SetTrue),
                value => arg.value_name(value).value_parser(threads),
            }
        }))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Global {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let [json, force, quiet] = ["json", "force", "quiet"].map(|name| matches.get_flag(name));
        Ok(Self { threads: matches.get_one("threads").copied(), json, force, quiet })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let threads = text.parse::<NonZeroUsize>().ok().filter(|threads| threads.get() <= MOST_THREADS);
    threads.ok_or_else(|| format!("expected a number from 1 to {MOST_THREADS}"))
}

// Commands with arguments take their descriptions from the table of arguments.
#[derive(Debug, Subcommand)]
pub enum Command {
    Demo(Given<Demo>),
    Run(Given<Run>),
    Sweep(Given<Sweep>),
    Merge(Given<Merge>),
    Status(Given<Status>),
    Quantize(Given<Quantize>),
    Vectors(Given<Vectors>),
    Check(Given<Check>),
    DiffLayer(Given<DiffLayer>),
    Discriminate(Given<Discriminate>),
    Size(Given<Size>),
    Explore(Given<Explore>),
    Compare(Given<Compare>),
    Plot(Given<Plot>),
    Inspect(Given<Inspect>),
    /// Accelerator models: presets, files, schema
    Hw(HwArgs),
    /// Study files: their schema
    Study(SchemaArgs),
    /// Networks in YAML: their schema
    Graph(SchemaArgs),
    /// Files of cost models: their schema
    Cost(SchemaArgs),
    Completions(Given<Completions>),
    Man(Given<Man>),
    Explain(Given<Explain>),
    Help(Given<Help>),
}
