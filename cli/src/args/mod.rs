//! Command-line arguments. The options of commands are rows of the table in `guardbit-study`.

mod hw;
mod schema;
mod table;

pub use hw::{HwArgs, HwCommand};
pub use schema::{SchemaArgs, SchemaCommand};
pub use table::{
    Check, Compare, Completions, Explore, Given, Inspect, Man, Merge, Quantize, Run, Size, Status, Sweep,
    Vectors,
};

use std::num::NonZeroUsize;

use clap::{Parser, Subcommand};
use guardbit_study::MOST_THREADS;

/// What does a narrow accumulator do to this network?
///
/// guardbit runs a quantized network on an accelerator model whose accumulators are as narrow as you say, and
/// reports every overflow, what it did to the outputs, and how many bits would have been enough.
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
    /// Results on stdout as JSON
    #[arg(long, display_order = 1000, global = true)]
    pub json: bool,
    /// Replace an output folder whose files are all guardbit's own and unchanged; anything else is refused
    #[arg(long, display_order = 1000, global = true)]
    pub force: bool,
    /// No progress and no remarks on stderr
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
    /// Make the folder of a sweep from those of its shards: byte-equal to that of the sweep in one piece
    Merge(Given<Merge>),
    /// Report how far sweeps are: which shards and points are missing. Exit code 1 if any is
    Status(Given<Status>),
    /// Quantize a float network: choose scales and zero points on samples, and write it as an ONNX file
    ///
    /// The file is QDQ in ONNX Runtime's arithmetic: `run`, `sweep`, `size` and `vectors` take it as any network, and ONNX
    /// Runtime gives the same codes. The accuracies that are printed are those of the file.
    Quantize(Given<Quantize>),
    /// Export a layer as test vectors for RTL: stimuli, expected accumulators of every cycle, reference design, benches
    ///
    /// `trap` acts as `observe` here: nothing stops, the value stays exact and the flag tells. The format is described in
    /// docs/bundle-format.md.
    Vectors(Given<Vectors>),
    /// Check a bundle of test vectors: its files, its numbers, and its replay in simulators
    Check(Given<Check>),
    /// Find the accumulator width that every layer needs: proved, on samples, and within an error budget
    Size(Given<Size>),
    /// Explore designs of an accelerator: what each loses, takes and costs, and which no other beats
    ///
    /// Every point of the axes is timed and priced; of points that provably have the same values one is simulated. With a budget,
    /// widths of all levels and layers are searched for every hardware that the axes have, and the cheapest design is recommended.
    Explore(Given<Explore>),
    /// Put finished runs, sweeps, sizings or explorations side by side: the settings that differ, then figures
    Compare(Given<Compare>),
    /// Print the network as guardbit understands it, and with --hw what lowering does with each operation
    Inspect(Given<Inspect>),
    /// Accelerator models: presets, files, schema
    Hw(HwArgs),
    /// Study files: their schema
    Study(SchemaArgs),
    /// Networks in YAML: their schema
    Graph(SchemaArgs),
    /// Print the script with which a shell completes commands, options and values
    Completions(Given<Completions>),
    /// Write the man pages of all commands
    Man(Given<Man>),
}
