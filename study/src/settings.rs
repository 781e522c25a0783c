//! What commands are asked to do: requests, and how arguments become them with defaults in place of those that are not given.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use guardbit_frontends::{Cut, Dims, FrontendError, Profile};
use guardbit_graph::Graph;
use guardbit_num::Overflow;
use guardbit_quantize::{LayerSetting, Scales, Symmetry};
use guardbit_reports::{Pages, Task};
use guardbit_sim::{Mode, StatsLevel};
use serde::{Deserialize, Serialize};

use crate::arguments::{Arguments, Command, Listed, Misuse, ROWS, Row};
use crate::axes::scheme_override;
use crate::quantize::{codes_text, rule_text};
use crate::{
    AreaTool, Axes, BitList, Budget, DEFAULT_CASES, DEFAULT_EVENTS, DEFAULT_RANDOM_SAMPLES, Grid,
    InputSource, Objective, Pick, QuantizeChoices, QuantizeRequest, Shard, StudyError,
};

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

impl Arguments {
    /// What `guardbit run` is asked to do.
    ///
    /// # Errors
    /// [`StudyError`] if arguments do not go together.
    pub fn run_request(&self) -> Result<RunRequest, StudyError> {
        Ok(RunRequest {
            model: self.one_model()?,
            hw: self.one_hw()?,
            settings: self.settings(Command::Run, |_| StatsLevel::Full)?,
            dump_tensors: self.dump_tensors,
            costs: self.cost.clone(),
            sums: SumsRequest { histograms: self.histograms, dump: self.dump_sums.clone() },
            layer: self.layer.clone(),
        })
    }

    /// What `guardbit sweep` is asked to do, without a study file.
    ///
    /// # Errors
    /// [`StudyError`] if arguments do not go together.
    pub fn sweep_request(&self) -> Result<SweepRequest, StudyError> {
        Ok(SweepRequest {
            models: self.model.clone(),
            hws: self.hw.clone(),
            settings: self.settings(Command::Sweep, default_sweep_stats)?,
            level: self.level.clone(),
            bits: self.bits.clone(),
            overflow: self.overflow.clone(),
            axes: self.axes()?,
            stats_given: self.stats.is_some(),
            cache: self.cache.clone(),
            shard: self.shard,
        })
    }

    /// What `guardbit sweep` is asked to do with the study file that stands in place of the network.
    ///
    /// # Errors
    /// [`StudyError`] if the file is wrong, or another argument is one that it states itself.
    pub fn study_request(&self) -> Result<SweepRequest, StudyError> {
        let beside = |row: &&Row| {
            row.is_given(self) && row.commands.has(Command::Sweep) && !row.beside_study && !row.is_positional
        };
        if let Some(row) = ROWS.iter().find(beside) {
            return Err(Misuse::beside_study(row.name).into());
        }
        self.check(Command::Sweep)?;
        let study = crate::load_study(&self.one_model()?)?;
        let settings = Settings { format: self.format.unwrap_or_default(), ..study.settings };
        Ok(SweepRequest { settings, cache: self.cache.clone(), shard: self.shard, ..study })
    }

    /// What `guardbit size` is asked to do; `rtl` is what is synthesized for areas.
    ///
    /// # Errors
    /// [`StudyError`] if arguments do not go together.
    pub fn size_request(
        &self,
        rtl: &'static [(&'static str, &'static str)],
    ) -> Result<SizeRequest, StudyError> {
        Ok(SizeRequest {
            model: self.one_model()?,
            hw: self.one_hw()?,
            settings: self.settings(Command::Size, |_| StatsLevel::Full)?,
            budget: self.budget,
            area: self.area,
            grid: self.grid.unwrap_or_default(),
            rtl,
        })
    }

    /// What `guardbit explore` is asked to do.
    ///
    /// # Errors
    /// [`StudyError`] if arguments do not go together.
    pub fn explore_request(&self) -> Result<ExploreRequest, StudyError> {
        Ok(ExploreRequest {
            model: self.one_model()?,
            hw: self.one_hw()?,
            settings: self.settings(Command::Explore, |_| StatsLevel::None)?,
            axes: self.axes()?,
            budget: self.budget,
            objectives: self.objective.clone(),
            costs: self.cost.clone(),
        })
    }

    /// The run that tells `guardbit vectors` what its layer reads.
    ///
    /// # Errors
    /// [`StudyError`] if arguments do not go together.
    pub fn vectors_request(&self) -> Result<RunRequest, StudyError> {
        // Where no samples are to be drawn, the seed draws dot products alone.
        let draws_samples = self.input.is_none() || self.samples.is_some();
        let drawing = Self { seed: self.seed.filter(|_| draws_samples), ..self.clone() };
        let settings = drawing.settings(Command::Vectors, |_| StatsLevel::None)?;
        Ok(RunRequest {
            model: self.one_model()?,
            hw: self.one_hw()?,
            settings: Settings { events: 0, ..settings },
            dump_tensors: false,
            costs: Vec::new(),
            sums: SumsRequest::default(),
            layer: None,
        })
    }

    /// How many dot products of real activations `guardbit vectors` exports.
    pub fn cases(&self) -> usize {
        self.cases.unwrap_or(DEFAULT_CASES)
    }

    /// The data formats of `guardbit vectors`, by name.
    pub fn formats(&self) -> Vec<String> {
        if self.formats.is_empty() { vec!["dec".into()] } else { self.formats.clone() }
    }

    /// What `guardbit quantize` is asked to do.
    ///
    /// # Errors
    /// [`StudyError`] if arguments do not go together.
    pub fn quantize_request(&self) -> Result<QuantizeRequest, StudyError> {
        self.check(Command::Quantize)?;
        let path = self.calibration.clone().ok_or_else(|| Misuse::missing("calibration"))?;
        Ok(QuantizeRequest {
            model: self.one_model()?,
            cut: self.cut()?,
            calibration: InputSource::File { path, pick: self.pick()? },
            test: self.test.clone(),
            labels: self.labels.clone(),
            output: self.output_name.clone(),
            hw: self.hw.first().cloned(),
            sets: self.set.clone(),
            config: self.choices().config()?,
            mixed: self.mixed,
            dynamic: self.dynamic,
            cache: self.cache.clone(),
            report: self.report.clone(),
            statistics: Vec::new(),
        })
    }

    /// How a network is to be quantized.
    pub fn choices(&self) -> QuantizeChoices {
        let word = |given: &Option<String>, default: &str| given.as_deref().unwrap_or(default).to_owned();
        QuantizeChoices {
            method: word(&self.method, QuantizeChoices::METHOD),
            weight_method: word(&self.weight_method, QuantizeChoices::METHOD),
            weights: word(&self.weights, QuantizeChoices::WEIGHTS),
            activations: word(&self.activations, QuantizeChoices::ACTIVATIONS),
            per_tensor: self.per_tensor,
            symmetric: self.symmetric,
            asymmetric_weights: self.asymmetric_weights,
            full_range: self.full_range,
            power_of_two: self.power_of_two,
            layers: self.layers.clone(),
            mode: self.mode.unwrap_or_default(),
            equalize: self.equalize,
            inline_functions: self.inline_functions,
            correct_bias: self.correct_bias,
            least_sqnr: self.least_sqnr,
        }
    }

    /// The part of the network, and lengths of its open axes.
    ///
    /// # Errors
    /// An axis has two lengths.
    pub fn cut(&self) -> Result<Cut, StudyError> {
        let dims = Dims::of_all(&self.dim).map_err(|problem| Misuse::value("dim", problem))?;
        Ok(Cut { from: self.from.clone(), to: self.to.clone(), dims })
    }

    /// What runs have in common. `default_stats` is what is counted in a mode where nothing else is asked for.
    pub(crate) fn settings(
        &self,
        command: Command,
        default_stats: fn(Mode) -> StatsLevel,
    ) -> Result<Settings, StudyError> {
        self.check(command)?;
        let mode = self.mode.unwrap_or_default();
        let scheme = self.requantize.map(|scheme| scheme_override(scheme.name()));
        Ok(Settings {
            input: match &self.input {
                Some(path) => InputSource::File { path: path.clone(), pick: self.pick()? },
                None => InputSource::Random {
                    count: self.random.unwrap_or(DEFAULT_RANDOM_SAMPLES),
                    seed: self.seed.unwrap_or(0),
                },
            },
            labels: self.labels.clone(),
            task: self.task,
            output: self.output.clone(),
            mode,
            stats: self.stats.unwrap_or_else(|| default_stats(mode)),
            sets: self.set.iter().cloned().chain(scheme).collect(),
            events: self.events.unwrap_or(DEFAULT_EVENTS),
            profile: self.profile,
            cut: self.cut()?,
            format: self.format.unwrap_or_default(),
            pages: Pages { plots: self.plots.unwrap_or(true), report: self.page.unwrap_or(true) },
        })
    }

    pub(crate) fn axes(&self) -> Result<Axes, StudyError> {
        let conditions = self.conditions.iter().map(|text| text.parse()).collect::<Result<Vec<_>, _>>()?;
        let zips: Vec<Vec<String>> = self.zip.iter().map(|zip| zip.0.clone()).collect();
        Ok(Axes::new(self.axis.clone(), &zips, conditions)?)
    }

    /// Which samples of the file are used.
    fn pick(&self) -> Result<Pick, StudyError> {
        // The rules leave no seed without samples.
        Pick::new(self.samples, self.seed).ok_or_else(|| Misuse::missing("samples").into())
    }

    fn one_model(&self) -> Result<PathBuf, StudyError> {
        self.model.first().cloned().ok_or_else(|| Misuse::missing("model").into())
    }

    fn one_hw(&self) -> Result<String, StudyError> {
        self.hw.first().cloned().ok_or_else(|| Misuse::missing("hw").into())
    }
}

impl Settings {
    /// Settings as arguments: what manifests list.
    pub(crate) fn arguments(&self) -> Arguments {
        Arguments {
            mode: Some(self.mode),
            stats: Some(self.stats),
            set: self.sets.clone(),
            output: self.output.clone(),
            task: self.task,
            profile: self.profile,
            events: Some(self.events),
            ..Arguments::default()
        }
    }
}

impl RunRequest {
    /// What `run.json` lists.
    pub(crate) fn listed(&self) -> Listed {
        let arguments = Arguments {
            layer: self.layer.clone(),
            dump_tensors: self.dump_tensors,
            histograms: self.sums.histograms,
            dump_sums: self.sums.dump.clone(),
            cost: self.costs.clone(),
            ..self.settings.arguments()
        };
        Listed::new(Command::Run, &arguments)
    }
}

impl SizeRequest {
    /// What `size.json` lists.
    pub(crate) fn listed(&self) -> Listed {
        let arguments = Arguments { budget: self.budget, grid: Some(self.grid), ..self.settings.arguments() };
        Listed::new(Command::Size, &arguments)
    }
}

impl ExploreRequest {
    /// What `explore.json` lists.
    pub(crate) fn listed(&self) -> Listed {
        let arguments = Arguments {
            axis: self.axes.list().to_vec(),
            budget: self.budget,
            objective: self.objectives.clone(),
            cost: self.costs.clone(),
            ..self.settings.arguments()
        };
        Listed::new(Command::Explore, &arguments)
    }
}

impl SweepRequest {
    /// What `sweep.json` lists: what all points have in common. What is varied stands in its points.
    pub(crate) fn listed(&self) -> Listed {
        Listed::new(Command::Sweep, &self.settings.arguments())
    }
}

impl QuantizeRequest {
    /// What `quantize.json` lists.
    pub(crate) fn listed(&self) -> Listed {
        let config = &self.config;
        let LayerSetting { activations, weights, per_channel, .. } = config.setting;
        let of_layers = config.layer_method.as_ref().map(|method| method.name());
        let arguments = Arguments {
            set: self.sets.clone(),
            output_name: self.output.clone(),
            method: Some(of_layers.unwrap_or(config.method.name()).into()),
            weight_method: Some(config.weight_method.name().into()),
            weights: Some(codes_text(weights)),
            activations: Some(codes_text(activations)),
            per_tensor: !per_channel,
            symmetric: activations.symmetry == Symmetry::Symmetric,
            asymmetric_weights: weights.symmetry == Symmetry::Asymmetric,
            full_range: !weights.restricted,
            power_of_two: weights.scales == Scales::PowersOfTwo,
            layers: config.rules.iter().map(rule_text).collect(),
            mode: Some(if config.propagate { Mode::Propagated } else { Mode::Isolated }),
            mixed: self.mixed,
            equalize: config.equalize,
            inline_functions: config.inline_functions,
            correct_bias: config.correct_bias,
            least_sqnr: config.least_sqnr_db,
            dynamic: self.dynamic,
            ..Arguments::default()
        };
        Listed::new(Command::Quantize, &arguments)
    }
}
