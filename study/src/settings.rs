//! Requests of commands, and their construction from arguments and defaults.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use guardbit_files::ListedSettings;
use guardbit_frontends::{Cut, Dims, FrontendError, Profile};
use guardbit_graph::Graph;
use guardbit_hwmodels::FloatMacLayer;
use guardbit_num::Overflow;
use guardbit_quantize::{LayerSetting, Scales, Symmetry};
use guardbit_reports::{Pages, PlotStyle, Task};
use guardbit_sim::{Mode, StatsLevel};
use serde::{Deserialize, Serialize};

use crate::arguments::{Arguments, Command, Misuse, ROWS, Row, listed};
use crate::axes::scheme_override;
use crate::quantize::{codes_texts, rule_text};
use crate::{
    AreaTool, Axes, BitList, Budget, DEFAULT_CASES, DEFAULT_EVENTS, DEFAULT_RANDOM_SAMPLES, Grid,
    InputSource, Objective, Pick, PlotRequest, QuantizeChoices, QuantizeRequest, Shard, StudyError,
    StudyText,
};

/// Settings shared by runs, sweeps and similar commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Samples that the network runs on.
    pub input: InputSource,
    /// Expected results of the samples: classes, 1 for an anomaly, or values.
    pub labels: Option<PathBuf>,
    /// Task that scores the output; by default inferred from labels and shapes if unambiguous.
    pub task: Option<Task>,
    /// Output that is scored; all outputs if no name is given.
    pub output: Option<String>,
    /// Source of each layer's inputs.
    pub mode: Mode,
    /// Amount of statistics.
    pub stats: StatsLevel,
    /// Overrides of the accelerator: `KEY=VALUE`.
    pub sets: Vec<String>,
    /// Number of events listed per layer.
    pub events: usize,
    /// Runtime whose results the network reproduces, if its format leaves rounding to the runtime.
    pub profile: Option<Profile>,
    /// Part of the network to run (default: all of it), and lengths of axes that its file leaves open.
    pub cut: Cut,
    /// File format of tables.
    pub format: TableFormat,
    /// Outputs in addition to tables.
    pub pages: Pages,
}

/// File format of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableFormat {
    /// CSV only.
    #[default]
    Csv,
    /// CSV and Parquet.
    Parquet,
}

impl TableFormat {
    /// Checks that this build can write tables of this format to the folder `out`.
    ///
    /// # Errors
    /// [`StudyError::NoParquet`] in a build without the feature `parquet`.
    pub(crate) fn require_writable(self, out: &Path) -> Result<(), StudyError> {
        match self {
            Self::Parquet if !cfg!(feature = "parquet") => Err(StudyError::NoParquet { out: out.into() }),
            Self::Csv | Self::Parquet => Ok(()),
        }
    }
}

impl FromStr for TableFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "csv" => Ok(Self::Csv),
            "parquet" if cfg!(feature = "parquet") => Ok(Self::Parquet),
            "parquet" => Err("this build does not write Parquet: build it with the feature `parquet`".into()),
            _ => Err(format!("unknown format `{text}`; expected csv or parquet")),
        }
    }
}

impl Settings {
    /// Returns the settings of a plain run on `input`: propagated mode without statistics.
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

    /// Loads the network of a file, or a part of it, with the arithmetic of the profile's runtime.
    pub(crate) fn network(&self, model: &Path) -> Result<Graph, FrontendError> {
        guardbit_frontends::load_part(model, self.profile, &self.cut)
    }
}

/// Request to run one network on one accelerator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRequest {
    /// File of the network.
    pub model: PathBuf,
    /// Name of a preset or path of a file.
    pub hw: String,
    /// Common settings.
    pub settings: Settings,
    /// Whether every tensor is written.
    pub dump_tensors: bool,
    /// Cost models of energy and area: names or paths.
    pub costs: Vec<String>,
    /// Sums of single dot products to store.
    pub sums: SumsRequest,
    /// Layer to run alone, by name or index: the samples are its inputs. By default the whole network runs.
    pub layer: Option<String>,
    /// File for a timeline of one inference.
    pub trace: Option<PathBuf>,
}

impl RunRequest {
    /// Returns a request for a run of the network in file `model` on `hw`, a preset's name or a file's path.
    pub fn new(model: impl Into<PathBuf>, hw: impl Into<String>, settings: Settings) -> Self {
        Self {
            model: model.into(),
            hw: hw.into(),
            settings,
            dump_tensors: false,
            costs: Vec::new(),
            sums: SumsRequest::default(),
            layer: None,
            trace: None,
        }
    }
}

impl SizeRequest {
    /// Returns a request for the widths that the network in file `model` needs on `hw`, a preset's name or a file's path.
    pub fn new(model: impl Into<PathBuf>, hw: impl Into<String>, settings: Settings) -> Self {
        let grid = Grid::default();
        Self {
            model: model.into(),
            hw: hw.into(),
            settings,
            budget: None,
            area: None,
            grid,
            rtl: ReferenceRtl::NONE,
        }
    }
}

impl ExploreRequest {
    /// Returns a request for designs of `axes` around `hw`, a preset's name or a file's path, for the network in file `model`.
    pub fn new(model: impl Into<PathBuf>, hw: impl Into<String>, settings: Settings, axes: Axes) -> Self {
        let (model, hw) = (model.into(), hw.into());
        Self { model, hw, settings, axes, budget: None, objectives: Vec::new(), costs: Vec::new() }
    }
}

impl SweepRequest {
    /// Returns a request for a sweep over `axes` with the network in file `model` on `hw`, a preset's name or a file's path.
    pub fn new(model: impl Into<PathBuf>, hw: impl Into<String>, settings: Settings, axes: Axes) -> Self {
        Self {
            models: vec![model.into()],
            hws: vec![hw.into()],
            settings,
            level: None,
            bits: None,
            overflow: Vec::new(),
            axes,
            stats_given: true,
            cache: None,
            shard: None,
            study: None,
        }
    }
}

/// Sums of single dot products to store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SumsRequest {
    /// Whether their distribution is counted, for every layer, level and channel.
    pub histograms: bool,
    /// Layers, by name or index, whose exact and delivered sums are all written.
    pub dump: Vec<String>,
}

impl SumsRequest {
    /// Returns whether any sums are stored.
    pub fn is_any(&self) -> bool {
        self.histograms || !self.dump.is_empty()
    }
}

/// Request to find the widths that a network needs on one accelerator.
#[derive(Debug, Clone)]
pub struct SizeRequest {
    /// File of the network.
    pub model: PathBuf,
    /// Name of a preset or path of a file.
    pub hw: String,
    /// Common settings.
    pub settings: Settings,
    /// Error budget; without one, widths are only proved and measured.
    pub budget: Option<Budget>,
    /// Tool that determines areas, if any.
    pub area: Option<AreaTool>,
    /// Extent of the grid of two-level accumulators.
    pub grid: Grid,
    /// Reference RTL to synthesize.
    pub rtl: ReferenceRtl,
}

/// Files of RTL: name and text of each.
pub type RtlFiles = Vec<(&'static str, String)>;

/// Reference RTL that is synthesized for areas. Files are given by name and text.
#[derive(Debug, Clone, Copy)]
pub struct ReferenceRtl {
    /// Modules of integer accumulators.
    pub integer: &'static [(&'static str, &'static str)],
    /// Returns the unit of a layer of floating-point codes, of which the last file has the module `accumulator`;
    /// `None` if there is no such unit.
    pub float: fn(&FloatMacLayer) -> Option<RtlFiles>,
}

impl ReferenceRtl {
    /// Without any module: nothing has an area.
    pub const NONE: Self = Self { integer: &[], float: |_| None };
}

/// Request to explore accelerators for one network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExploreRequest {
    /// File of the network.
    pub model: PathBuf,
    /// Name of a preset or path of a file.
    pub hw: String,
    /// Common settings.
    pub settings: Settings,
    /// Axes over keys of the accelerator.
    pub axes: Axes,
    /// Error budget; without one, no design is recommended.
    pub budget: Option<Budget>,
    /// Objectives to minimize, most important first; cycles, area and energy if empty.
    pub objectives: Vec<Objective>,
    /// Cost models of energy and area: names or paths.
    pub costs: Vec<String>,
}

/// Request to sweep the width of one level, or any other setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepRequest {
    /// Files of the networks.
    pub models: Vec<PathBuf>,
    /// Names of presets or paths of files.
    pub hws: Vec<String>,
    /// Common settings.
    pub settings: Settings,
    /// Level to sweep; the only one with a width if no name is given.
    pub level: Option<String>,
    /// Widths of the level, if they are swept.
    pub bits: Option<BitList>,
    /// Overflow modes of the level; the accelerator's own if empty.
    pub overflow: Vec<Overflow>,
    /// Further axes.
    pub axes: Axes,
    /// Whether [`Settings::stats`] was given; otherwise it follows the mode, if that is varied.
    pub stats_given: bool,
    /// Folder of points of other sweeps, to which points of this sweep are added.
    pub cache: Option<PathBuf>,
    /// Part of the points to run; all if `None`.
    pub shard: Option<Shard>,
    /// Study file from which the request was read, if any.
    pub study: Option<StudyText>,
}

/// Maximum number of points of a sweep.
pub const MAX_POINTS: usize = 10_000;

impl SweepRequest {
    /// Returns the number of points, including points that a condition excludes.
    pub fn points(&self) -> usize {
        let widths = self.bits.as_ref().map_or(1, |bits| bits.widths().len());
        let sizes = [self.models.len(), self.hws.len(), self.axes.size(), widths, self.overflow.len().max(1)];
        sizes.into_iter().fold(1, usize::saturating_mul)
    }
}

/// Returns the default statistics of a sweep. In propagated mode only events are counted, which is much
/// faster. In isolated mode everything is counted, because the required bits of one point answer all others.
pub fn default_sweep_stats(mode: Mode) -> StatsLevel {
    match mode {
        Mode::Propagated => StatsLevel::Events,
        Mode::Isolated => StatsLevel::Full,
    }
}

impl Arguments {
    /// Returns the request of `guardbit run`.
    ///
    /// # Errors
    /// [`StudyError`] if arguments are inconsistent.
    pub fn run_request(&self) -> Result<RunRequest, StudyError> {
        Ok(RunRequest {
            model: self.one_model()?,
            hw: self.one_hw()?,
            settings: self.settings(Command::Run, |_| StatsLevel::Full)?,
            dump_tensors: self.dump_tensors,
            costs: self.cost.clone(),
            sums: SumsRequest { histograms: self.histograms, dump: self.dump_sums.clone() },
            layer: self.layer.clone(),
            trace: self.trace.clone(),
        })
    }

    /// Returns the request of `guardbit sweep` without a study file.
    ///
    /// # Errors
    /// [`StudyError`] if arguments are inconsistent.
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
            study: None,
        })
    }

    /// Returns the request of `guardbit sweep` with a study file instead of the network.
    ///
    /// # Errors
    /// [`StudyError`] if the file is invalid, or if another argument is given that the file states.
    pub fn study_request(&self) -> Result<SweepRequest, StudyError> {
        let path = self.one_model()?;
        let is_text = |extension: &OsStr| {
            ["yaml", "yml", "json"].iter().any(|text| extension.eq_ignore_ascii_case(text))
        };
        if !path.extension().is_none_or(is_text) && guardbit_frontends::frontend(&path).is_ok() {
            return Err(Misuse::network_as_study(&path).into());
        }
        let beside = |row: &&Row| {
            row.is_given(self) && row.commands.has(Command::Sweep) && !row.beside_study && !row.is_positional
        };
        if let Some(row) = ROWS.iter().find(beside) {
            return Err(Misuse::beside_study(row.name).into());
        }
        self.check(Command::Sweep)?;
        let study = crate::load_study(&path)?;
        let settings = Settings { format: self.format.unwrap_or_default(), ..study.settings };
        Ok(SweepRequest { settings, cache: self.cache.clone(), shard: self.shard, ..study })
    }

    /// Returns the request of `guardbit size`; `rtl` is synthesized for areas.
    ///
    /// # Errors
    /// [`StudyError`] if arguments are inconsistent.
    pub fn size_request(&self, rtl: ReferenceRtl) -> Result<SizeRequest, StudyError> {
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

    /// Returns the request of `guardbit explore`.
    ///
    /// # Errors
    /// [`StudyError`] if arguments are inconsistent.
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

    /// Returns the run that determines the inputs of the layer of `guardbit vectors`.
    ///
    /// # Errors
    /// [`StudyError`] if arguments are inconsistent.
    pub fn vectors_request(&self) -> Result<RunRequest, StudyError> {
        // If no samples are drawn, the seed only draws dot products.
        let draws_samples = self.input.is_none() || self.samples.is_some();
        let drawing = Self { seed: self.seed.filter(|_| draws_samples), ..self.clone() };
        let settings = drawing.settings(Command::Vectors, |_| StatsLevel::None)?;
        let settings = Settings { events: 0, ..settings };
        Ok(RunRequest::new(self.one_model()?, self.one_hw()?, settings))
    }

    /// Returns the settings that the manifest of a bundle lists; `run` provides the activations.
    pub fn vectors_listed(&self, run: &RunRequest) -> ListedSettings {
        if self.whole {
            let arguments = Self {
                layer: self.layer.clone(),
                whole: true,
                sample: self.sample,
                image_order: self.image_order.clone(),
                ..run.settings.arguments()
            };
            return listed(Command::Vectors, &arguments).sorted();
        }
        let arguments = Self {
            layer: self.layer.clone(),
            cases: Some(self.cases()),
            formats: self.formats(),
            waves: self.waves.clone(),
            byte_slots: self.byte_slots,
            ..run.settings.arguments()
        };
        // `check` remakes the manifest from what it reads, which has no order.
        listed(Command::Vectors, &arguments).sorted()
    }

    /// Returns how many dot products of real activations `guardbit vectors` exports.
    pub fn cases(&self) -> usize {
        self.cases.unwrap_or(DEFAULT_CASES)
    }

    /// Returns the names of the data formats of `guardbit vectors`.
    pub fn formats(&self) -> Vec<String> {
        if self.formats.is_empty() { vec!["dec".into()] } else { self.formats.clone() }
    }

    /// Returns the request of `guardbit quantize`.
    ///
    /// # Errors
    /// [`StudyError`] if arguments are inconsistent.
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
            style: self.style()?,
            statistics: Vec::new(),
        })
    }

    /// Returns the settings of the quantization.
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

    /// Returns the part of the network to run, and lengths of its open axes.
    ///
    /// # Errors
    /// If an axis has two lengths.
    pub fn cut(&self) -> Result<Cut, StudyError> {
        let dims = Dims::of_all(&self.dim).map_err(|problem| Misuse::value("dim", problem))?;
        Ok(Cut { from: self.from.clone(), to: self.to.clone(), dims })
    }

    /// Returns the common settings. `default_stats` returns the default statistics of a mode.
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
            pages: Pages {
                plots: self.plots.unwrap_or(true),
                report: self.page.unwrap_or(true),
                style: self.style()?,
            },
        })
    }

    /// Returns the style of plots.
    ///
    /// # Errors
    /// [`StudyError::Plot`] if letters are too large for the width.
    pub fn style(&self) -> Result<PlotStyle, StudyError> {
        let style = PlotStyle {
            medium: self.plot_style.unwrap_or_default(),
            size: self.plot_size,
            font: self.plot_font,
            title: self.plot_title.map(|title| title.0),
        };
        style.problem().map_or(Ok(style), |problem| Err(StudyError::Plot { problem }))
    }

    /// Returns the request of a plot.
    ///
    /// # Errors
    /// [`StudyError::Plot`] if letters are too large for the width.
    pub fn plot_request(&self) -> Result<PlotRequest, StudyError> {
        Ok(PlotRequest {
            folders: self.folders.clone(),
            x: self.plot_x.clone(),
            y: self.plot_y.clone(),
            by: self.plot_by.clone(),
            style: self.style()?,
        })
    }

    pub(crate) fn axes(&self) -> Result<Axes, StudyError> {
        let conditions = self.conditions.iter().map(|text| text.parse()).collect::<Result<Vec<_>, _>>()?;
        let zips: Vec<Vec<String>> = self.zip.iter().map(|zip| zip.0.clone()).collect();
        Ok(Axes::new(self.axis.clone(), &zips, conditions)?)
    }

    /// Returns the selection of samples from the file.
    fn pick(&self) -> Result<Pick, StudyError> {
        // The rules reject a seed without samples.
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
    /// Returns the settings as arguments, for the list in manifests.
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
    /// Returns the settings that `run.json` lists.
    pub(crate) fn listed(&self) -> ListedSettings {
        let arguments = Arguments {
            layer: self.layer.clone(),
            dump_tensors: self.dump_tensors,
            histograms: self.sums.histograms,
            dump_sums: self.sums.dump.clone(),
            cost: self.costs.clone(),
            ..self.settings.arguments()
        };
        listed(Command::Run, &arguments)
    }
}

impl SizeRequest {
    /// Returns the settings that `size.json` lists.
    pub(crate) fn listed(&self) -> ListedSettings {
        let arguments = Arguments { budget: self.budget, grid: Some(self.grid), ..self.settings.arguments() };
        listed(Command::Size, &arguments)
    }
}

impl ExploreRequest {
    /// Returns the settings that `explore.json` lists.
    pub(crate) fn listed(&self) -> ListedSettings {
        let arguments = Arguments {
            axis: self.axes.list().to_vec(),
            budget: self.budget,
            objective: self.objectives.clone(),
            cost: self.costs.clone(),
            ..self.settings.arguments()
        };
        listed(Command::Explore, &arguments)
    }
}

impl SweepRequest {
    /// Returns the settings that `sweep.json` lists: the ones common to all points. Each point lists its own.
    pub(crate) fn listed(&self) -> ListedSettings {
        listed(Command::Sweep, &self.settings.arguments())
    }
}

impl QuantizeRequest {
    /// Returns the settings that `quantize.json` lists.
    pub(crate) fn listed(&self) -> ListedSettings {
        let config = &self.config;
        let LayerSetting { activations, weights, per_channel, .. } = config.setting;
        let of_layers = config.layer_method.as_ref().map(|method| method.name());

        let [weight_text, activation_text] = codes_texts(config);
        let arguments = Arguments {
            set: self.sets.clone(),
            output_name: self.output.clone(),
            method: Some(of_layers.unwrap_or(config.method.name()).into()),
            weight_method: Some(config.weight_method.name().into()),
            weights: Some(weight_text),
            activations: Some(activation_text),
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
        listed(Command::Quantize, &arguments)
    }
}
