//! Command-line arguments. The options of commands are rows of the table in `guardbit-study`.

mod hw;
mod schema;
mod table;

pub use hw::{HwArgs, HwCommand};
pub use schema::{SchemaArgs, SchemaCommand};
pub use table::{
    Check, Compare, Completions, Explore, Given, Inspect, Man, Merge, Plot, Quantize, Run, Size, Status,
    Sweep, Vectors,
};

use std::num::NonZeroUsize;

use clap::{Parser, Subcommand};
use guardbit_study::MOST_THREADS;

/// What does a narrow accumulator do to this network?
///
/// guardbit runs a quantized network on an accelerator model with narrow accumulators. It reports every
/// overflow, its effect on the outputs, and how many bits would have been enough.
#[derive(Debug, Parser)]
#[command(name = "guardbit", version = env!("GUARDBIT_VERSION"), propagate_version = true, max_term_width = 110)]
pub struct Args {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, clap::Args)]
pub struct Global {
    /// Number of threads; results do not depend on it [default: all cores]
    #[arg(long, display_order = 1000, global = true, value_name = "N")]
    #[arg(value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    /// Print results as JSON on stdout
    #[arg(long, display_order = 1000, global = true)]
    pub json: bool,
    /// Replace an output folder if guardbit wrote all of its files and none changed; any other folder is
    /// refused
    #[arg(long, display_order = 1000, global = true)]
    pub force: bool,
    /// Suppress progress and notes on stderr
    #[arg(long, display_order = 1000, global = true)]
    pub quiet: bool,
}

fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let threads = text.parse::<NonZeroUsize>().ok().filter(|threads| threads.get() <= MOST_THREADS);
    threads.ok_or_else(|| format!("a number from 1 to {MOST_THREADS}"))
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a network on an accelerator and write tables, plots and a report
    Run(Given<Run>),
    /// Run a network at many accumulator widths: a study file, or a model with --hw and --bits
    Sweep(Given<Sweep>),
    /// Merge the folders of all shards of a sweep into one folder, byte-equal to that of a sweep without
    /// shards
    Merge(Given<Merge>),
    /// List missing shards and points of sweeps. Exit code 1 if any are missing
    Status(Given<Status>),
    /// Quantize a float network: choose scales and zero points on samples, and write it as an ONNX file
    ///
    /// The file is QDQ in ONNX Runtime's arithmetic. `run`, `sweep`, `size` and `vectors` read it like any
    /// network, and ONNX Runtime computes the same codes. The printed accuracies are those of the file.
    Quantize(Given<Quantize>),
    /// Export a layer as test vectors for RTL: stimuli, expected accumulators of every cycle, reference design, benches
    ///
    /// `trap` acts as `observe` here: the value stays exact, and only the overflow flag is set.
    /// docs/bundle-format.md describes the format.
    Vectors(Given<Vectors>),
    /// Check a bundle of test vectors: its files, its numbers, and its replay in simulators
    Check(Given<Check>),
    /// Find the accumulator width that every layer requires: proved, on samples, and within an error budget
    Size(Given<Size>),
    /// Explore designs of an accelerator and find the Pareto front of accuracy, cycles, area and energy
    ///
    /// Time and cost are computed for every point of the axes. Of points that provably compute the same
    /// values, one is simulated. With a budget, `explore` searches the widths of all levels and layers for
    /// every hardware of the axes, and recommends the cheapest design.
    Explore(Given<Explore>),
    /// Compare finished runs, sweeps, sizings or explorations: settings that differ, then figures
    Compare(Given<Compare>),
    /// Plot a column of finished results against an axis: several sweeps, accelerators and networks in one picture
    ///
    /// The table of the picture is written next to it. Without --output, it is printed.
    Plot(Given<Plot>),
    /// Print the network as guardbit reads it, and with --hw what lowering does with each operation
    Inspect(Given<Inspect>),
    /// Accelerator models: presets, files, schema
    Hw(HwArgs),
    /// Study files: their schema
    Study(SchemaArgs),
    /// Networks in YAML: their schema
    Graph(SchemaArgs),
    /// Print the script with which a shell completes commands and options
    Completions(Given<Completions>),
    /// Write the man pages of all commands
    Man(Given<Man>),
}
