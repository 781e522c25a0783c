//! Errors of studies.

use std::io;
use std::path::{Path, PathBuf};

use guardbit_documents::FilePlace;
use guardbit_files::FolderError;
use guardbit_frontends::{ExportError, FrontendError, network_files};
use guardbit_graph::{Brief, CodeType};
use guardbit_hwmodels::{HwError, LowerError};
use guardbit_quantize::QuantizeError;
use guardbit_reports::{ReportError, counted, number};
use guardbit_sim::SimError;

use crate::{AxisError, MAX_POINTS, MergeError, Misuse};

/// Reason why a run, a sweep or another study fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// Error of the network file.
    #[error(transparent)]
    Model(#[from] FrontendError),
    /// Error of the accelerator.
    #[error(transparent)]
    Hw(#[from] HwError),
    /// Error of lowering the network onto the accelerator.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// Error of the simulation.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// Error of the results.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// Parquet tables, requested or in an existing folder, in a build without the feature `parquet`.
    #[error("cannot write the Parquet tables of {}: this build does not write Parquet", out.display())]
    NoParquet {
        /// Folder of the tables.
        out: PathBuf,
    },
    /// Error of the arguments.
    #[error(transparent)]
    Arguments(#[from] Misuse),
    /// Error of the study file.
    #[error("{}:{}:{}: {message}", place.file, place.line, place.column)]
    StudyFile {
        /// Place of the problem.
        place: Box<FilePlace>,
        /// Description of the problem.
        message: String,
        /// Advice on a fix.
        help: String,
        /// Name of the kind of error: see [`StudyError::code`].
        code: &'static str,
    },
    /// Budget that no network of mixed widths meets.
    #[error("no network of mixed widths is within the budget {budget}; the closest one has {nearest}")]
    MixedBudget {
        /// The budget.
        budget: String,
        /// Nearest value reached.
        nearest: String,
    },
    /// Invalid axes, or a value that an argument cannot have.
    #[error(transparent)]
    Axis(#[from] AxisError),
    /// Sweep that varies nothing.
    #[error("the sweep varies nothing")]
    NothingVaried,
    /// Grid that is too large.
    #[error("the sweep has {points} points; expected at most {MAX_POINTS}")]
    TooManyPoints {
        /// Number of points of the grid.
        points: usize,
    },
    /// File that cannot be read.
    #[error("{}: {} cannot be read: {source}", path.display(), wanted.name())]
    Read {
        /// The file.
        path: PathBuf,
        /// Expected contents of the file.
        wanted: Wanted,
        /// Error of the operating system.
        source: io::Error,
    },
    /// More random samples than allowed.
    #[error("{asked} random samples of {codes} codes each are too many; expected at most {allowed}")]
    TooManyRandom {
        /// Requested number of samples.
        asked: usize,
        /// Maximum number of samples.
        allowed: usize,
        /// Codes per sample.
        codes: usize,
    },
    /// File without a usable array.
    #[error("{}: {problem}", path.display())]
    Array {
        /// The file.
        path: PathBuf,
        /// Description of the problem.
        problem: String,
        /// Advice on a fix.
        help: &'static str,
    },
    /// Archive without an array for an input.
    #[error("{}: no array has the name `{input}`", path.display())]
    MissingInput {
        /// The file.
        path: PathBuf,
        /// The input.
        input: String,
        /// All inputs of the network.
        inputs: Vec<String>,
    },
    /// Samples of a wrong dtype.
    #[error("{}: input `{input}`: expected {}, found {found}", path.display(), values_of(expected))]
    InputDType {
        /// The file.
        path: PathBuf,
        /// The input.
        input: String,
        /// Dtype found in the file.
        found: &'static str,
        /// Dtype of the input's codes.
        expected: &'static str,
    },
    /// Samples of a wrong shape.
    #[error("{}: input `{input}`: expected shape [n, {}], found {}", path.display(), sizes(expected), Brief(found))]
    InputShape {
        /// The file.
        path: PathBuf,
        /// The input.
        input: String,
        /// Shape found in the file.
        found: Vec<usize>,
        /// Shape of one sample.
        expected: Vec<usize>,
    },
    /// Code that the input cannot hold.
    #[error("{}: code {code} is outside {ty}", path.display())]
    CodeRange {
        /// The file.
        path: PathBuf,
        /// The code.
        code: i64,
        /// Codes that the input can hold.
        ty: CodeType,
    },
    /// No samples to run.
    #[error("there are no samples to run")]
    NoSamples,
    /// Fewer samples than requested.
    #[error(
        "{}: {} requested, but the file has {available}",
        path.display(),
        counted(*asked as u64, "sample") + number(*asked as u64, " was", " were")
    )]
    TooFewSamples {
        /// The file.
        path: PathBuf,
        /// Requested number of samples.
        asked: usize,
        /// Available number of samples.
        available: usize,
    },
    /// Samples that do not start at the beginning of a stream.
    #[error("{}: cannot draw samples with a seed, because `{model}` has states: its samples are steps of one \
             stream", path.display())]
    StepsLeftOut {
        /// The file.
        path: PathBuf,
        /// The network.
        model: String,
    },
    /// Network that cannot be quantized because it hands on codes between steps of a stream.
    #[error("`{model}` has states, so it cannot be quantized")]
    QuantizedStates {
        /// The network.
        model: String,
    },
    /// Labels that do not match the samples.
    #[error("{}: {problem}", path.display())]
    Labels {
        /// The file.
        path: PathBuf,
        /// Description of the problem.
        problem: String,
    },
    /// Output that the network does not have.
    #[error("the network has no output `{name}`")]
    UnknownOutput {
        /// The name.
        name: String,
        /// Existing outputs.
        outputs: Vec<String>,
    },
    /// Output that cannot be scored as an anomaly detector.
    #[error("output `{name}` of shape {} cannot be scored as an anomaly detector", Brief(shape))]
    NoDetector {
        /// The output.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// Labels or a task with several outputs and no selected one.
    #[error("the network has several outputs, and it is unknown to which one the labels belong")]
    AmbiguousOutput {
        /// Existing outputs.
        outputs: Vec<String>,
    },
    /// Level that the accelerator does not have.
    #[error("`{hw}` has no accumulation level `{level}`")]
    UnknownLevel {
        /// The accelerator.
        hw: String,
        /// The level.
        level: String,
        /// Existing levels.
        levels: Vec<String>,
    },
    /// No level given, and not exactly one candidate.
    #[error("`{hw}` has {} accumulation levels with a width; the level to sweep is ambiguous", levels.len())]
    AmbiguousLevel {
        /// The accelerator.
        hw: String,
        /// The levels with a width.
        levels: Vec<String>,
    },
    /// Network of which the accelerator runs no operation.
    #[error(
        "`{hw}` runs no operation of `{model}`, so there is no accumulator to vary or size{}",
        listed(host)
    )]
    NothingOffloaded {
        /// The accelerator.
        hw: String,
        /// The network.
        model: String,
        /// Sentences on the MAC layers that run on the host, by reason.
        host: Vec<String>,
    },
    /// Network of which the accelerator runs only layers that it adds by floating-point additions or in a fixed-point
    /// register.
    #[error(
        "`{hw}` aligns no terms of `{model}`, and runs no layer of integer codes: there is nothing to size"
    )]
    NothingToSize {
        /// The accelerator.
        hw: String,
        /// The network.
        model: String,
    },
    /// Network of which the accelerator runs only layers of floating-point codes.
    #[error(
        "`{hw}` adds all layers of `{model}` in floating point: they have no integer accumulator to explore"
    )]
    OnlyFloat {
        /// The accelerator.
        hw: String,
        /// The network.
        model: String,
    },
    /// Layer of floating-point codes.
    #[error("layer `{layer}` adds floating-point products on `{hw}`; expected a layer of integer codes")]
    FloatLayer {
        /// Name or index as given.
        layer: String,
        /// The accelerator.
        hw: String,
    },
    /// Layer that the accelerator does not run.
    #[error("layer `{layer}` ({op}) runs on the host, not on `{hw}`")]
    HostLayer {
        /// Name or index as given.
        layer: String,
        /// Name of its operation.
        op: &'static str,
        /// The accelerator.
        hw: String,
    },
    /// Layer that the network does not have.
    #[error("the network has no layer `{layer}`")]
    UnknownLayer {
        /// Name or index as given.
        layer: String,
        /// Index and short name of accelerated layers with similar names.
        near: Vec<(usize, String)>,
    },
    /// Number that is both the name of a layer and the index of another.
    #[error("`{layer}` is ambiguous: it is the name of `{by_name}` and the index of `{by_index}`")]
    AmbiguousLayer {
        /// Number as given.
        layer: String,
        /// Short name of the layer with this name.
        by_name: String,
        /// Short name of the layer with this index.
        by_index: String,
    },
    /// Sums that do not fit an int64 archive.
    #[error("sums of layer `{layer}` come from an unsigned register of 64 bits, which int64 cannot hold")]
    WideSums {
        /// Short name of the layer.
        layer: String,
    },
    /// Accuracy budget without labels.
    #[error("an accuracy budget needs labels")]
    BudgetWithoutLabels,
    /// Accuracy budget for a task without accuracy.
    #[error("a budget of accuracy needs a classifier, but the task is `{task}`")]
    BudgetOfTask {
        /// Task of the network.
        task: &'static str,
    },
    /// Layer method that needs an accelerator, without one.
    #[error("method `{method}` needs an accelerator, because it chooses by the results of its accumulators")]
    MethodWithoutHw {
        /// The method.
        method: String,
    },
    /// Agreement budget without an output of class scores.
    #[error("an agreement budget needs an output of class scores")]
    BudgetWithoutClasses,
    /// Objective that no selected cost model provides.
    #[error("no selected cost model ({models}) provides `{what}`")]
    NoSuchCost {
        /// Name of the objective.
        what: &'static str,
        /// Selected models.
        models: String,
    },
    /// Results that cannot be compared.
    #[error("{problem}")]
    Compare {
        /// Description of the problem.
        problem: String,
    },
    /// Results that cannot be plotted.
    #[error("{problem}")]
    Plot {
        /// Description of the problem.
        problem: String,
    },
    /// Error of the synthesis tool.
    #[error("cannot determine areas: {problem}")]
    Area {
        /// Description of the problem.
        problem: String,
    },
    /// Error of the quantization.
    #[error(transparent)]
    Quantize(#[from] QuantizeError),
    /// Invalid setting of the quantizer.
    #[error("{setting}: {problem}")]
    QuantizeSetting {
        /// Setting as written.
        setting: String,
        /// Description of the problem.
        problem: String,
    },
    /// Path that cannot be used for the quantized network or its report.
    #[error("{}: {problem}", path.display())]
    QuantizeOutput {
        /// The path.
        path: PathBuf,
        /// Description of the problem.
        problem: &'static str,
    },
    /// Timeline whose path lies in the folder of results.
    #[error("{}: the timeline lies in the output folder, which is created when the run is complete", path.display())]
    TraceInside {
        /// The path.
        path: PathBuf,
    },
    /// Error when writing the quantized network.
    #[error("{}: {source}", path.display())]
    Export {
        /// The file.
        path: PathBuf,
        /// Reason of the error.
        source: ExportError,
    },
    /// Work that was cancelled: see [`Progress::is_cancelled`](crate::Progress::is_cancelled).
    #[error("interrupted")]
    Interrupted,
    /// Folders without a sweep, each with the reason.
    #[error("{}", .0.join("; "))]
    NoSweep(Vec<String>),
    /// Error of merging folders.
    #[error(transparent)]
    Merge(Box<MergeError>),
    /// Error of the output folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

/// Expected contents of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The network.
    Model,
    /// The samples.
    Samples,
    /// The labels.
    Labels,
    /// The study file.
    Study,
}

impl Wanted {
    fn name(self) -> &'static str {
        match self {
            Self::Model => "the network",
            Self::Samples => "the samples",
            Self::Labels => "the labels",
            Self::Study => "the study",
        }
    }

    /// Returns advice on which file was expected, and what such a file contains.
    fn help(self, path: &Path) -> String {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
        let holds = match self {
            Self::Model => &format!("a {} file", network_files()),
            Self::Samples => {
                "a .npy file, a .npz file with an array per input, or a folder of PNG files with a pictures.yaml"
            }
            Self::Labels => {
                "a .npy file with an integer per sample: its class, or 1 for an anomaly; for a regressor float32 values"
            }
            Self::Study => "a study in YAML; a network goes with --hw and --bits",
        };
        format!("looked for {}: {holds}", path.display())
    }
}

impl StudyError {
    /// Returns the error for a file that cannot be read.
    pub(crate) fn read(path: &Path, wanted: Wanted, source: io::Error) -> Self {
        Self::Read { path: path.into(), wanted, source }
    }

    /// Returns a stable name for this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Model(error) => error.code(),
            Self::Hw(error) => error.code(),
            Self::Lower(error) => error.code(),
            Self::Sim(SimError::Trap { .. }) => "guardbit::trap",
            Self::Sim(_) => "guardbit::sim",
            Self::Report(error) => error.code(),
            Self::NoParquet { .. } => "guardbit::study::parquet",
            Self::Arguments(_) => "guardbit::usage",
            Self::StudyFile { code, .. } => code,
            Self::MixedBudget { .. } => "guardbit::quantize::budget",
            Self::Axis(AxisError::NoPoint(_)) => "guardbit::study::no_point",
            Self::Axis(_) => "guardbit::study::axis",
            Self::NothingVaried => "guardbit::study::nothing",
            Self::TooManyPoints { .. } => "guardbit::study::points",
            Self::Read { .. } => "guardbit::study::read",
            Self::Array { .. } => "guardbit::input::array",
            Self::MissingInput { .. } => "guardbit::input::missing",
            Self::InputDType { .. } => "guardbit::input::dtype",
            Self::InputShape { .. } => "guardbit::input::shape",
            Self::CodeRange { .. } => "guardbit::input::range",
            Self::NoSamples => "guardbit::input::empty",
            Self::TooFewSamples { .. } | Self::TooManyRandom { .. } => "guardbit::input::samples",
            Self::StepsLeftOut { .. } => "guardbit::input::steps",
            Self::QuantizedStates { .. } => "guardbit::quantize::states",
            Self::Labels { .. } => "guardbit::labels",
            Self::NoDetector { .. } => "guardbit::output::task",
            Self::UnknownOutput { .. } | Self::AmbiguousOutput { .. } => "guardbit::output",
            Self::UnknownLevel { .. } | Self::AmbiguousLevel { .. } => "guardbit::sweep::level",
            Self::NothingOffloaded { .. } | Self::OnlyFloat { .. } | Self::NothingToSize { .. } => {
                "guardbit::lower::nothing"
            }
            Self::UnknownLayer { .. } | Self::HostLayer { .. } | Self::FloatLayer { .. } => "guardbit::layer",
            Self::AmbiguousLayer { .. } => "guardbit::layer_ambiguous",
            Self::BudgetWithoutLabels | Self::BudgetOfTask { .. } | Self::BudgetWithoutClasses => {
                "guardbit::size::budget"
            }
            Self::MethodWithoutHw { .. } => "guardbit::quantize::hw",
            Self::NoSuchCost { .. } => "guardbit::explore::cost",
            Self::Compare { .. } => "guardbit::compare",
            Self::Plot { .. } => "guardbit::plot",
            Self::WideSums { .. } => "guardbit::run::wide_sums",
            Self::TraceInside { .. } => "guardbit::run::trace",
            Self::Area { .. } => "guardbit::size::area",
            Self::Quantize(error) => error.code(),
            Self::QuantizeSetting { .. } => "guardbit::quantize::setting",
            Self::QuantizeOutput { .. } => "guardbit::quantize::output",
            Self::Export { source, .. } => source.code(),
            Self::Interrupted => "guardbit::interrupted",
            Self::NoSweep(_) => "guardbit::status::folder",
            Self::Merge(error) => error.code(),
            Self::Folder(error) => error.code(),
        }
    }

    /// Returns advice on a fix. Every error has one.
    pub fn help(&self) -> String {
        let advice = match self {
            Self::Model(error) => return error.help(),
            Self::Hw(error) => return error.help().into(),
            Self::Lower(error) => return error.help().into(),
            Self::Sim(error) => return error.help().into(),
            Self::Report(error) => return error.help().into(),
            Self::Arguments(misuse) => return misuse.help().into(),
            Self::StudyFile { help, .. } => return help.clone(),
            Self::Axis(error) => return error.help(),
            Self::Quantize(error) => return error.help(),
            Self::Merge(error) => return error.help().into(),
            Self::Folder(error) => return error.help(),
            Self::Read { path, wanted, .. } => return wanted.help(path),
            Self::Array { help, .. } => return (*help).into(),
            Self::MissingInput { inputs, .. } => return format!("the inputs are {}", inputs.join(", ")),
            Self::InputDType { expected: "float32", .. } => {
                "convert the array with `.astype(np.float32)`: real values as in training (pictures often \
                 divided by 255), not codes"
            }
            Self::InputDType { expected, .. } => {
                return format!(
                    "convert the array with numpy's `.astype`: {expected} for codes, float32 for real values"
                );
            }
            Self::InputShape { expected, .. } => {
                return format!(
                    "the first axis counts samples; a single sample has shape [1, {}]",
                    sizes(expected)
                );
            }
            Self::CodeRange { .. } => {
                "give codes in the range of the input, or float32 real values, which become codes"
            }
            Self::UnknownOutput { outputs, .. } => return format!("the outputs are {}", outputs.join(", ")),
            Self::AmbiguousOutput { outputs } => {
                return format!("name one with --output; the outputs are {}", outputs.join(", "));
            }
            Self::UnknownLevel { levels, .. } => return format!("the levels are {}", levels.join(", ")),
            Self::AmbiguousLevel { levels, .. } if levels.is_empty() => {
                "no level has a width: name one with --level, or vary another key with --axis, e.g. \
                 float_accumulation.fraction_bits=8..=25"
            }
            Self::AmbiguousLevel { levels, .. } => {
                return format!("name one with --level; the levels are {}", levels.join(", "));
            }
            Self::UnknownLayer { near, .. } if !near.is_empty() => {
                let names: Vec<_> = near.iter().map(|(index, name)| format!("{name} ({index})")).collect();
                return format!("layers with a similar name: {}", names.join(", "));
            }
            Self::MixedBudget { .. } => {
                "loosen the budget, or use --method guaranteed for narrow accumulators"
            }
            Self::NoParquet { .. } => {
                "build guardbit with the feature `parquet`, or write CSV only to another folder"
            }
            Self::NothingVaried => "give widths with --bits, or an axis with --axis KEY=VALUES",
            Self::TooManyPoints { .. } => {
                "split the sweep: use fewer networks, accelerators, widths or modes at a time"
            }
            Self::NoSamples => "give --input X.npy with at least one sample, or --random N with N above 0",
            Self::TooManyRandom { .. } => "use a smaller N for --random, or give a file with --input",
            Self::TooFewSamples { .. } => "use a smaller N for --samples, or leave it out to run all samples",
            Self::StepsLeftOut { .. } => "leave out --seed: --samples N takes the first N steps",
            Self::QuantizedStates { .. } => "give the float network without states",
            Self::Labels { .. } => LABELS,
            Self::NoDetector { .. } => {
                "a detector returns its only input in the same shape, or a single value; use --task \
                 classify to score classes"
            }
            Self::UnknownLayer { .. } => {
                "`guardbit inspect MODEL --hw HW` lists the layers, by index, short name and full name"
            }
            Self::OnlyFloat { .. } => {
                "find its fraction bits with `guardbit size`, or vary them with `guardbit sweep --axis \
                 float_accumulation.fraction_bits=8..=25`"
            }
            Self::NothingToSize { .. } => {
                "vary the format of the sums with `guardbit sweep --axis float_accumulation.result=float16,bfloat16,float32`"
            }
            Self::FloatLayer { .. } => {
                "`guardbit run` simulates layers of floating-point codes, and `guardbit vectors` without --whole exports them"
            }
            Self::HostLayer { .. } => {
                "name a layer that `guardbit inspect MODEL --hw HW` shows on the accelerator; it also prints why \
                 others run on the host"
            }
            Self::AmbiguousLayer { .. } => "write the short name of the layer",
            Self::BudgetWithoutClasses => "name the output with --output, or use a budget of mismatch",
            Self::BudgetWithoutLabels => "give --labels Y.npy, or use a budget of mismatch",
            Self::BudgetOfTask { .. } => "use a budget of mismatch",
            Self::MethodWithoutHw { .. } => {
                "name the accelerator with --hw; `guardbit hw list` lists the presets"
            }
            Self::NoSuchCost { .. } => {
                "name another one with --cost; `guardbit hw costs` lists what each cost model provides"
            }
            Self::WideSums { .. } => "leave out the layer from --dump-sums, or use 63 bits for its register",
            Self::Compare { .. } => {
                "`guardbit compare DIR DIR... -o FILE.html` takes finished folders of `run`, `sweep`, `size` or `explore`, all \
                 of the same command"
            }
            Self::Plot { .. } => {
                "`guardbit plot DIR... --x bits --y accuracy --by overflow -o FILE.svg` draws columns of finished results"
            }
            Self::Area { .. } => "install yosys on the PATH, or leave out --area",
            Self::NothingOffloaded { .. } => {
                "`guardbit inspect MODEL --hw HW` prints why each layer runs on the host: add its operation to `offload`, \
                 choose an accelerator that takes its codes, or quantize a float network with `guardbit quantize`"
            }
            Self::QuantizeSetting { .. } => "`guardbit help quantize` lists the settings",
            Self::TraceInside { .. } => "name a file next to the folder, e.g. --trace trace.json",
            Self::QuantizeOutput { .. } => {
                "name a file that ends in .onnx for the network, and a separate folder for the report"
            }
            Self::Export { .. } => {
                "name the layer with --layer NAME:float to leave it in float, or choose codes of 8 bits"
            }
            Self::Interrupted => {
                "run the command again: a sweep, an exploration or a search with --cache continues"
            }
            Self::NoSweep(_) => {
                "name folders that `guardbit sweep -o DIR` writes; a folder exists once its sweep has started"
            }
        };
        advice.into()
    }

    /// Returns the error with overrides of the accelerator called axes, unless they are among `given`, the
    /// overrides that all points share.
    pub fn of_axes(self, given: &[String]) -> Self {
        match self {
            Self::Hw(error) => Self::Hw(error.of_axes(given)),
            error => error,
        }
    }
}

/// Contents of a file of labels.
const LABELS: &str = "labels are a .npy file with one integer per sample, its class or 1 for an anomaly; for a \
                      regressor with float32 values in the shape of its output";

/// Returns the values that an input with codes of a dtype takes; float32 has no codes.
fn values_of(dtype: &str) -> String {
    match dtype {
        "float32" => "float32 values".into(),
        codes => format!("{codes} codes or float32 values"),
    }
}

fn sizes(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns sentences to append to a message.
fn listed(sentences: &[String]) -> String {
    sentences.iter().map(|sentence| format!("; {sentence}")).collect()
}
