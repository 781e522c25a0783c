//! Rows of arguments. To add an argument, add its row here, and read its field where it is used.

use std::path::PathBuf;

use guardbit_frontends::{Dim, Profile, network_files};
use guardbit_graph::passes::PASSES;
use guardbit_num::{Overflow, Scheme};
use guardbit_quantize::LAYER_METHODS;
use guardbit_quantize::method::METHODS;
use guardbit_reports::{Medium, PlotFont, PlotSize, Task};
use guardbit_sim::{Mode, StatsLevel};

use super::value::{self, OnOff, Seconds, Slot, Value, Zip};
use super::{Choice, Command, Commands, InStudy, PythonName, Row, arguments, row};
use crate::axes::scheme_override;
use crate::axes::{pick_seed, picked, with_input, with_random};
use crate::quantize::{activation_codes, weight_codes};
use crate::{
    AreaTool, Axis, BitList, Budget, CodeType, DEFAULT_BIAS_BITS, DEFAULT_CASES, DEFAULT_EVENTS,
    DEFAULT_RANDOM_SAMPLES, DEFAULT_TERMS, DEFAULT_TIMEOUT, Grid, MixedBudget, Objective, QuantizeChoices,
    Shard, TableFormat, Unknown,
};
use Command::{
    Check, Compare, Completions, Demo, DiffLayer, Discriminate, Explain, Explore, Help, HwCheck, HwCosts,
    HwShow, Inspect, Man, Merge, Plot, Quantize, Run, Size, Status, Sweep, Vectors,
};

/// Commands that load a network.
const EVERY: Commands = Commands::of(&[Run, Sweep, Size, Explore, Vectors, Quantize, Inspect]);
/// Commands that run samples through an accelerator.
const RUNS: Commands = Commands::of(&[Run, Sweep, Size, Explore, Vectors]);
/// Commands of [`RUNS`] that write tables.
const TABLES: Commands = Commands::of(&[Run, Sweep, Size, Explore]);
const NETWORKS: Commands = Commands::of(&[Run, Sweep, Size, Explore, Vectors, Inspect]);
const OUTPUTS: Commands = Commands::of(&[Merge, Vectors]);
const SETS: Commands =
    Commands::of(&[Run, Sweep, Size, Explore, Vectors, Quantize, Inspect, HwShow, HwCheck, Discriminate]);
/// Commands with the option --hw.
const HWS: Commands = Commands::of(&[Run, Sweep, Size, Explore, Vectors, Quantize, Inspect, Discriminate]);
/// Commands in which accelerators must be named.
const NAMED_HWS: Commands = Commands::of(&[Run, Size, Explore, Vectors, Discriminate]);
const DIMS: Commands = Commands::of(&[Run, Sweep, Size, Explore, Vectors, Quantize, Inspect, HwCheck]);
const AXES: Commands = Commands::of(&[Sweep, Explore]);
const BUDGETS: Commands = Commands::of(&[Size, Explore]);
const COSTS: Commands = Commands::of(&[Run, Explore]);
const QUANTIZE: Commands = Commands::of(&[Quantize]);
const COMPARE: Commands = Commands::of(&[Compare]);
const CHECK: Commands = Commands::of(&[Check]);
const DIFF_LAYER: Commands = Commands::of(&[DiffLayer]);
const DISCRIMINATE: Commands = Commands::of(&[Discriminate]);
const COMPLETIONS: Commands = Commands::of(&[Completions]);
const MAN: Commands = Commands::of(&[Man]);
const EXPLAIN: Commands = Commands::of(&[Explain]);
const HELP: Commands = Commands::of(&[Help]);
const INSPECT: Commands = Commands::of(&[Inspect]);
/// Commands that read folders of results.
const FOLDERS: Commands = Commands::of(&[Merge, Status, Compare, Plot]);
const PLOT: Commands = Commands::of(&[Plot]);
/// Commands that draw plots.
const PLOTS: Commands = Commands::of(&[Run, Sweep, Size, Explore, Quantize, Plot]);
/// Commands that show or check one accelerator.
const ACCELERATORS: Commands = Commands::of(&[HwShow, HwCheck]);

/// Row of a quantizer setting, which an axis `quantize:NAME` can also vary.
const SETTING: Row = Row { quantizes: true, listed: true, ..row(QUANTIZE) };
/// Row of a parameter that a sweep varies, apart from axes.
const SWEPT: Row = Row { in_study: InStudy::Sweep, ..row(Commands::of(&[Sweep])) };

const PROPAGATED: Choice = ("propagated", Some("what the hardware produced before it"));

fn methods_of_tensors() -> Vec<Choice> {
    METHODS.iter().map(|method| (method.name(), None)).collect()
}

fn methods() -> Vec<Choice> {
    let layers =
        LAYER_METHODS.iter().map(|method| (method.name(), Some("for layers on the accelerator of --hw")));
    methods_of_tensors().into_iter().chain(layers).collect()
}

const PICTURES: &str = "or a folder of PNG files with a pictures.yaml, e.g. {layout: nchw, scale: 1/255}";

arguments! {
    /// Files of networks; only a sweep may have several.
    model: Vec<PathBuf> = "model", Row {
        needed: EVERY,
        value: "MODEL",
        is_positional: true,
        in_study: InStudy::Setting,
        study_help: "The network's file, or a list of them.",
        help: |command| match command {
            Quantize => "The float network, an .onnx file".into(),
            Sweep => "A study file, or with --hw the network".into(),
            _ => format!("The network: {}", network_files()),
        },
        axis: Some(|variant, value| { variant.model = value.into(); Ok(()) }),
        ..row(EVERY)
    };
    /// Accelerators; only a sweep may have several.
    hw: Vec<String> = "hw", Row {
        needed: NAMED_HWS,
        value: "HW",
        in_study: InStudy::Setting,
        study_help: "The accelerator: a preset's name or a YAML file, or a list of them.",
        help: |command| match command {
            Quantize => "The accelerator that the network is for: a preset's name (see `guardbit hw list`) or a YAML file".into(),
            Discriminate => "An accelerator: a preset's name (see `guardbit hw list`) or a YAML file; repeat for several".into(),
            _ => "The accelerator: a preset's name (see `guardbit hw list`) or a YAML file".into(),
        },
        axis: Some(|variant, value| { variant.hw = value.into(); Ok(()) }),
        ..row(HWS)
    };
    /// The layer that is run alone, or exported.
    layer: Option<String> = "layer", Row {
        needed: Commands::of(&[Vectors]),
        value: "NAME|INDEX",
        listed: true,
        help: |command| match command {
            Vectors => "The layer, by the name or index that `guardbit inspect` prints".into(),
            DiffLayer => "The layer, by its folder, name or index [default: the only one]".into(),
            _ => "Run only this layer, by the name or index that `guardbit inspect` prints; --input then holds the inputs of the \
                  layer".into(),
        },
        ..row(Commands::of(&[Run, Vectors, DiffLayer]))
    };
    /// Number of test cases from real activations.
    cases: Option<usize> = "cases", Row {
        value: "N",
        listed: true,
        help: |_| "Number of dot products from the layer's real activations; corner cases are added".into(),
        default: |_| Some(DEFAULT_CASES.to_string()),
        ..row(Commands::of(&[Vectors]))
    };
    /// Data formats of vectors.
    formats: Vec<String> = "formats", Row {
        value: "LIST",
        is_list: true,
        listed: true,
        help: |_| "Data formats in addition to .mem".into(),
        choices: |_| vec![
            ("dec", None),
            ("npy", None),
            ("bin", Some("little-endian, whole bytes per value")),
            ("mif", None),
            ("coe", None),
            ("axis", None),
        ],
        default: |_| Some("dec".into()),
        ..row(Commands::of(&[Vectors]))
    };
    /// Formats of waveforms.
    waves: Vec<String> = "waves", Row {
        value: "LIST",
        is_list: true,
        listed: true,
        help: |_| "Waveforms of accumulators and exact sums".into(),
        choices: |_| vec![("vcd", None), ("fst", None)],
        ..row(Commands::of(&[Vectors]))
    };
    /// Whether lanes are whole bytes.
    byte_slots: bool = "byte_slots", Row {
        listed: true,
        help: |_| "Pad each lane to whole bytes, sign-extended; without it, lanes are packed without gaps".into(),
        ..row(Commands::of(&[Vectors]))
    };
    /// Whether whole layers are exported.
    whole: bool = "whole", Row {
        // A bundle's manifest does not list it; a layout needs no entry.
        help: |_| "Export memory images of the whole layer for one sample, with its schedule and a bench, instead of single dot \
                   products; --layer may be `all`".into(),
        ..row(Commands::of(&[Vectors]))
    };
    /// The sample of whole layers.
    sample: Option<usize> = "sample", Row {
        value: "K",
        listed: true,
        help: |_| "With --whole: index of the sample, from 0 on [default: 0]".into(),
        ..row(Commands::of(&[Vectors]))
    };
    /// Order of codes in images.
    image_order: Option<String> = "image_order", Row {
        value: "nhwc|nchw|blocked:N",
        listed: true,
        help: |_| "With --whole: order of the codes in images; blocked:N packs N channels into a word [default: nhwc]".into(),
        ..row(Commands::of(&[Vectors]))
    };
    /// Widths of the swept level.
    bits: Option<BitList> = "bits", Row {
        value: "BITS",
        help: |_| "Widths of the swept level: 10..=24 (both included), or 8,12,16. Widths that the accelerator sets in `layers` stay as they are".into(),
        ..SWEPT
    };
    /// Its overflow modes.
    overflow: Vec<Overflow> = "overflow", Row {
        value: "OVERFLOW",
        is_list: true,
        help: |_| "Overflow modes of the swept level [default: its own]".into(),
        ..SWEPT
    };
    /// The swept level.
    level: Option<String> = "level", Row {
        value: "LEVEL",
        help: |_| "The swept level [default: the only one with a width]".into(),
        ..SWEPT
    };
    /// Axes.
    axis: Vec<Axis> = "axis", Row {
        value: "KEY=VALUES",
        python: PythonName::As("axes"),
        in_study: InStudy::Sweep,
        study_help: "Anything else to vary: keys of the accelerator or arguments of a run, each with a list of values or a range.",
        listed: true,
        help: |command| match command {
            Explore => "Vary a key of the accelerator (as for --set), hw, or requantize. Values are 12..=16 or a,b,c; each further \
                        axis multiplies the points".into(),
            Discriminate => "Vary a key of the accelerator (as for --set). Values are 12..=16 or a,b,c; each further axis multiplies \
                             the candidates".into(),
            _ => format!("Vary anything else: a key of the accelerator (as for --set), or {}. `dim:AXIS` is a length as for --dim, \
                          `quantize:SETTING` an option of `guardbit quantize` for a float network. Values are 12..=16 or a,b,c; each \
                          further axis multiplies the points", crate::axes::argument_keys()),
        },
        ..row(Commands::of(&[Sweep, Explore, Discriminate]))
    };
    /// Axes that go together.
    zip: Vec<Zip> = "zip", Row {
        value: "KEY,KEY",
        in_study: InStudy::Sweep,
        study_help: "Axes that vary together, value by value: lists of keys.",
        help: |_| "Vary these axes together, value by value".into(),
        ..row(AXES)
    };
    /// Conditions on points.
    conditions: Vec<String> = "where", Row {
        value: "CONDITION",
        in_study: InStudy::Sweep,
        study_help: "Keep only points that satisfy this condition, or each of a list: comparisons of axes and values, joined by and, or, not.",
        help: |_| "Keep only points that satisfy CONDITION: comparisons (==, !=, <, <=, >, >=) of axes and values, joined by and, \
                   or, not and parentheses".into(),
        ..row(AXES)
    };
    /// The part of the points that is run.
    shard: Option<Shard> = "shard", Row {
        value: "I/N|slurm",
        beside_study: true,
        help: |_| "Run only part I of N of the points, for `guardbit merge`; `slurm` takes I and N from SLURM_ARRAY_TASK_ID and \
                   SLURM_ARRAY_TASK_COUNT, which a job array sets".into(),
        ..row(Commands::of(&[Sweep]))
    };
    /// How much error is allowed.
    budget: Option<Budget> = "budget", Row {
        listed: true,
        value: "KIND=SHARE",
        help: |command| {
            let searched = if command == Explore { ". Widths are searched within it" } else { "" };
            format!("Allowed error: accuracy=1% (loss of top-1 accuracy in percentage points, with --labels), agreement=1% (samples \
                     that may get another class) or mismatch=0.1% (output codes that may differ){searched}")
        },
        ..row(BUDGETS)
    };
    /// What designs are to have little of.
    objective: Vec<Objective> = "objective", Row {
        listed: true,
        value: "LIST",
        is_list: true,
        help: |_| "What to minimize, the most important first [default: cycles, and what the cost models provide]".into(),
        ..row(Commands::of(&[Explore]))
    };
    /// Who is asked for areas.
    area: Option<AreaTool> = "area", Row {
        value: "TOOL",
        help: |_| "Synthesize the accumulators with this tool for their LUTs and flip-flops".into(),
        ..row(Commands::of(&[Size]))
    };
    /// What is looked at of two-level accumulators.
    grid: Option<Grid> = "grid", Row {
        value: "GRID",
        listed: true,
        help: |_| "How finely to try two levels of accumulators".into(),
        choices: |_| vec![
            ("none", None),
            ("coarse", Some("every second length of run, a quarter of the dot products, fewer widths")),
            ("full", None),
        ],
        default: |_| Some(Grid::default().name().into()),
        ..row(Commands::of(&[Size]))
    };
    /// Calibration samples.
    calibration: Option<PathBuf> = "calibration", Row {
        needed: QUANTIZE,
        value: "X.npy",
        quantizes: true,
        help: |_| format!("Calibration samples: .npy (or .npz by input name) of float32 real values, {PICTURES}; no labels are needed"),
        ..row(QUANTIZE)
    };
    /// Samples.
    input: Option<PathBuf> = "input", Row {
        value: "X",
        python: PythonName::As("x"),
        in_study: InStudy::Setting,
        help: |_| format!("Samples: .npy (or .npz by input name) of codes in the input's dtype, or of float32 real values; {PICTURES}"),
        axis: Some(|variant, value| { with_input(&mut variant.settings, value); Ok(()) }),
        ..row(RUNS)
    };
    /// Number of random samples.
    random: Option<usize> = "random", Row {
        value: "N",
        in_study: InStudy::Setting,
        help: |_| format!("Run N samples of uniformly random codes; an input of real values gets values from -1 to 1 [default without --input: \
                           {DEFAULT_RANDOM_SAMPLES}]"),
        axis: Some(|variant, value| { with_random(&mut variant.settings, usize::read(value)?); Ok(()) }),
        ..row(RUNS)
    };
    /// Number of samples of the file.
    samples: Option<usize> = "samples", Row {
        value: "N",
        in_study: InStudy::Setting,
        quantizes: true,
        help: |command| {
            let of = if command == Quantize { "--calibration" } else { "--input" };
            format!("Use only N samples of {of}: the first N, or N distinct ones drawn with --seed [default: all]")
        },
        axis: Some(|variant, value| picked(&mut variant.settings, usize::read(value)?)),
        ..row(Commands::of(&[Run, Sweep, Size, Explore, Vectors, Quantize]))
    };
    /// Seed.
    seed: Option<u64> = "seed", Row {
        value: "S",
        in_study: InStudy::Setting,
        help: |command| match command {
            Quantize => "Seed for drawing --samples".into(),
            Discriminate => "Seed of the random inputs, which are tried last [default: 0]".into(),
            Vectors => "Seed of the random codes [default: 0], for drawing --samples, and for drawing the dot products".into(),
            _ => "Seed of the random codes [default: 0], or for drawing --samples".into(),
        },
        axis: Some(|variant, value| pick_seed(&mut variant.settings, u64::read(value)?)),
        ..row(Commands::of(&[Run, Sweep, Size, Explore, Vectors, Quantize, Discriminate]))
    };
    /// Other samples that a quantized network is run on.
    test: Option<PathBuf> = "test", Row {
        value: "X.npy",
        python: PythonName::As("x"),
        help: |_| "Samples on which accuracy and overflows are measured [default: those of --calibration]".into(),
        ..row(QUANTIZE)
    };
    /// Labels.
    labels: Option<PathBuf> = "labels", Row {
        value: "Y.npy",
        python: PythonName::As("y"),
        in_study: InStudy::Setting,
        help: |command| match command {
            Quantize => "One class per sample of --test, or of --calibration without it".into(),
            _ => "Labels, one per sample: a .npy file of classes (integers), for a detector of 1 (anomaly) and 0, for a regressor \
                  of float32 values. Without labels, guardbit reports top-1 agreement for an output of class scores: one that \
                  --output names, or a vector whose length no input has".into(),
        },
        axis: Some(|variant, value| { variant.settings.labels = Some(value.into()); Ok(()) }),
        ..row(Commands::of(&[Run, Sweep, Size, Explore, Quantize]))
    };
    /// What the output is judged by.
    task: Option<Task> = "task", Row {
        value: "TASK",
        in_study: InStudy::Setting,
        listed: true,
        help: |_| "How to score the output [default: inferred from labels and shapes if unambiguous]".into(),
        choices: |_| vec![
            ("classify", Some("accuracy")),
            ("regress", Some("mean squared error against labels")),
            ("detect", Some("area under the ROC curve of the distance between output and input")),
        ],
        axis: Some(|variant, value| { variant.settings.task = Some(Task::read(value)?); Ok(()) }),
        ..row(TABLES)
    };
    /// The output that is scored.
    output: Option<String> = "output", Row {
        value: "NAME",
        in_study: InStudy::Setting,
        listed: true,
        help: |_| "The output to score, of a network that has several".into(),
        axis: Some(|variant, value| { variant.settings.output = Some(value.into()); Ok(()) }),
        ..row(TABLES)
    };
    /// The output that is scored of a quantized network.
    output_name: Option<String> = "output_name", Row {
        value: "NAME",
        python: PythonName::As("output"),
        listed: true,
        help: |_| "The output to score, of a network that has several".into(),
        ..row(QUANTIZE)
    };
    /// What each layer reads.
    mode: Option<Mode> = "mode", Row {
        value: "MODE",
        in_study: InStudy::Setting,
        quantizes: true,
        listed: true,
        help: |command| match command {
            Quantize => "Where to observe activations".into(),
            _ => "What each layer reads".into(),
        },
        choices: |command| match command {
            Quantize => vec![
                ("propagated", Some("behind the quantized layers before them")),
                ("isolated", Some("in the float network")),
            ],
            // Designs are compared by the results of the network, which isolated layers do not have.
            Explore => vec![PROPAGATED],
            _ => vec![PROPAGATED, ("isolated", Some("exact activations"))],
        },
        default: |_| Some(Mode::default().name().into()),
        axis: Some(|variant, value| { variant.settings.mode = Mode::read(value)?; Ok(()) }),
        ..row(Commands::of(&[Run, Sweep, Size, Explore, Vectors, Quantize]))
    };
    /// Overrides of the accelerator.
    set: Vec<String> = "set", Row {
        value: "KEY=VALUE",
        in_study: InStudy::Setting,
        study_help: "Overrides of the accelerator: dotted keys with their values, e.g. `accumulation.acc.bits: 12`.",
        listed: true,
        help: |_| "Override a key of the accelerator, e.g. accumulation.acc.bits=12. May be repeated".into(),
        ..row(SETS)
    };
    /// How much is counted.
    stats: Option<StatsLevel> = "stats", Row {
        value: "STATS",
        in_study: InStudy::Setting,
        listed: true,
        help: |command| {
            let default = match command {
                Sweep => "events in propagated mode, full in isolated mode",
                Run => "full",
                _ => "none",
            };
            format!("How much to count [default: {default}]")
        },
        choices: |_| vec![("none", None), ("events", None), ("values", Some("all but events")), ("full", None)],
        ..row(Commands::of(&[Run, Sweep, Explore]))
    };
    /// Another requantization scheme.
    requantize: Option<Scheme> = "requantize", Row {
        value: "SCHEME",
        in_study: InStudy::Setting,
        help: |_| "Requantization scheme to use instead of the model's own".into(),
        choices: |_| Scheme::ALL.iter().map(|scheme| (scheme.name(), None)).collect(),
        axis: Some(|variant, value| { variant.settings.sets.push(scheme_override(value)); Ok(()) }),
        ..row(RUNS)
    };
    /// The runtime whose results a network has.
    profile: Option<Profile> = "profile", Row {
        value: "NAME",
        in_study: InStudy::Setting,
        listed: true,
        help: |_| "Runtime whose results a TFLite network reproduces".into(),
        default: |_| Some(Profile::default().name().into()),
        axis: Some(|variant, value| { variant.settings.profile = Some(Profile::read(value)?); Ok(()) }),
        ..row(NETWORKS)
    };
    /// Tensors that become inputs.
    from: Vec<String> = "from", Row {
        value: "TENSOR",
        python: PythonName::As("from_"),
        in_study: InStudy::Setting,
        study_help: "Tensor that becomes an input of the network, or a list of tensors; operations that only \
                     compute it are left out.",
        help: |_| "Make this tensor an input of the network and leave out the operations that only compute \
                   it: a name in the file, or as `guardbit inspect` prints it. May be repeated".into(),
        ..row(EVERY)
    };
    /// Tensors that become outputs.
    to: Vec<String> = "to", Row {
        value: "TENSOR",
        in_study: InStudy::Setting,
        study_help: "Tensor that becomes the output of the network, or a list of tensors; later operations \
                     are left out.",
        help: |_| "Make this tensor the output of the network and leave out later operations, supported or \
                   not. May be repeated".into(),
        ..row(EVERY)
    };
    /// Lengths of open axes.
    dim: Vec<Dim> = "dim", Row {
        value: "AXIS=LENGTH",
        in_study: InStudy::Setting,
        study_help: "Lengths of axes that an ONNX file leaves open, by their names, or as INPUT:PLACE: `{tokens: 128}`.",
        help: |_| "Length of an axis that an ONNX file leaves open: by its name, e.g. tokens=128, or as INPUT:PLACE, e.g. x:1=128. \
                   May be repeated".into(),
        ..row(DIMS)
    };
    /// How many events are listed.
    events: Option<usize> = "events", Row {
        value: "N",
        in_study: InStudy::Setting,
        listed: true,
        help: |_| "Number of events per layer in events.csv: the first N".into(),
        default: |_| Some(DEFAULT_EVENTS.to_string()),
        ..row(Commands::of(&[Run]))
    };
    /// Cost models.
    cost: Vec<String> = "cost", Row {
        listed: true,
        value: "NAME|FILE",
        help: |command| match command {
            Explore => "Cost model: a name (see `guardbit hw costs`), or a YAML file; append @16nm to \
                        scale it to 16 nm. If repeated, the first one with energies and the first one with \
                        areas count [default: aladdin-40nm]".into(),
            _ => "Estimate energy and area with a cost model: a name (see `guardbit hw costs`), or a YAML \
                  file; append @16nm to scale it to 16 nm. May be repeated".into(),
        },
        ..row(COSTS)
    };
    /// In what files tables are written.
    format: Option<TableFormat> = "format", Row {
        value: "FORMAT",
        beside_study: true,
        help: |_| "Table format".into(),
        choices: |_| vec![("csv", None), ("parquet", Some("in addition to CSV"))],
        default: |_| Some("csv".into()),
        ..row(Commands::of(&[Run, Sweep, Size]))
    };
    /// Whether every tensor is written.
    dump_tensors: bool = "dump_tensors", Row {
        python: PythonName::As("tensors"),
        listed: true,
        help: |_| "Write every tensor to tensors.npz".into(),
        ..row(Commands::of(&[Run]))
    };
    /// Whether the distribution of sums is counted.
    histograms: bool = "histograms", Row {
        listed: true,
        help: |_| "Count how the sums of every layer, level and channel are distributed: sum_histograms.csv, .npz and a plot".into(),
        ..row(Commands::of(&[Run]))
    };
    /// Layers of which every sum is written.
    dump_sums: Vec<String> = "dump_sums", Row {
        value: "LAYER,...",
        is_list: true,
        python: PythonName::As("sums"),
        listed: true,
        help: |_| "Write every exact and delivered sum of these layers, by name or index, to sums.npz".into(),
        ..row(Commands::of(&[Run]))
    };
    /// How ranges are chosen.
    method: Option<String> = "method", Row {
        value: "NAME",
        help: |_| "Method that chooses ranges".into(),
        default: |_| Some(QuantizeChoices::METHOD.into()),
        choices: |_| methods(),
        ..SETTING
    };
    /// How ranges of weights are chosen.
    weight_method: Option<String> = "weight_method", Row {
        value: "NAME",
        help: |_| "Method that chooses ranges of weights".into(),
        default: |_| Some(QuantizeChoices::METHOD.into()),
        choices: |_| methods_of_tensors(),
        ..SETTING
    };
    /// Codes of weights.
    weights: Option<String> = "weights", Row {
        value: "CODES",
        help: |_| format!("Codes of weights: {}", weight_codes()),
        default: |_| Some(QuantizeChoices::WEIGHTS.into()),
        ..SETTING
    };
    /// Codes of activations.
    activations: Option<String> = "activations", Row {
        value: "CODES",
        help: |_| format!("Codes of activations: {}", activation_codes()),
        default: |_| Some(QuantizeChoices::ACTIVATIONS.into()),
        ..SETTING
    };
    /// One scale for all weights of a layer.
    per_tensor: bool = "per_tensor", Row {
        help: |_| "Use one scale for all weights of a layer".into(),
        ..SETTING
    };
    /// One scale per channel.
    per_channel: bool = "per_channel", Row {
        in_python: false,
        help: |_| "Use one weight scale per output channel: the default".into(),
        ..row(QUANTIZE)
    };
    /// Symmetric activations.
    symmetric: bool = "symmetric", Row {
        help: |_| "Put real 0 of activations in the middle of the codes".into(),
        ..SETTING
    };
    /// Asymmetric activations.
    asymmetric: bool = "asymmetric", Row {
        in_python: false,
        help: |_| "Allow any zero point of activations: the default".into(),
        ..row(QUANTIZE)
    };
    /// Weights with any zero point.
    asymmetric_weights: bool = "asymmetric_weights", Row {
        help: |_| "Allow any zero point of weights".into(),
        ..SETTING
    };
    /// Weights from the least code on.
    full_range: bool = "full_range", Row {
        help: |_| "Use all codes of signed weights, from -128 on; without it from -127 on".into(),
        ..SETTING
    };
    /// Scales that are powers of two.
    power_of_two: bool = "power_of_two", Row {
        help: |_| "Use scales that are powers of two".into(),
        ..SETTING
    };
    /// Other settings for layers.
    layers: Vec<String> = "layer", Row {
        value: "LAYER:SETTINGS",
        python: PythonName::As("layers"),
        listed: true,
        help: |_| "Settings for one layer by its name, or for a class of layers (conv, pointwise, depthwise, grouped, dense, \
                   matmul), e.g. depthwise:weights=int6, NAME:float or NAME:per-tensor,activations=uint8. May be repeated".into(),
        ..row(QUANTIZE)
    };
    /// The budget of mixed widths.
    mixed: Option<MixedBudget> = "mixed", Row {
        value: "BUDGET",
        listed: true,
        help: |_| "Choose the widths of weights and activations layer by layer, from 8x16 down to 4x4 bits, within a budget: \
                   agreement=1% (calibration samples that may get another class), sqnr=30 (dB), bytes=20000 or bits=16 \
                   (accumulator that cannot overflow)".into(),
        ..row(QUANTIZE)
    };
    /// Cross-layer equalization.
    equalize: bool = "equalize", Row {
        help: |_| "Balance the ranges of weights between convolutions that follow each other (cross-layer equalization)".into(),
        ..SETTING
    };
    /// Whether functions are parts.
    inline_functions: bool = "inline_functions", Row {
        help: |_| "Split hard-swish into a hard-sigmoid and a product, each with its own codes, as ONNX Runtime's quantizer does, \
                   instead of one table".into(),
        ..SETTING
    };
    /// Bias correction.
    correct_bias: bool = "correct_bias", Row {
        help: |_| "Add the mean error of every layer's sums over the calibration samples to its bias".into(),
        ..SETTING
    };
    /// The least SQNR of a layer.
    least_sqnr: Option<f64> = "least_sqnr", Row {
        value: "DB",
        listed: true,
        help: |_| "Leave a layer in float if its own quantization has a lower signal to noise ratio".into(),
        ..row(QUANTIZE)
    };
    /// Dynamic quantization.
    dynamic: bool = "dynamic", Row {
        listed: true,
        help: |_| "Quantize dynamically: weights get codes now, activations get a scale and a zero point from each input at run time. \
                   --calibration then only provides the samples on which the network is measured".into(),
        ..row(QUANTIZE)
    };
    /// A folder of finished points or layers.
    cache: Option<PathBuf> = "cache", Row {
        value: "DIR",
        beside_study: true,
        help: |command| match command {
            Quantize => "Reuse finished layers and networks of a search from this folder, and add new \
                         ones: an interrupted search continues. Several commands may use it at once".into(),
            _ => "Share points with other sweeps in this folder: points in the folder are not run again; \
                  results stay byte-equal".into(),
        },
        ..row(Commands::of(&[Sweep, Quantize]))
    };
    /// A folder for tables of a quantization.
    report: Option<PathBuf> = "report", Row {
        value: "DIR",
        help: |_| "Folder for tables, plots and a page; created only when all are complete".into(),
        ..row(QUANTIZE)
    };
    /// A file for a timeline.
    trace: Option<PathBuf> = "trace", Row {
        value: "FILE",
        help: |_| "Write a timeline of one inference as Chrome trace JSON, which Perfetto opens; an existing trace is kept \
                   unless --force is given".into(),
        ..row(Commands::of(&[Run]))
    };
    /// The column along a plot.
    plot_x: Option<String> = "x", Row {
        value: "COLUMN",
        in_python: false,
        help: |_| "Axis or column along the plot: an axis of the study by its key or the last parts of it, or a column of the \
                   table [default: bits; index, i.e. the layers, for runs and sizings]".into(),
        ..row(PLOT)
    };
    /// The column that a plot shows.
    plot_y: Option<String> = "y", Row {
        value: "COLUMN",
        in_python: false,
        help: |_| "Column that the plot shows: any column of numbers in summary.csv of a sweep, points.csv of an exploration, layers.csv \
                   of a run or size_levels.csv of a sizing [default: accuracy, or without labels top1_agreement or \
                   output_mismatch; events of a run; bits_recommended of a sizing]".into(),
        ..row(PLOT)
    };
    /// The columns that distinguish curves.
    plot_by: Vec<String> = "by", Row {
        value: "LIST",
        is_list: true,
        in_python: false,
        help: |_| "Axes and columns whose values distinguish the curves; also folder, model and hw [default: folder if there are several]".into(),
        ..row(PLOT)
    };
    /// The file of a plot.
    plot_file: Option<PathBuf> = "output", Row {
        value: "FILE",
        short: Some('o'),
        in_python: false,
        help: |_| "The picture: a file that ends in .svg, .pdf or .png. Its table is written next to it, as .csv. Without it the table \
                   is printed; existing files are kept unless --force is given".into(),
        ..row(PLOT)
    };
    /// The report of a comparison.
    compare_file: Option<PathBuf> = "output", Row {
        value: "FILE",
        short: Some('o'),
        in_python: false,
        help: |_| "Write a report to this .html file in addition; an existing file is kept unless --force is given".into(),
        ..row(COMPARE)
    };
    /// Where plots are shown.
    plot_style: Option<Medium> = "plot_style", Row {
        value: "STYLE",
        beside_study: true,
        help: |_| "Style of plots in files; a report always has plots for a screen".into(),
        default: |_| Some("screen".into()),
        choices: |command| vec![
            ("screen", Some("960 pixels wide")),
            ("paper", Some(match command {
                Plot => "85 mm wide, letters of 8 pt, no title",
                _ => "85 mm wide, letters of 8 pt, no title, and PDF files in addition",
            })),
            ("slides", Some("240 mm wide, letters of 16 pt")),
        ],
        ..row(PLOTS)
    };
    /// The size of plots.
    plot_size: Option<PlotSize> = "plot_size", Row {
        value: "SIZE",
        beside_study: true,
        help: |_| "Width of plots, or WIDTHxHEIGHT, e.g. 85mm, 3.3in or 85x60mm [default: by --plot-style]".into(),
        ..row(PLOTS)
    };
    /// The letters of plots.
    plot_font: Option<PlotFont> = "plot_font", Row {
        value: "SIZE",
        beside_study: true,
        help: |_| "Size of the letters along the axes of plots, e.g. 8pt; other letters are in proportion [default: by --plot-style]".into(),
        ..row(PLOTS)
    };
    /// Whether plots have a title.
    plot_title: Option<OnOff> = "plot_title", Row {
        value: "on|off",
        beside_study: true,
        help: |_| "Whether plots have a title and a line below it [default: by --plot-style]".into(),
        ..row(PLOTS)
    };
    /// Whether plots are made.
    plots: Option<bool> = "plots", Row {
        on_command_line: false,
        help: |_| "Write plots".into(),
        ..row(TABLES)
    };
    /// Whether there is a page.
    page: Option<bool> = "report", Row {
        on_command_line: false,
        help: |_| "Write report.html".into(),
        ..row(TABLES)
    };
    /// Whether float layers with quantized weights are an error.
    strict: bool = "strict", Row {
        beside_study: true,
        in_python: false,
        help: |command| {
            let written = if command == Inspect { "" } else { "; results are still written" };
            format!("Exit with code 1 if the host computes a layer in floating point although the file has quantized weights for it{written}")
        },
        ..row(Commands::of(&[Run, Sweep, Size, Explore, Inspect]))
    };
    /// The quantized network.
    network: Option<PathBuf> = "output", Row {
        needed: QUANTIZE,
        value: "OUT.onnx",
        short: Some('o'),
        python: PythonName::As("out"),
        help: |_| "The quantized network; an existing file is kept unless --force is given".into(),
        ..row(QUANTIZE)
    };
    /// The folder for results.
    output_dir: Option<PathBuf> = "output_dir", Row {
        needed: OUTPUTS,
        value: "DIR",
        short: Some('o'),
        python: PythonName::As("out"),
        beside_study: true,
        help: |command| match command {
            Sweep => "Output folder; an interrupted sweep continues. Without it no file is kept".into(),
            Explore => "Output folder; an interrupted exploration continues. Without it no file is kept".into(),
            Demo => "Folder of the study [default: guardbit-demo]".into(),
            Run | Size | Discriminate => "Output folder; created only when all results are complete. Without it no file is kept".into(),
            _ => "Output folder; created only when all results are complete".into(),
        },
        ..row(Commands::of(&[Run, Sweep, Merge, Size, Explore, Vectors, Demo, Discriminate]))
    };
    /// Whether the report is opened.
    open: bool = "open", Row {
        beside_study: true,
        in_python: false,
        help: |command| match command {
            Demo => "Open the report in a browser",
            _ => "Open the report in a browser. Without --output-dir, the results are kept in a new folder of the system's \
                  temporary files, whose path is printed",
        }.into(),
        ..row(Commands::of(&[Run, Sweep, Size, Explore, Demo]))
    };
    /// Whether tables have every row.
    all: bool = "all", Row {
        beside_study: true,
        in_python: false,
        help: |_| "Print every row and column of the tables, with exact numbers, whatever the width of the terminal".into(),
        ..row(Commands::of(&[Run, Sweep, Merge, Size, Explore, Quantize, Demo, Discriminate, Compare]))
    };
    /// Folders of results.
    folders: Vec<PathBuf> = "folders", Row {
        needed: FOLDERS,
        value: "DIR",
        is_positional: true,
        at_least: |command| if command == Compare { 2 } else { 1 },
        help: |command| match command {
            Merge => "Folders of all shards of one sweep, in any order",
            Status => "Folders of sweeps or of their shards",
            Plot => "Folders with finished results: runs, sweeps, sizings or explorations, of one network or several",
            _ => "Folders with finished results of one command, two or more",
        }.into(),
        ..row(FOLDERS)
    };
    /// Whether points may be missing.
    partial: bool = "partial", Row {
        help: |_| "Merge the finished points even if some are missing; `guardbit sweep` can complete the merged folder".into(),
        ..row(Commands::of(&[Merge]))
    };
    /// A bundle of test vectors.
    bundle: Option<PathBuf> = "bundle", Row {
        needed: CHECK,
        value: "DIR",
        is_positional: true,
        help: |_| "The bundle: a folder of `guardbit vectors`".into(),
        ..row(CHECK)
    };
    /// A folder of whole layers.
    images: Option<PathBuf> = "images", Row {
        needed: DIFF_LAYER,
        value: "DIR",
        is_positional: true,
        help: |_| "The images: a folder of `guardbit vectors --whole`".into(),
        ..row(DIFF_LAYER)
    };
    /// The output of a design.
    dut_ofm: Option<PathBuf> = "dut_ofm", Row {
        needed: DIFF_LAYER,
        value: "FILE",
        is_positional: true,
        help: |_| "The output image that the design wrote, with the words of the layer's `ofm.mem`".into(),
        ..row(DIFF_LAYER)
    };
    /// The sums of a design.
    dut_sums: Option<PathBuf> = "sums", Row {
        value: "FILE",
        help: |_| "Also compare the sums of the design, with the words of the layer's `sum.mem`".into(),
        ..row(DIFF_LAYER)
    };
    /// What replays it.
    simulator: Vec<String> = "simulator", Row {
        value: "LIST",
        is_list: true,
        help: |_| "Simulators for the replay".into(),
        default: |_| Some("none".into()),
        choices: |_| vec![
            ("none", Some("only recompute every expected value")),
            ("icarus", Some("Icarus Verilog")),
            ("verilator", Some("Verilator")),
            ("ghdl", Some("GHDL")),
            ("all", Some("all of them")),
        ],
        ..row(CHECK)
    };
    /// Whether faults are replayed.
    mutate: bool = "mutate", Row {
        help: |_| "Also replay built-in faults (mutants), in Icarus if no simulator is given; each must be detected".into(),
        ..row(CHECK)
    };
    /// A design of the user.
    dut: Vec<PathBuf> = "dut", Row {
        value: "FILE",
        help: |_| "Replay your own design instead of the reference design; repeat for several files, in the order of compilation. It runs \
                   with your rights".into(),
        ..row(CHECK)
    };
    /// Its top module.
    top: Option<String> = "top", Row {
        value: "NAME",
        help: |_| "Top module of --dut".into(),
        default: |_| Some("gb_dut".into()),
        ..row(CHECK)
    };
    /// Its ports.
    dut_profile: Option<String> = "profile", Row {
        value: "PROFILE",
        help: |_| "Ports of --dut, which are those that are compared".into(),
        default: |_| Some("full".into()),
        choices: |_| vec![
            ("full", Some("all ports of gb_dut: accumulators, flags, sums, codes")),
            ("sums", Some("operands and bias in, sums out")),
            ("codes", Some("in addition to sums, multipliers in and codes out")),
            ("raw", Some("as codes, with raw codes and zero points in instead of operands")),
            ("stream", Some("beats in, sums and codes out, each with valid and ready")),
            ("axis", Some("as stream, by AXI4-Stream")),
        ],
        ..row(CHECK)
    };
    /// Its latency.
    latency: Option<String> = "latency", Row {
        value: "contract|any|N",
        help: |_| "Latency of --dut: that of the manifest, any, or N cycles from a beat to the accumulators and sums with it".into(),
        default: |_| Some("contract".into()),
        ..row(CHECK)
    };
    /// Runs with idle cycles and resets.
    seeds: Option<usize> = "seeds", Row {
        value: "N",
        help: |_| "Runs of --dut with idle cycles and resets at random places, each with another seed; 0 leaves them out".into(),
        default: |_| Some("1".into()),
        ..row(CHECK)
    };
    /// Number of faults in the user's design.
    mutate_dut: Option<usize> = "mutate-dut", Row {
        value: "N",
        help: |_| "Also replay N changed copies of --dut, made by Yosys, each with one cell changed, and list those that pass, with \
                   their lines and the cases that come nearest to a difference; they do not affect the exit code".into(),
        ..row(CHECK)
    };
    /// Cases that are left out.
    without: Vec<String> = "without", Row {
        value: "LIST",
        is_list: true,
        help: |_| "Skip the cases that need one of these of --dut".into(),
        choices: |_| vec![
            ("clear_mid", Some("a dot product is cut off by the next one")),
            ("bubble", Some("cycles without a beat within a dot product; idle cycles of --seeds remain")),
            ("short", Some("fewer products than the layer's dot products have")),
            ("keep", Some("a beat with unused lanes")),
            ("overflow", Some("an accumulator overflows")),
            ("product_overflow", Some("the multiplier's register overflows")),
            ("bias_overflow", Some("an overflow where the bias is loaded or added")),
            ("exp>0", Some("the multiplier shifts to the left")),
        ],
        ..row(CHECK)
    };
    /// A JUnit file.
    junit: Option<PathBuf> = "junit", Row {
        value: "FILE",
        help: |_| "Write the result as a JUnit file (.xml), with a test case for each case of the bundle and each replay; an existing \
                   file is kept unless --force is given".into(),
        ..row(CHECK)
    };
    /// A folder to work in.
    work: Option<PathBuf> = "work", Row {
        value: "DIR",
        help: |_| "Keep the build and run files in this folder, which must be absent or empty; --force replaces the folder of \
                   an earlier check".into(),
        ..row(CHECK)
    };
    /// A limit of time.
    timeout: Option<Seconds> = "timeout", Row {
        value: "SECONDS",
        help: |_| "Stop a simulator whose build or run takes longer".into(),
        default: |_| Some(DEFAULT_TIMEOUT.to_string()),
        ..row(CHECK)
    };
    /// Settings that candidates vary.
    any: Vec<String> = "any", Row {
        value: "SETTINGS",
        is_list: true,
        help: |_| "Vary settings of one accelerator; each further setting multiplies the candidates".into(),
        choices: |_| Unknown::ALL.map(|unknown| (unknown.name(), Some(unknown.about()))).into(),
        ..row(DISCRIMINATE)
    };
    /// Products of an input.
    terms: Option<usize> = "terms", Row {
        value: "N",
        help: |_| "Number of products of an input; of a shorter one, the remaining weights are 0".into(),
        default: |_| Some(DEFAULT_TERMS.to_string()),
        ..row(DISCRIMINATE)
    };
    /// Codes of activations.
    activation: Option<CodeType> = "activation", Row {
        value: "TYPE[:ZERO_POINT]",
        help: |_| "Type of the activations' codes, and their zero point, e.g. uint8:128".into(),
        default: |_| Some("int8:0".into()),
        ..row(DISCRIMINATE)
    };
    /// Codes of weights.
    weight: Option<CodeType> = "weight", Row {
        value: "TYPE[:ZERO_POINT]",
        help: |_| "Type of the weights' codes, and their zero point".into(),
        default: |_| Some("int8:0".into()),
        ..row(DISCRIMINATE)
    };
    /// Width of biases.
    bias_bits: Option<usize> = "bias_bits", Row {
        value: "BITS",
        help: |_| "Width of the bias that an input may have; 0 if the device has none".into(),
        default: |_| Some(DEFAULT_BIAS_BITS.to_string()),
        ..row(DISCRIMINATE)
    };
    /// Sums of a device.
    observed: Vec<String> = "observed", Row {
        value: "SUMS",
        in_python: false,
        is_list: true,
        help: |_| "Sums that a device returned for the inputs of the table, in order, e.g. 8191,-4,16129; `?` for one that is not \
                   known".into(),
        ..row(DISCRIMINATE)
    };
    /// Passes over the network.
    pass: Vec<String> = "pass", Row {
        value: "NAME",
        help: |_| "Also print the network after this pass; if repeated, after all of them, in order".into(),
        choices: |_| PASSES.iter().map(|pass| (pass.name(), Some(pass.description()))).collect(),
        ..row(INSPECT)
    };
    /// Whether operations are printed in full.
    nodes: bool = "nodes", Row {
        help: |_| "Print everything that determines the codes of each operation: types, scales, zero points and ranges of all \
                   operands, accumulator, bias, requantization and clamp (--json always includes it)".into(),
        ..row(INSPECT)
    };
    /// Whether decisions are printed.
    audit: bool = "audit", Row {
        help: |_| "Print what happened to every node of the file, and why: what the reader, the passes and (with --hw) partition and \
                   lowering kept, changed, dropped, or left to the host or in floating point".into(),
        ..row(INSPECT)
    };
    /// A file for the network.
    export: Option<PathBuf> = "export", Row {
        value: "FILE",
        help: |_| "Write the network after the passes, as an ONNX file (.onnx) that ONNX Runtime runs with equal results, or as graph \
                   YAML (.yaml) with its weights as .npy files in a folder next to it".into(),
        ..row(INSPECT)
    };
    /// One accelerator.
    accelerator: Option<String> = "hw", Row {
        needed: ACCELERATORS,
        value: "HW",
        is_positional: true,
        help: |_| "The accelerator: a preset's name (see `guardbit hw list`) or a YAML file".into(),
        ..row(ACCELERATORS)
    };
    /// One cost model.
    cost_model: Option<String> = "model", Row {
        value: "MODEL",
        is_positional: true,
        help: |_| "Print the figures of this cost model: a name, or a YAML file; append @16nm to scale it to 16 nm [default: \
                   list all models]".into(),
        ..row(Commands::of(&[HwCosts]))
    };
    /// A network that an accelerator is checked for.
    checked_network: Option<PathBuf> = "model", Row {
        value: "MODEL",
        help: |_| format!("Also check the accelerator for this network, and print how doubling each resource changes its cycles: {}", network_files()),
        ..row(Commands::of(&[HwCheck]))
    };
    /// A shell.
    shell: Option<String> = "shell", Row {
        needed: COMPLETIONS,
        value: "SHELL",
        is_positional: true,
        help: |_| "The shell".into(),
        choices: |_| ["bash", "elvish", "fish", "powershell", "zsh"].map(|name| (name, None)).into(),
        ..row(COMPLETIONS)
    };
    /// A folder for man pages.
    pages: Option<PathBuf> = "pages", Row {
        needed: MAN,
        value: "DIR",
        is_positional: true,
        help: |_| "Folder for the pages; other files in it stay as they are".into(),
        ..row(MAN)
    };
    /// A diagnostic code.
    code: Option<String> = "code", Row {
        value: "CODE",
        is_positional: true,
        help: |_| "The code of a message, e.g. guardbit::hw::bits, or its last parts: hw::bits [default: list all codes]".into(),
        ..row(EXPLAIN)
    };
    /// A topic of the help.
    topic: Vec<String> = "topic", Row {
        value: "TOPIC",
        is_positional: true,
        at_least: |_| 0,
        help: |_| "A topic or a command [default: list all topics and commands]".into(),
        ..row(HELP)
    };
}
