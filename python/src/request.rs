//! Arguments as JSON, and the checked requests that they become. Names are those of the command line.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use guardbit_frontends::Cut;
use guardbit_num::Scheme;
use guardbit_reports::Pages;
use guardbit_sim::{Mode, StatsLevel};
use guardbit_study::{
    Axes, Axis, Condition, ExploreRequest, InputConflict, InputSource, Pick, QuantizeChoices, RawSettings,
    RunRequest, Settings, Shard, SizeRequest, StudyError, SumsRequest, SweepRequest, default_sweep_stats,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::{Ended, Failure};

/// Arguments of a command.
///
/// # Errors
/// What is no such JSON.
pub fn read<T: DeserializeOwned>(json: &str) -> Result<T, Failure> {
    serde_json::from_str(json).map_err(|error| Failure::usage(error.to_string()))
}

/// What runs have in common.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Common {
    pub input: Option<PathBuf>,
    pub labels: Option<PathBuf>,
    pub task: Option<String>,
    pub random: Option<usize>,
    pub samples: Option<usize>,
    pub seed: Option<u64>,
    pub output: Option<String>,
    pub mode: Option<String>,
    pub set: Vec<String>,
    pub stats: Option<String>,
    pub requantize: Option<String>,
    pub profile: Option<String>,
    #[serde(default)]
    pub from: Vec<String>,
    #[serde(default)]
    pub to: Vec<String>,
    #[serde(default)]
    pub dim: BTreeMap<String, NonZeroUsize>,
    #[serde(default = "yes")]
    pub plots: bool,
    #[serde(default = "yes")]
    pub report: bool,
}

fn yes() -> bool {
    true
}

/// One network on one accelerator.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub model: PathBuf,
    pub hw: String,
    pub layer: Option<String>,
    pub events: usize,
    pub tensors: bool,
    pub histograms: bool,
    pub sums: Vec<String>,
    pub cost: Vec<String>,
    pub format: String,
    pub common: Common,
}

/// A sweep.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    pub models: Vec<PathBuf>,
    pub hws: Vec<String>,
    pub varied: Varied,
    pub level: Option<String>,
    pub bits: Option<String>,
    pub overflow: Vec<String>,
    pub shard: Option<String>,
    pub cache: Option<PathBuf>,
    pub format: String,
    pub common: Common,
}

/// What is varied.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Varied {
    pub axes: Vec<(String, AxisValues)>,
    pub zip: Vec<Vec<String>>,
    #[serde(rename = "where")]
    pub conditions: Vec<String>,
}

/// The values of an axis.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum AxisValues {
    /// As one text, `12..=16`.
    Text(String),
    /// One by one.
    List(Vec<String>),
}

/// A sizing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    pub model: PathBuf,
    pub hw: String,
    pub budget: Option<String>,
    pub area: Option<String>,
    pub grid: Option<String>,
    pub format: String,
    pub common: Common,
}

/// An exploration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explore {
    pub model: PathBuf,
    pub hw: String,
    pub varied: Varied,
    pub budget: Option<String>,
    pub objective: Vec<String>,
    pub cost: Vec<String>,
    pub common: Common,
}

/// Test vectors of a layer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vectors {
    pub model: PathBuf,
    pub hw: String,
    pub layer: String,
    pub cases: usize,
    pub formats: Vec<String>,
    pub waves: Vec<String>,
    pub byte_slots: bool,
    pub common: Common,
}

/// A quantization.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantize {
    pub model: PathBuf,
    pub from: Vec<String>,
    pub to: Vec<String>,
    pub dim: BTreeMap<String, NonZeroUsize>,
    pub calibration: PathBuf,
    pub samples: Option<usize>,
    pub seed: Option<u64>,
    pub test: Option<PathBuf>,
    pub labels: Option<PathBuf>,
    pub output_name: Option<String>,
    pub hw: Option<String>,
    pub set: Vec<String>,
    pub mixed: Option<String>,
    pub dynamic: bool,
    pub cache: Option<PathBuf>,
    pub report: PathBuf,
    /// Those of [`QuantizeChoices`].
    pub method: String,
    pub weight_method: String,
    pub weights: String,
    pub activations: String,
    pub per_tensor: bool,
    pub symmetric: bool,
    pub asymmetric_weights: bool,
    pub full_range: bool,
    pub power_of_two: bool,
    pub layers: Vec<String>,
    pub mode: Option<String>,
    pub equalize: bool,
    pub inline_functions: bool,
    pub correct_bias: bool,
    pub least_sqnr: Option<f64>,
}

/// A word that is parsed.
pub fn parsed<T: FromStr<Err: Display>>(what: &str, word: &str) -> Result<T, Failure> {
    word.parse().map_err(|error| Failure::usage(format!("{what}: {error}")))
}

/// The same of a word that may be absent.
pub fn maybe<T: FromStr<Err: Display>>(what: &str, word: &Option<String>) -> Result<Option<T>, Failure> {
    word.as_deref().map(|word| parsed(what, word)).transpose()
}

/// The same of several words.
pub fn each<T: FromStr<Err: Display>>(what: &str, words: &[String]) -> Result<Vec<T>, Failure> {
    words.iter().map(|word| parsed(what, word)).collect()
}

/// The calibration samples of a file.
pub fn calibration(path: PathBuf, samples: Option<usize>, seed: Option<u64>) -> Result<InputSource, Failure> {
    let pick = Pick::new(samples, seed).ok_or_else(|| conflict(InputConflict::SeedWithoutSamples))?;
    Ok(InputSource::File { path, pick })
}

fn conflict(conflict: InputConflict) -> Failure {
    Failure::usage(match conflict {
        InputConflict::FileAndRandom => "x and random exclude each other",
        InputConflict::SamplesWithoutFile => "samples goes with x; of random codes, random is the number",
        InputConflict::SeedWithoutSamples => {
            "seed draws samples of x, but nothing says how many: give samples too"
        }
    })
}

impl Common {
    /// The checked form. `default_stats` is what is counted in a mode where nothing is said.
    pub fn settings(
        self,
        default_stats: fn(Mode) -> StatsLevel,
        events: Option<usize>,
    ) -> Result<Settings, Failure> {
        let settings = RawSettings {
            mode: maybe("mode", &self.mode)?,
            requantize: maybe("requantize", &self.requantize)?.map(|scheme: Scheme| scheme.name().into()),
            stats: maybe("stats", &self.stats)?,
            profile: maybe("profile", &self.profile)?,
            cut: Cut { from: self.from, to: self.to, dims: self.dim.into_iter().collect() },
            task: maybe("task", &self.task)?,
            input: self.input,
            random: self.random,
            samples: self.samples,
            seed: self.seed,
            labels: self.labels,
            output: self.output,
            sets: self.set,
            events,
        };
        let pages = Pages { plots: self.plots, report: self.report };
        Ok(Settings { pages, ..settings.check(default_stats).map_err(conflict)? })
    }
}

/// The same with tables in files of `format`.
fn written(settings: Settings, format: &str) -> Result<Settings, Failure> {
    Ok(Settings { format: parsed("format", format)?, ..settings })
}

impl Varied {
    /// The checked form.
    fn axes(self) -> Result<Axes, Ended> {
        let axis = |(key, values): (String, AxisValues)| match values {
            AxisValues::Text(text) => Axis::of_text(&key, &text),
            AxisValues::List(values) => Axis::new(key, values),
        };
        let axes =
            self.axes.into_iter().map(axis).collect::<Result<Vec<_>, _>>().map_err(StudyError::from)?;
        let conditions: Vec<Condition> = each("where", &self.conditions)?;
        Ok(Axes::new(axes, &self.zip, conditions).map_err(StudyError::from)?)
    }
}

impl Run {
    /// The checked form.
    pub fn request(self) -> Result<RunRequest, Failure> {
        Ok(RunRequest {
            model: self.model,
            hw: self.hw,
            settings: written(self.common.settings(|_| StatsLevel::Full, Some(self.events))?, &self.format)?,
            dump_tensors: self.tensors,
            costs: self.cost,
            sums: SumsRequest { histograms: self.histograms, dump: self.sums },
            layer: self.layer,
        })
    }
}

impl Sweep {
    /// The checked form.
    pub fn request(self) -> Result<SweepRequest, Ended> {
        let stats_given = self.common.stats.is_some();
        let settings = self.common.settings(default_sweep_stats, None)?;
        Ok(SweepRequest {
            models: self.models,
            hws: self.hws,
            settings: written(settings, &self.format)?,
            level: self.level,
            bits: maybe("bits", &self.bits)?,
            overflow: each("overflow", &self.overflow)?,
            axes: self.varied.axes()?,
            stats_given,
            cache: self.cache,
            shard: maybe::<Shard>("shard", &self.shard)?,
        })
    }
}

impl Size {
    /// The checked form.
    pub fn request(self) -> Result<SizeRequest, Failure> {
        Ok(SizeRequest {
            model: self.model,
            hw: self.hw,
            settings: written(self.common.settings(|_| StatsLevel::Full, None)?, &self.format)?,
            budget: maybe("budget", &self.budget)?,
            area: maybe("area", &self.area)?,
            grid: maybe("grid", &self.grid)?.unwrap_or_default(),
            rtl: guardbit_rtl_vectors::reference_rtl(),
        })
    }
}

impl Explore {
    /// The checked form.
    pub fn request(self) -> Result<ExploreRequest, Ended> {
        Ok(ExploreRequest {
            model: self.model,
            hw: self.hw,
            settings: self.common.settings(|_| StatsLevel::None, None)?,
            axes: self.varied.axes()?,
            budget: maybe("budget", &self.budget)?,
            objectives: each("objective", &self.objective)?,
            costs: self.cost,
        })
    }
}

impl Quantize {
    /// What is said of codes and methods.
    pub fn choices(&self) -> Result<QuantizeChoices, Failure> {
        Ok(QuantizeChoices {
            method: self.method.clone(),
            weight_method: self.weight_method.clone(),
            weights: self.weights.clone(),
            activations: self.activations.clone(),
            per_tensor: self.per_tensor,
            symmetric: self.symmetric,
            asymmetric_weights: self.asymmetric_weights,
            full_range: self.full_range,
            power_of_two: self.power_of_two,
            layers: self.layers.clone(),
            mode: maybe("mode", &self.mode)?.unwrap_or(Mode::Propagated),
            equalize: self.equalize,
            inline_functions: self.inline_functions,
            correct_bias: self.correct_bias,
            least_sqnr: self.least_sqnr,
        })
    }
}
