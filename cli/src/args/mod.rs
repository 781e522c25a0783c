//! Arguments as they are typed, one file per command. Checked requests are types of `guardbit-study`.

mod check;
mod compare;
mod explore;
mod hw;
mod inspect;
mod quantize;
mod run;
mod schema;
mod size;
mod sweep;
mod vectors;

pub use check::{CheckArgs, SimulatorChoice};
pub use compare::CompareArgs;
pub use explore::ExploreArgs;
pub use hw::{HwArgs, HwCommand};
pub use inspect::InspectArgs;
pub use quantize::QuantizeArgs;
pub use run::RunArgs;
pub use schema::{SchemaArgs, SchemaCommand};
pub use size::SizeArgs;
pub use sweep::{MergeArgs, StatusArgs, SweepArgs};
pub use vectors::VectorsArgs;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use guardbit_frontends::{Cut, Dim, Dims, Profile, network_files};
use guardbit_num::Scheme;
use guardbit_sim::{Mode, StatsLevel};
use guardbit_study::{DEFAULT_RANDOM_SAMPLES, MOST_THREADS, Task};

/// What does a narrow accumulator do to this network?
///
/// guardbit runs a quantized network on an accelerator model whose accumulators are as narrow as you say, and
/// reports every overflow, what it did to the outputs, and how many bits would have been enough.
#[derive(Debug, Parser)]
#[command(name = "guardbit", version, propagate_version = true, max_term_width = 110)]
pub struct Args {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, clap::Args)]
pub struct Global {
    /// Number of threads; results do not depend on it [default: all cores]
    #[arg(long, global = true, value_name = "N")]
    #[arg(value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    /// Results on stdout as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Replace an output folder whose files are all guardbit's own and unchanged; anything else is refused
    #[arg(long, global = true)]
    pub force: bool,
    /// No progress and no remarks on stderr
    #[arg(long, global = true)]
    pub quiet: bool,
}

fn model_help() -> String {
    format!("The network: {}", network_files())
}

fn requantize_help() -> String {
    let names = Scheme::ALL.iter().map(|scheme| scheme.name()).collect::<Vec<_>>().join(", ");
    format!("Requantization scheme to use instead of the model's own: {names}")
}

fn profile_help() -> String {
    let names = Profile::ALL.map(Profile::name).join(", ");
    format!("Runtime whose results a TFLite network has: {names} [default: {}]", Profile::default().name())
}

fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let threads = text.parse::<NonZeroUsize>().ok().filter(|threads| threads.get() <= MOST_THREADS);
    threads.ok_or_else(|| format!("a number from 1 to {MOST_THREADS}"))
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a network on an accelerator and write tables, plots and a report
    Run(RunArgs),
    /// Run a network at many accumulator widths: a study file, or a model with --hw and --bits
    Sweep(SweepArgs),
    /// Make the folder of a sweep from those of its shards: byte-equal to that of the sweep in one piece
    Merge(MergeArgs),
    /// Report how far sweeps are: which shards and points are missing. Exit code 1 if any is
    Status(StatusArgs),
    /// Quantize a float network: choose scales and zero points on samples, and write it as an ONNX file
    ///
    /// The file is QDQ in ONNX Runtime's arithmetic: `run`, `sweep`, `size` and `vectors` take it as any network, and ONNX
    /// Runtime gives the same codes. The accuracies that are printed are those of the file.
    Quantize(QuantizeArgs),
    /// Export a layer as test vectors for RTL: stimuli, expected accumulators of every cycle, reference design, benches
    ///
    /// `trap` acts as `observe` here: nothing stops, the value stays exact and the flag tells. The format is described in
    /// docs/bundle-format.md.
    Vectors(VectorsArgs),
    /// Check a bundle of test vectors: its files, its numbers, and its replay in simulators
    Check(CheckArgs),
    /// Find the accumulator width that every layer needs: proved, on samples, and within an error budget
    Size(SizeArgs),
    /// Explore designs of an accelerator: what each loses, takes and costs, and which no other beats
    ///
    /// Every point of the axes is timed and priced; of points that provably have the same values one is simulated. With a budget,
    /// widths of all levels and layers are searched for every hardware that the axes have, and the cheapest design is recommended.
    Explore(ExploreArgs),
    /// Put finished runs, sweeps, sizings or explorations side by side: the settings that differ, then figures
    Compare(CompareArgs),
    /// Print the network as guardbit understands it, and with --hw what lowering does with each operation
    Inspect(InspectArgs),
    /// Accelerator models: presets, files, schema
    Hw(HwArgs),
    /// Study files: their schema
    Study(SchemaArgs),
    /// Networks in YAML: their schema
    Graph(SchemaArgs),
}

/// What is taken of a network's file.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Part {
    /// Make this tensor an input of the network and leave out what only computes it: a name in the file, or as `guardbit
    /// inspect` prints it. May be repeated
    #[arg(long, value_name = "TENSOR")]
    pub from: Vec<String>,
    /// Make this tensor the output of the network and leave out what lies behind it, be it supported or not. May be repeated
    #[arg(long, value_name = "TENSOR")]
    pub to: Vec<String>,
    /// Give an axis that an ONNX file leaves open its length: by its name, e.g. tokens=128, or as INPUT:PLACE, e.g. x:1=128.
    /// May be repeated
    #[arg(long, value_name = "AXIS=LENGTH")]
    pub dim: Vec<Dim>,
}

impl Part {
    /// The part, or what is wrong with it.
    pub fn cut(&self) -> Result<Cut, String> {
        let (from, to) = (self.from.clone(), self.to.clone());
        Ok(Cut { from, to, dims: Dims::of_all(&self.dim)? })
    }
}

/// What runs, sweeps and sizings have in common.
#[derive(Debug, Clone, clap::Args)]
pub struct Common {
    /// Samples: .npy (or .npz by input name) of codes in the input's dtype, or of float32 real values; or a folder of PNG
    /// files with a pictures.yaml, e.g. {layout: nchw, scale: 1/255}
    #[arg(long, value_name = "X", conflicts_with = "random")]
    pub input: Option<PathBuf>,
    #[arg(long, value_name = "N", help = format!(
        "That many samples of uniformly random codes, for a real input of values from -1 to 1 [default without --input: \
         {DEFAULT_RANDOM_SAMPLES}]"
    ))]
    pub random: Option<usize>,
    /// So many samples of --input: the first ones, or with --seed different ones that it draws [default: all]
    #[arg(long, value_name = "N", requires = "input")]
    pub samples: Option<usize>,
    /// Seed of the random codes [default: 0], or of the draw of --samples
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// A label per sample of the file, .npy: a class (integers), for a detector 1 for an anomaly or 0, for a regressor its
    /// values (float32). Without labels, top-1 agreement is told for an output that is a vector as long as no input, or that
    /// --output names
    #[arg(long, value_name = "Y.npy")]
    pub labels: Option<PathBuf>,
    /// What the output is judged by: classify (accuracy), regress (mean squared error against labels) or detect (area under
    /// the ROC curve of the distance between output and input) [default: what labels and shapes leave no doubt about]
    #[arg(long, value_name = "TASK")]
    pub task: Option<Task>,
    /// The output that is scored, of a network that has several
    #[arg(long, value_name = "NAME")]
    pub output: Option<String>,
    /// What each layer reads: propagated (what the hardware produced before it) or isolated (exact
    /// activations) [default: propagated]
    #[arg(long)]
    pub mode: Option<Mode>,
    /// Override a key of the accelerator, as accumulation.acc.bits=12
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// How much is counted: none, events, values (all but events) or full [default: full; in a propagated sweep: events]
    #[arg(long)]
    pub stats: Option<StatsLevel>,
    #[arg(long, value_name = "SCHEME", help = requantize_help())]
    pub requantize: Option<Scheme>,
    #[arg(long, value_name = "NAME", help = profile_help())]
    pub profile: Option<Profile>,
    #[command(flatten)]
    pub part: Part,
    /// Exit with code 1 if a layer whose weights are quantized in the file works in floating point; results are written all
    /// the same
    #[arg(long)]
    pub strict: bool,
}
