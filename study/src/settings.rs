//! What a run or a sweep is asked to do: checked arguments.

use std::path::{Path, PathBuf};

use guardbit_frontends::{FrontendError, Profile};
use guardbit_graph::Graph;
use guardbit_num::Overflow;
use guardbit_sim::{Mode, StatsLevel};

use crate::{AreaTool, Axes, BitList, Budget, InputSource, Shard};

/// What runs and sweeps have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// What the network is run on.
    pub input: InputSource,
    /// One class per sample.
    pub labels: Option<PathBuf>,
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
}

impl Settings {
    /// The network in a file, as the runtime of the profile has it.
    pub(crate) fn network(&self, model: &Path) -> Result<Graph, FrontendError> {
        match self.profile {
            Some(profile) => guardbit_frontends::load_as(model, profile),
            None => guardbit_frontends::load(model),
        }
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
    /// The layer that is run alone, by name or index: the samples are what it reads. The whole network without one.
    pub layer: Option<String>,
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
    /// What is synthesized for them: the reference RTL, name and text of every file.
    pub rtl: &'static [(&'static str, &'static str)],
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
