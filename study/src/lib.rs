//! Complete tasks: runs, sweeps, study files, samples and labels.
//!
//! [`run`](run()), [`sweep`](sweep()) and [`size`](size()) take a checked request, load everything that it
//! names, simulate, and write an output folder that is either complete or absent (a sweep is resumable).

mod arguments;
mod array;
mod axes;
mod bits;
mod candidates;
mod code_type;
mod compare;
mod costs;
mod doubled;
mod error;
mod execute;
mod explore;
mod identity;
mod labels;
mod layer_input;
mod pick;
mod plot;
mod point_store;
mod progress;
mod quantize;
mod registers;
mod result_json;
mod run;
mod sample_events;
mod samples;
mod schema;
mod score;
mod settings;
mod shard;
mod size;
mod spool;
mod study_file;
mod subject;
mod sums;
mod sweep;
mod unknown;
mod whole_input;

use guardbit_hwmodels::Accelerator;
use guardbit_reports::About;
use serde::Serialize;

pub use arguments::{
    Arguments, Command, Commands, GLOBAL_OPTIONS, GlobalOption, Kind, Misuse, ROWS, Row, Seconds, Shape, Zip,
    arguments_text, python_text,
};
pub use axes::{Axes, Axis, AxisError, Condition};
pub use bits::{BitList, BitListError};
pub use candidates::{Candidate, candidates};
pub use code_type::{CodeType, CodeTypeError};
pub use compare::{compare, write_comparison};
pub use doubled::sensitivity;
pub use error::{StudyError, Wanted};
pub use explore::{Objective, ObjectiveError, explore};
pub use guardbit_files::{Digest, DigestError, Existing};
pub use guardbit_reports::Task;
pub use identity::{DERIVATION, Identity};
pub use layer_input::{LayerInput, layer_input};
pub use pick::Pick;
pub use plot::{PlotRequest, Plotted, plot};
pub use progress::{Progress, Silent};
pub use quantize::{
    MOST_ACTIVATION_BITS, MOST_WEIGHT_BITS, MixedBudget, MixedBudgetError, OwnStatistic, QuantizeChoices,
    QuantizeRequest, activation_codes, parse_codes, parse_rule, quantize, weight_codes,
};
pub use run::{Observer, Seen, run, run_observed};
pub use samples::{InputSource, read_samples};
pub use schema::study_schema;
pub use settings::{
    ExploreRequest, MAX_POINTS, ReferenceRtl, RtlFiles, RunRequest, Settings, SizeRequest, SumsRequest,
    SweepRequest, TableFormat, default_sweep_stats,
};
pub use shard::{
    FolderStatus, MergeError, MissingPoint, Shard, ShardError, State, Status, SweepStatus, Unfinished, status,
};
pub use size::{AreaTool, Budget, BudgetError, Grid, size};
pub use study_file::{StudyText, load_study};
pub use sweep::{Merging, POINTS_TOGETHER, merge, merge_partial, sweep, sweep_observed};
pub use unknown::Unknown;
pub use whole_input::{WholeInput, whole_input};

use sweep::{point_file, predictions_file};

/// Default number of events listed per layer.
pub const DEFAULT_EVENTS: usize = 1000;
/// Default number of random samples, if no input is given.
pub const DEFAULT_RANDOM_SAMPLES: usize = 16;
/// Maximum number of threads: starting more fails on many systems.
pub const MOST_THREADS: usize = 1024;
/// Default number of dot products of real activations in a bundle of test vectors.
pub const DEFAULT_CASES: usize = 32;
/// Default number of products of an input of `guardbit discriminate`.
pub const DEFAULT_TERMS: usize = 256;
/// Default width of its biases.
pub const DEFAULT_BIAS_BITS: u32 = 32;
/// Seconds that `guardbit check` gives a simulator where nothing else is asked for.
pub const DEFAULT_TIMEOUT: u64 = 600;

/// Program that wrote a file.
#[derive(Debug, Clone, Copy, Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

const TOOL: Tool = Tool { name: "guardbit", version: env!("CARGO_PKG_VERSION") };

/// Returns a report's description of how its results were obtained.
fn about<'a>(
    settings: Vec<(&str, String)>,
    accelerators: impl IntoIterator<Item = &'a Accelerator>,
) -> About {
    let settings = settings.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
    let complete = |accelerator: &Accelerator| (accelerator.name.clone(), accelerator.commented_yaml());
    About {
        version: TOOL.version.into(),
        settings,
        accelerators: accelerators.into_iter().map(complete).collect(),
        ..About::default()
    }
}

/// Returns a manifest as a sealed file.
fn sealed(content: &impl Serialize) -> Vec<u8> {
    // Writing can fail only for maps with keys that are not strings; there are none.
    guardbit_files::seal(content).unwrap_or_default().into_bytes()
}
