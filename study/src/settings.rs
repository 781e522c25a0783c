//! What a run or a sweep is asked to do: checked arguments.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use guardbit_frontends::{Cut, FrontendError, Profile};
use guardbit_graph::Graph;
use guardbit_num::Overflow;
use guardbit_reports::{Pages, Task};
use serde::{Deserialize, Serialize};

use guardbit_sim::{Mode, StatsLevel};

use crate::{AreaTool, Axes, BitList, Budget, Grid, InputSource, Objective, Shard};

/// What runs and sweeps have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// What the network is run on.
    pub input: InputSource,
    /// What the samples are to come out as: a class each, 1 for an anomaly, or values.
    pub labels: Option<PathBuf>,
    /// What the output is judged by; what labels and shapes leave no doubt about, if nothing is said.
    pub task: Option<Task>,
    /// The output that is scored; all, if there is no name.
    pub output: Option<String>,
    /// What each layer reads.
    pub mode: Mode,
    /// How much is counted.
    pub stats: StatsLevel,
    /// Overrides of the accelerator: `KEY=VALUE`.
    pub sets: Vec<String>,
    /// How many events are listed per layer.
    pub events: usize,
    /// The runtime whose results the network has, where its format leaves rounding to the runtime.
    pub profile: Option<Profile>,
    /// The part of the network that is run, all of it by default, and lengths of axes that its file leaves open.
    pub cut: Cut,
    /// In what files tables are written.
    pub format: TableFormat,
    /// What is made in addition to tables.
    pub pages: Pages,
}

/// In what files tables are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableFormat {
    /// CSV.
    #[default]
    Csv,
    /// CSV, and Parquet beside it.
    Parquet,
}

impl FromStr for TableFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "csv" => Ok(Self::Csv),
            "parquet" => Ok(Self::Parquet),
            _ => Err(format!("unknown format `{text}`; there are csv, and parquet beside it")),
        }
    }
}

impl Settings {
    /// A run on `input` as it is: all layers read what the ones before them made, and nothing is counted.
    pub fn new(input: InputSource) -> Self {
        Self {
            input,
            labels: None,
            task: None,
            output: None,
            mode: Mode::Propagated,
            stats: StatsLevel::None,
            sets: Vec::new(),
            events: 0,
            profile: None,
            cut: Cut::default(),
            format: TableFormat::Csv,
            pages: Pages::default(),
        }
    }

    /// The network in a file, or a part of it, as the runtime of the profile has it.
    pub(crate) fn network(&self, model: &Path) -> Result<Graph, FrontendError> {
        guardbit_frontends::load_part(model, self.profile, &self.cut)
    }
}

/// A run of one network on one accelerator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRequest {
    /// The network's file.
    pub model: PathBuf,
    /// A preset's name or a file's path.
    pub hw: String,
    /// The rest.
    pub settings: Settings,
    /// Whether every tensor is written out.
    pub dump_tensors: bool,
    /// Cost models that tell energy and area: names or files' paths.
    pub costs: Vec<String>,
    /// What is kept of the sums of single dot products.
    pub sums: SumsRequest,
    /// The layer that is run alone, by name or index: the samples are what it reads. The whole network without one.
    pub layer: Option<String>,
}

/// What is kept of the sums of single dot products.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SumsRequest {
    /// Whether their distribution is counted, for every layer, level and channel.
    pub histograms: bool,
    /// The layers, by name or index, of which every exact and delivered sum is written out.
    pub dump: Vec<String>,
}

impl SumsRequest {
    /// Whether anything is kept.
    pub fn is_any(&self) -> bool {
        self.histograms || !self.dump.is_empty()
    }
}

/// A search for the widths that a network needs on one accelerator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeRequest {
    /// The network's file.
    pub model: PathBuf,
    /// A preset's name or a file's path.
    pub hw: String,
    /// The rest.
    pub settings: Settings,
    /// How much error is allowed; without one, widths are only proved and measured.
    pub budget: Option<Budget>,
    /// Who is asked for areas, if anyone.
    pub area: Option<AreaTool>,
    /// What is looked at of two-level accumulators.
    pub grid: Grid,
    /// What is synthesized for them: the reference RTL, name and text of every file.
    pub rtl: &'static [(&'static str, &'static str)],
}

/// An exploration of accelerators for one network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExploreRequest {
    /// The network's file.
    pub model: PathBuf,
    /// A preset's name or a file's path.
    pub hw: String,
    /// The rest.
    pub settings: Settings,
    /// What is varied of the accelerator.
    pub axes: Axes,
    /// How much error is allowed; without one nothing is recommended.
    pub budget: Option<Budget>,
    /// What designs are to have little of, the first one above all; cycles, area and energy if empty.
    pub objectives: Vec<Objective>,
    /// Cost models that tell energy and area: names or files' paths.
    pub costs: Vec<String>,
}

/// A sweep over the width of one level, or over anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepRequest {
    /// The networks' files.
    pub models: Vec<PathBuf>,
    /// Presets' names or files' paths.
    pub hws: Vec<String>,
    /// The rest.
    pub settings: Settings,
    /// The level that is swept; the only one with a width, if there is no name.
    pub level: Option<String>,
    /// Its widths, if they are swept.
    pub bits: Option<BitList>,
    /// Its overflow modes; the accelerator's own, if empty.
    pub overflow: Vec<Overflow>,
    /// What else is varied.
    pub axes: Axes,
    /// Whether [`Settings::stats`] was asked for; otherwise it follows the mode, where that is varied.
    pub stats_given: bool,
    /// A folder of points that other sweeps left there, and to which those of this one are added.
    pub cache: Option<PathBuf>,
    /// The part of the points that is run; all, if there is none.
    pub shard: Option<Shard>,
}

/// Most points of a sweep.
pub const MAX_POINTS: usize = 10_000;

impl SweepRequest {
    /// How many points it has; those that a condition leaves out are counted too.
    pub fn points(&self) -> usize {
        let widths = self.bits.as_ref().map_or(1, |bits| bits.widths().len());
        let sizes = [self.models.len(), self.hws.len(), self.axes.size(), widths, self.overflow.len().max(1)];
        sizes.into_iter().fold(1, usize::saturating_mul)
    }
}

/// What a sweep counts unless told: in propagated mode events, which cost much less; in isolated mode everything,
/// since the required bits of one point answer all others.
pub fn default_sweep_stats(mode: Mode) -> StatsLevel {
    match mode {
        Mode::Propagated => StatsLevel::Events,
        Mode::Isolated => StatsLevel::Full,
    }
}
