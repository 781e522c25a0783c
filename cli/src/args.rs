//! Arguments as they are typed. Checked requests are types of `guardbit-study`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Parser, Subcommand};
use guardbit_frontends::{Profile, network_files};
use guardbit_graph::passes::PASSES;
use guardbit_num::{Overflow, Scheme};
use guardbit_quantize::LAYER_METHODS;
use guardbit_quantize::method::METHODS;
use guardbit_sim::{Mode, StatsLevel};
use guardbit_study::{
    AreaTool, Axis, BitList, Budget, Condition, DEFAULT_EVENTS, DEFAULT_RANDOM_SAMPLES, MixedBudget,
    Objective, Shard, ShardError, TableFormat, Task, activation_codes, weight_codes,
};

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

/// Most threads: beyond this starting them fails on many systems.
const MOST_THREADS: usize = 1024;

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

#[derive(Debug, clap::Args)]
pub struct RunArgs {
    #[arg(help = model_help())]
    pub model: PathBuf,
    /// The accelerator: a preset's name (see `guardbit hw list`) or a YAML file
    #[arg(long)]
    pub hw: String,
    /// Run this layer alone, by name or index as `guardbit inspect` prints them: --input is then what the layer reads
    #[arg(long, value_name = "NAME|INDEX")]
    pub layer: Option<String>,
    #[command(flatten)]
    pub common: Common,
    /// Tell energy and area by a cost model: a name (see `guardbit hw costs`), with @16nm behind it to scale it, or a YAML file.
    /// May be repeated
    #[arg(long, value_name = "NAME|FILE")]
    pub cost: Vec<String>,
    /// How many events are listed per layer in events.csv: the first ones
    #[arg(long, value_name = "N", default_value_t = DEFAULT_EVENTS)]
    pub events: usize,
    /// Tables: csv, or parquet, which is beside CSV
    #[arg(long, value_name = "FORMAT", default_value = "csv")]
    pub format: TableFormat,
    /// Write every tensor to tensors.npz
    #[arg(long)]
    pub dump_tensors: bool,
    /// Count how the sums of every layer, level and channel are distributed: sum_histograms.csv, .npz and a plot
    #[arg(long)]
    pub histograms: bool,
    /// Write every exact and delivered sum of these layers, by name or index, to sums.npz
    #[arg(long, value_name = "LAYER,...", value_delimiter = ',')]
    pub dump_sums: Vec<String>,
    /// Folder for the results; it appears when they are complete
    #[arg(short, long, value_name = "DIR")]
    pub output_dir: PathBuf,
}

#[derive(Debug, clap::Args)]
pub struct SweepArgs {
    /// A study file, or with --hw the network
    pub study_or_model: PathBuf,
    /// The accelerator: a preset's name or a YAML file
    #[arg(long)]
    pub hw: Option<String>,
    /// Widths of the swept level: 10..=24 (both included), or 8,12,16. A layer's own width (`layers`) stays
    #[arg(long, requires = "hw")]
    pub bits: Option<BitList>,
    /// Overflow modes of the swept level [default: its own]
    #[arg(long, value_delimiter = ',', requires = "hw")]
    pub overflow: Vec<Overflow>,
    /// The swept level [default: the only one with a width]
    #[arg(long, requires = "hw")]
    pub level: Option<String>,
    /// Anything else that is varied: a key as for --set, or model, hw, mode, requantize, seed, random, samples, input,
    /// labels, task, output or profile. Values as 12..=16 or a,b,c; each further axis multiplies the points
    #[arg(long, value_name = "KEY=VALUES", requires = "hw")]
    pub axis: Vec<Axis>,
    /// Axes that go together, value by value
    #[arg(long, value_name = "KEY,KEY", requires = "axis")]
    pub zip: Vec<String>,
    /// Only points of which this holds: A OP B, with ==, !=, <, <=, > or >=, of axes and values
    #[arg(long = "where", value_name = "CONDITION", requires = "axis")]
    pub conditions: Vec<Condition>,
    /// Only part I of N of the points, for `guardbit merge`; `slurm` in a task of a job array: the part by
    /// SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT
    #[arg(long, value_name = "I/N|slurm", requires = "output_dir", value_parser = shard)]
    pub shard: Option<Shard>,
    #[command(flatten)]
    pub common: Common,
    /// Tables: csv, or parquet, which is beside CSV
    #[arg(long, value_name = "FORMAT", default_value = "csv")]
    pub format: TableFormat,
    /// Folder in which any sweeps share their points: those that are there are not run again, byte by byte the same
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Folder for the results; an interrupted sweep goes on where it was. Without it nothing is written
    #[arg(short, long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct MergeArgs {
    /// The folders of all shards of one sweep, in any order
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Folder for the results; it appears when they are complete
    #[arg(short, long, value_name = "DIR")]
    pub output_dir: PathBuf,
}

/// A part by its number, or by the variables of a job array.
fn shard(text: &str) -> Result<Shard, ShardError> {
    match text {
        "slurm" => Shard::of_slurm(|name| std::env::var(name).ok()),
        text => text.parse(),
    }
}

#[derive(Debug, clap::Args)]
pub struct SizeArgs {
    #[arg(help = model_help())]
    pub model: PathBuf,
    /// The accelerator: a preset's name (see `guardbit hw list`) or a YAML file
    #[arg(long)]
    pub hw: String,
    /// How much error is allowed: mismatch=0.1% (output codes that may differ), accuracy=1% (points of top-1
    /// accuracy, with --labels) or agreement=1% (samples that may get another class)
    #[arg(long, value_name = "KIND=SHARE")]
    pub budget: Option<Budget>,
    /// Ask a tool for the LUTs and flip-flops of the accumulators: yosys
    #[arg(long, value_name = "TOOL")]
    pub area: Option<AreaTool>,
    #[command(flatten)]
    pub common: Common,
    /// Tables: csv, or parquet, which is beside CSV
    #[arg(long, value_name = "FORMAT", default_value = "csv")]
    pub format: TableFormat,
    /// Folder for the results; it appears when they are complete
    #[arg(short, long, value_name = "DIR")]
    pub output_dir: PathBuf,
}

#[derive(Debug, clap::Args)]
pub struct ExploreArgs {
    #[arg(help = model_help())]
    pub model: PathBuf,
    /// The accelerator: a preset's name (see `guardbit hw list`) or a YAML file
    #[arg(long)]
    pub hw: String,
    /// What is varied: a key as for --set, hw, or requantize. Values as 12..=16 or a,b,c; each further axis multiplies the points
    #[arg(long, value_name = "KEY=VALUES")]
    pub axis: Vec<Axis>,
    /// Axes that go together, value by value
    #[arg(long, value_name = "KEY,KEY", requires = "axis")]
    pub zip: Vec<String>,
    /// Only points of which this holds: A OP B, with ==, !=, <, <=, > or >=, of axes and values
    #[arg(long = "where", value_name = "CONDITION", requires = "axis")]
    pub conditions: Vec<Condition>,
    /// How much error is allowed: accuracy=1% (points of top-1 accuracy, with --labels), agreement=1% (samples that may get
    /// another class) or mismatch=0.1% (output codes that may differ). Widths are searched within it
    #[arg(long, value_name = "KIND=SHARE")]
    pub budget: Option<Budget>,
    /// What designs are to have little of, the first one above all: cycles, latency, area, energy [default: cycles, and what the
    /// cost models tell]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub objective: Vec<Objective>,
    /// Cost model: a name (see `guardbit hw costs`), with @16nm behind it to scale it, or a YAML file. Repeated, the first one that
    /// tells energies and the first one that tells areas count [default: aladdin-40nm]
    #[arg(long, value_name = "NAME|FILE")]
    pub cost: Vec<String>,
    #[command(flatten)]
    pub common: Common,
    /// Folder for the results; an interrupted exploration goes on where it was
    #[arg(short, long, value_name = "DIR")]
    pub output_dir: PathBuf,
}

#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// Folders with finished results of one command
    #[arg(required = true, num_args = 2..)]
    pub dirs: Vec<PathBuf>,
}

/// What runs, sweeps and sizings have in common.
#[derive(Debug, Clone, clap::Args)]
pub struct Common {
    /// Samples: .npy (or .npz by input name) of codes in the input's dtype, or of float32 real values
    #[arg(long, value_name = "X", conflicts_with = "random")]
    pub input: Option<PathBuf>,
    /// That many samples of uniformly random codes
    #[arg(long, value_name = "N", help = format!(
        "That many samples of uniformly random codes [default without --input: {DEFAULT_RANDOM_SAMPLES}]"
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
    /// Requantization scheme in place of the model's own, as single or S
    #[arg(long, value_name = "SCHEME")]
    pub requantize: Option<Scheme>,
    /// Runtime whose results a TFLite network has: litert-ref, tflm or xnnpack [default: litert-ref]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<Profile>,
}

#[derive(Debug, clap::Args)]
pub struct VectorsArgs {
    #[arg(help = model_help())]
    pub model: PathBuf,
    /// The accelerator: a preset's name or a YAML file
    #[arg(long)]
    pub hw: String,
    /// The layer: its name, or its index as `guardbit inspect` prints it
    #[arg(long, value_name = "NAME|INDEX")]
    pub layer: String,
    /// Dot products taken from the layer's real activations; corner cases are added
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub cases: usize,
    /// Data formats beside .mem: dec, npy, bin (little-endian, whole bytes per value), mif, coe, axis
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "dec")]
    pub formats: Vec<guardbit_rtl_vectors::Format>,
    /// Waveforms of accumulators and exact sums: vcd, fst
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub waves: Vec<guardbit_rtl_vectors::WaveFormat>,
    /// Each lane in whole bytes, sign-extended, instead of one after the other
    #[arg(long)]
    pub byte_slots: bool,
    #[command(flatten)]
    pub common: Common,
    /// Folder for the bundle; it appears when it is complete
    #[arg(short, long, value_name = "DIR")]
    pub output_dir: PathBuf,
}

#[derive(Debug, clap::Args)]
pub struct QuantizeArgs {
    /// The float network, an .onnx file
    pub model: PathBuf,
    /// Calibration samples: .npy (or .npz by input name) of float32 real values; no labels are needed
    #[arg(long, value_name = "X.npy")]
    pub calibration: PathBuf,
    /// So many samples of --calibration: the first ones, or with --seed different ones that it draws [default: all]
    #[arg(long, value_name = "N")]
    pub samples: Option<usize>,
    /// Seed of the draw of --samples
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Other samples that the networks are run on for accuracy and overflows [default: those of --calibration]
    #[arg(long, value_name = "X.npy")]
    pub test: Option<PathBuf>,
    /// One class per sample of --test, or of --calibration without it
    #[arg(long, value_name = "Y.npy")]
    pub labels: Option<PathBuf>,
    /// The output that is scored, of a network that has several
    #[arg(long, value_name = "NAME")]
    pub output_name: Option<String>,
    /// The accelerator that the network is for: a preset's name or a YAML file
    #[arg(long)]
    pub hw: Option<String>,
    /// Override a key of the accelerator, as accumulation.acc.bits=14
    #[arg(long, value_name = "KEY=VALUE", requires = "hw")]
    pub set: Vec<String>,
    /// How ranges are chosen
    #[arg(long, value_name = "NAME", default_value = "min-max", value_parser = methods())]
    pub method: String,
    /// How ranges of weights are chosen
    #[arg(long, value_name = "NAME", default_value = "min-max", value_parser = tensor_methods())]
    pub weight_method: String,
    #[arg(long, value_name = "CODES", default_value = "int8", help = format!("Codes of weights: {}", weight_codes()))]
    pub weights: String,
    #[arg(long, value_name = "CODES", default_value = "uint8", help = format!("Codes of activations: {}", activation_codes()))]
    pub activations: String,
    /// One scale for all weights of a layer
    #[arg(long, conflicts_with = "per_channel")]
    pub per_tensor: bool,
    /// One weight scale per output channel: the default
    #[arg(long)]
    pub per_channel: bool,
    /// Activations with real 0 in the middle of the codes
    #[arg(long, conflicts_with = "asymmetric")]
    pub symmetric: bool,
    /// Activations with any zero point: the default
    #[arg(long)]
    pub asymmetric: bool,
    /// Weights with any zero point
    #[arg(long)]
    pub asymmetric_weights: bool,
    /// Weights from -128 on, not from -127
    #[arg(long)]
    pub full_range: bool,
    /// Scales that are powers of two
    #[arg(long)]
    pub power_of_two: bool,
    /// Other settings for a layer, or for conv, pointwise, depthwise, grouped, dense or matmul layers: depthwise:weights=int6,
    /// NAME:float, NAME:per-tensor,activations=uint8
    #[arg(long, value_name = "LAYER:SETTINGS")]
    pub layer: Vec<String>,
    /// Where activations are observed: behind the quantized layers before them (propagated), or in the float network
    /// (isolated) [default: propagated]
    #[arg(long)]
    pub mode: Option<Mode>,
    /// Choose the widths of weights and activations layer by layer, from 8x16 down to 4x4 bits, within a budget:
    /// agreement=1% (calibration samples that may get another class), sqnr=30 (dB), bytes=20000 or bits=16 (accumulator
    /// that cannot overflow)
    #[arg(long, value_name = "BUDGET", requires = "hw")]
    pub mixed: Option<MixedBudget>,
    /// Balance the ranges of weights between convolutions that follow each other (cross-layer equalization)
    #[arg(long)]
    pub equalize: bool,
    /// Make hard-swish a hard-sigmoid and a product, each with codes of its own, as ONNX Runtime's quantizer does, and not
    /// one table
    #[arg(long)]
    pub inline_functions: bool,
    /// Take the mean error of every layer's sums over the calibration samples into its bias
    #[arg(long)]
    pub correct_bias: bool,
    /// Leave a layer in float whose own quantization has a lower signal to noise ratio
    #[arg(long, value_name = "DB")]
    pub least_sqnr: Option<f64>,
    /// Tell the accuracy of dynamic quantization too: scales and zero points of activations computed from every sample by
    /// itself, as it runs
    #[arg(long, requires = "labels")]
    pub dynamic: bool,
    /// Folder for tables, plots and a page; it appears when it is complete
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// The quantized network; an existing file is refused without --force
    #[arg(short, long, value_name = "OUT.onnx")]
    pub output: PathBuf,
}

/// The names of the methods that choose ranges of tensors.
fn tensor_methods() -> PossibleValuesParser {
    PossibleValuesParser::new(METHODS.iter().map(|method| PossibleValue::new(method.name())))
}

/// The names of all methods.
fn methods() -> PossibleValuesParser {
    let tensors = METHODS.iter().map(|method| PossibleValue::new(method.name()));
    let layers = LAYER_METHODS
        .iter()
        .map(|method| PossibleValue::new(method.name()).help("for layers on the accelerator of --hw"));
    PossibleValuesParser::new(tensors.chain(layers))
}

#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// The bundle
    pub dir: PathBuf,
    /// What replays it; none computes every expected value anew
    #[arg(long, value_enum, default_value_t = SimulatorChoice::None)]
    pub simulator: SimulatorChoice,
    /// Replay built-in faults, too: each must be found
    #[arg(long)]
    pub mutate: bool,
    /// Keep what is built and run in this folder, which is absent or empty; --force replaces that of an earlier check
    #[arg(long, value_name = "DIR")]
    pub work: Option<PathBuf>,
    /// Stop a simulator that builds or runs for longer
    #[arg(long, value_name = "SECONDS", default_value_t = guardbit_rtl_vectors::TIME_LIMIT.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
}

/// What replays a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum SimulatorChoice {
    /// No simulator
    None,
    /// Icarus Verilog
    Icarus,
    /// Verilator
    Verilator,
    /// GHDL
    Ghdl,
    /// All of them
    All,
}

#[derive(Debug, clap::Args)]
pub struct InspectArgs {
    #[arg(help = model_help())]
    pub model: PathBuf,
    /// Runtime whose results a TFLite network has: litert-ref, tflm or xnnpack [default: litert-ref]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<Profile>,
    /// The accelerator: a preset's name or a YAML file
    #[arg(long)]
    pub hw: Option<String>,
    /// Override a key of the accelerator, as accumulation.acc.bits=12
    #[arg(long, value_name = "KEY=VALUE", requires = "hw")]
    pub set: Vec<String>,
    /// Print the network after this pass too; several are run one after another
    #[arg(long, value_name = "NAME", value_parser = passes())]
    pub pass: Vec<String>,
    /// Print everything that the codes of each operation follow from, as a backend reads it: types, scales, zero points and
    /// ranges of all operands, accumulator, bias, requantization, clamp (--json has it in any case)
    #[arg(long)]
    pub nodes: bool,
    /// Print what each step made of the network, and why: what the reader of the file, the passes and, with --hw, partition
    /// and lowering kept, changed, dropped, or left to the host or in floating point
    #[arg(long)]
    pub audit: bool,
    /// Write the network, after the passes: as an ONNX file (.onnx) that ONNX Runtime runs with equal results, or as graph YAML
    /// (.yaml) that is read as the same network, with its weights as .npy files in a folder beside it
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,
}

/// The names of the passes, with what they do.
fn passes() -> PossibleValuesParser {
    PossibleValuesParser::new(
        PASSES.iter().map(|pass| PossibleValue::new(pass.name()).help(pass.description())),
    )
}

#[derive(Debug, clap::Args)]
pub struct SchemaArgs {
    #[command(subcommand)]
    pub command: SchemaCommand,
}

#[derive(Debug, Subcommand)]
pub enum SchemaCommand {
    /// Print the JSON Schema of the files, for editors
    Schema,
}

#[derive(Debug, clap::Args)]
pub struct HwArgs {
    #[command(subcommand)]
    pub command: HwCommand,
}

#[derive(Debug, Subcommand)]
pub enum HwCommand {
    /// List the presets
    List,
    /// Print an accelerator as a complete file, every default filled in
    Show {
        /// A preset's name or a YAML file
        hw: String,
        /// Override a key, as accumulation.acc.bits=12
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
    },
    /// List the cost models, which tell energy and area, or print the figures of one
    Costs {
        /// A model's name, with @16nm behind it to scale it, or a YAML file
        model: Option<String>,
    },
    /// Print the JSON Schema of accelerator files, for editors
    Schema,
    /// Check an accelerator: errors, and warnings about datapaths that cannot have been meant
    Check {
        /// A preset's name or a YAML file
        hw: String,
        #[arg(long, help = format!("Check it for this network too: {}", network_files()))]
        model: Option<PathBuf>,
        /// Override a key, as accumulation.acc.bits=12
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
    },
}
