//! Study files: a sweep in YAML.

use std::collections::{BTreeMap, HashSet};
use std::fmt::{self, Display};
use std::hash::Hash;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use guardbit_files::NestingError;
use guardbit_frontends::{Cut, Profile};
use guardbit_hwmodels::{SetMap, preset};
use guardbit_num::Overflow;
use guardbit_reports::Task;
use guardbit_sim::{Mode, StatsLevel};
use schemars::JsonSchema;
use serde::de::{Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::axes::Argument;
use crate::error::Wanted;
use crate::schema;
use crate::{
    Axes, Axis, AxisError, BitList, Condition, DEFAULT_RANDOM_SAMPLES, InputConflict, RawSettings, Settings,
    StudyError, SweepRequest, default_sweep_stats,
};

/// Most bytes of a study file.
const MOST_BYTES: u64 = 1 << 17;

/// Most elements of a list.
const MOST_ELEMENTS: usize = 1000;

const OUTLINE: &str = "a study is {schema: 1, model, hw, input, labels, ..., sweep: {bits: 10..=24, ...}}";

const OUTLINE_OF_AXES: &str =
    "axes are {KEY: VALUES, ...}; `zip: [[KEY, KEY]]` pairs some, `where: [\"KEY < KEY\"]` leaves points out";

/// Reads a study file. Paths in it are relative to the file itself.
///
/// # Errors
/// [`StudyError::StudyFile`] with the place of what is wrong.
pub fn load_study(path: &Path) -> Result<SweepRequest, StudyError> {
    let text = guardbit_files::read_text(path, MOST_BYTES)
        .map_err(|source| StudyError::read(path, Wanted::Study, source))?;
    if let Err(error) = guardbit_files::check_nesting(&text) {
        let message = format!("the text is nested too deeply: {error}");
        let (message, help) = (message, Some(error.help().unwrap_or(OUTLINE).into()));
        let NestingError { line, column, .. } = error;
        return Err(StudyError::StudyFile { path: path.into(), text, line, column, message, help });
    }
    let mut raw = serde_yaml::from_str::<RawStudy>(&text).map_err(|error| located(path, &text, &error))?;
    let dir = path.parent().unwrap_or(Path::new(""));
    let checked = match raw.repeated() {
        Some(repeated) => Err(repeated.map(String::from)),
        None => raw.settings(dir).check(default_sweep_stats).map_err(explained),
    };
    let (key, message, help) = match (checked, raw.sweep.axes(dir)) {
        (Ok(settings), Ok(axes)) => return Ok(raw.check(dir, settings, axes)),
        (Err([key, message, help]), _) => (key, message, help),
        (_, Err(error)) => return Err(of_axes(path, text, error)),
    };
    let (line, column) = key_place(&text, &key);
    Err(StudyError::StudyFile { path: path.into(), text, line, column, message, help: Some(help) })
}

/// What is wrong with the axes; of a condition, where it stands in the file as it is.
fn of_axes(path: &Path, text: String, error: AxisError) -> StudyError {
    let within = match &error {
        AxisError::Where { condition, at, .. } => {
            let key = text.find("where:").unwrap_or(0);
            text[key..].find(condition).map(|start| key + start + at.start)
        }
        _ => None,
    };
    let (line, column) = within.map_or_else(|| key_place(&text, "sweep"), |at| place(&text, at));
    let message = error.to_string();
    let help = match error {
        AxisError::Where { .. } => StudyError::from(error).help(),
        _ => Some(OUTLINE_OF_AXES.into()),
    };
    StudyError::StudyFile { path: path.into(), text, line, column, message, help }
}

/// Line and column, from 1, of a key of a study.
fn key_place(text: &str, key: &str) -> (usize, usize) {
    (text.lines().position(|line| line.starts_with(&format!("{key}:"))).map_or(1, |line| line + 1), 1)
}

/// Line and column, from 1, of a byte of a text.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

/// A sweep with its settings, for `guardbit sweep`. Paths are relative to this file.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(title = "guardbit study", extend("required" = ["schema", "model", "hw", "sweep"]))]
#[serde(deny_unknown_fields)]
pub(crate) struct RawStudy {
    /// Version of this file format: 1.
    #[serde(rename = "schema")]
    #[schemars(schema_with = "schema::version")]
    _schema: SchemaOne,
    /// The network's file, or a list of them.
    #[schemars(schema_with = "schema::texts")]
    model: OneOrMany<PathBuf>,
    /// The accelerator: a preset's name or a YAML file, or a list of them.
    #[schemars(schema_with = "schema::accelerators")]
    hw: OneOrMany<String>,
    /// Samples: .npy, or .npz by input name, of codes in the input's dtype or of float32 real values.
    input: Option<PathBuf>,
    #[schemars(description = random_meaning())]
    random: Option<usize>,
    /// So many samples of `input`: the first ones, or with `seed` different ones that it draws. Default: all.
    samples: Option<usize>,
    /// Seed of the random codes (default 0), or of the draw of `samples`.
    seed: Option<u64>,
    /// A label per sample, .npy: a class, for a detector 1 for an anomaly or 0, for a regressor float32 values.
    labels: Option<PathBuf>,
    /// What the output is judged by. Default: what labels and shapes leave no doubt about.
    #[schemars(schema_with = "schema::task")]
    task: Option<Parsed<Task>>,
    /// The output that is scored, of a network that has several.
    output: Option<String>,
    /// What each layer reads. Default: propagated.
    #[serde(default)]
    #[schemars(schema_with = "schema::mode")]
    mode: Parsed<Mode>,
    /// How much is counted. Default: events in propagated mode, full in isolated mode.
    #[schemars(schema_with = "schema::stats")]
    stats: Option<Parsed<StatsLevel>>,
    /// Requantization scheme in place of the model's own.
    #[schemars(schema_with = "schema::scheme")]
    requantize: Option<String>,
    /// Runtime whose results a TFLite network has. Default: litert-ref.
    #[schemars(schema_with = "schema::profile")]
    profile: Option<Parsed<Profile>>,
    /// Tensor that becomes an input of the network, or a list of them: what only computes it is left out.
    #[schemars(schema_with = "schema::texts")]
    from: Option<OneOrMany<String>>,
    /// Tensor that becomes the output of the network, or a list of them: what lies behind is left out.
    #[schemars(schema_with = "schema::texts")]
    to: Option<OneOrMany<String>>,
    /// Lengths of axes that an ONNX file leaves open, by their names, or as INPUT:PLACE: `{tokens: 128}`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, NonZeroUsize>")]
    dim: BTreeMap<String, NonZeroUsize>,
    /// How many events are listed per layer.
    events: Option<usize>,
    /// Overrides of the accelerator: dotted keys with their values, as `accumulation.acc.bits: 12`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    set: SetMap,
    /// What is varied.
    sweep: RawSweep,
}

/// What is varied: everything is combined with everything.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Sweep", extend("required" = []))]
#[serde(deny_unknown_fields)]
struct RawSweep {
    /// The level of `bits` and `overflow`. Default: the only one with a width.
    level: Option<String>,
    /// Its widths: 10..=24 (both included), or a list.
    #[schemars(schema_with = "schema::bits")]
    bits: Option<RawBits>,
    /// Its overflow modes. Default: its own.
    #[schemars(schema_with = "schema::overflow")]
    overflow: Option<OneOrMany<Parsed<Overflow>>>,
    /// Anything else: a key of the accelerator or an argument of a run, with a list of values or a range.
    #[serde(default)]
    #[schemars(schema_with = "schema::axes")]
    axes: RawAxes,
    /// Axes that go together, value by value: lists of keys.
    #[serde(default)]
    zip: Vec<Vec<String>>,
    /// Keep only points that satisfy this condition, or each of a list: comparisons of axes and values, joined by and, or, not.
    #[serde(rename = "where")]
    #[schemars(schema_with = "schema::texts")]
    conditions: Option<OneOrMany<String>>,
}

fn random_meaning() -> String {
    format!(
        "That many samples of uniformly random codes, in place of `input`. Default: {DEFAULT_RANDOM_SAMPLES}."
    )
}

impl RawSweep {
    /// What is varied beside the register of a level. Paths are relative to `dir`.
    fn axes(&mut self, dir: &Path) -> Result<Axes, AxisError> {
        let absolute = |axis: Axis| match Argument::find(axis.key()) {
            Some(argument) if argument.is_path() => {
                axis.map(|path| dir.join(path).to_string_lossy().into_owned())
            }
            Some(Argument::Hw) => axis.map(|hw| accelerator(dir, hw)),
            _ => axis,
        };
        let axes = std::mem::take(&mut self.axes.0).into_iter().map(absolute).collect();
        let conditions = self.conditions.take().into_iter().flat_map(|list| list.0);
        let conditions = conditions.map(|text| text.parse()).collect::<Result<Vec<Condition>, _>>()?;
        Axes::new(axes, &self.zip, conditions)
    }
}

/// A preset, or a file relative to `dir`.
fn accelerator(dir: &Path, hw: &str) -> String {
    if preset(hw).is_some() { hw.into() } else { dir.join(hw).to_string_lossy().into_owned() }
}

impl RawStudy {
    /// A list in which something stands twice.
    fn repeated(&self) -> Option<[&'static str; 3]> {
        fn repeats<T: Eq + Hash>(list: &OneOrMany<T>) -> bool {
            let mut seen = HashSet::new();
            !list.0.iter().all(|one| seen.insert(one))
        }
        let twice = |key, message| Some([key, message, "keep one of the two"]);
        if repeats(&self.model) {
            return twice("model", "a network stands twice in `model`");
        }
        if repeats(&self.hw) { twice("hw", "an accelerator stands twice in `hw`") } else { None }
    }

    /// What it says of a run. Paths are relative to `dir`.
    fn settings(&mut self, dir: &Path) -> RawSettings {
        let SetMap(sets) = std::mem::take(&mut self.set);
        RawSettings {
            input: self.input.take().map(|input| dir.join(input)),
            random: self.random,
            samples: self.samples,
            seed: self.seed,
            labels: self.labels.take().map(|labels| dir.join(labels)),
            task: self.task.take().map(|task| task.0),
            output: self.output.take(),
            mode: Some(self.mode.0),
            stats: self.stats.as_ref().map(|stats| stats.0),
            sets,
            requantize: self.requantize.take(),
            events: self.events,
            profile: self.profile.take().map(|profile| profile.0),
            cut: Cut {
                from: self.from.take().map_or_else(Vec::new, |names| names.0),
                to: self.to.take().map_or_else(Vec::new, |names| names.0),
                dims: std::mem::take(&mut self.dim).into_iter().collect(),
            },
        }
    }

    fn check(self, dir: &Path, settings: Settings, axes: Axes) -> SweepRequest {
        SweepRequest {
            models: self.model.0.into_iter().map(|model| dir.join(model)).collect(),
            hws: self.hw.0.into_iter().map(|hw| accelerator(dir, &hw)).collect(),
            settings,
            level: self.sweep.level,
            bits: self.sweep.bits.map(|bits| bits.0),
            overflow: self.sweep.overflow.into_iter().flat_map(|list| list.0).map(|mode| mode.0).collect(),
            axes,
            stats_given: self.stats.is_some(),
            cache: None,
            shard: None,
        }
    }
}

/// The key at fault, what is wrong, and what to do.
fn explained(conflict: InputConflict) -> [String; 3] {
    let (key, help) = match conflict {
        InputConflict::FileAndRandom => ("random", "keep one of the two"),
        InputConflict::SamplesWithoutFile => ("samples", "with random codes, `random` is their number"),
        InputConflict::SeedWithoutSamples => ("seed", "add `samples: N`, or leave `seed` out"),
    };
    [key.into(), conflict.to_string(), help.into()]
}

/// The only version of the file format.
#[derive(Debug)]
struct SchemaOne;

impl<'de> Deserialize<'de> for SchemaOne {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u64::deserialize(deserializer)? {
            1 => Ok(Self),
            other => {
                Err(D::Error::custom(format!("schema {other} is not known; this guardbit reads schema 1")))
            }
        }
    }
}

/// One value, or a list of them.
#[derive(Debug)]
struct OneOrMany<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A visitor, not an untagged enum: that would swallow the element's own message.
        struct List<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name, or a list of names")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
                T::deserialize(word.into_deserializer()).map(|one| OneOrMany(vec![one]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    if list.len() == MOST_ELEMENTS {
                        return Err(A::Error::custom(format!(
                            "the list has more than {MOST_ELEMENTS} elements"
                        )));
                    }
                    list.push(item);
                }
                if list.is_empty() { Err(A::Error::custom("the list is empty")) } else { Ok(OneOrMany(list)) }
            }
        }
        deserializer.deserialize_any(List(PhantomData))
    }
}

/// A word that is parsed.
#[derive(Debug, Default)]
struct Parsed<T>(T);

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for Parsed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        word.parse().map(Self).map_err(D::Error::custom)
    }
}

/// Axes in the order in which they stand, each a text of values or a list of them.
#[derive(Debug, Default)]
struct RawAxes(Vec<Axis>);

impl<'de> Deserialize<'de> for RawAxes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = RawAxes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("axes as {accumulation.acc.bits: 12..=16, mode: [propagated, isolated]}")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawAxes, A::Error> {
                let mut axes = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    if axes.len() == MOST_ELEMENTS {
                        return Err(A::Error::custom(format!("more than {MOST_ELEMENTS} axes")));
                    }
                    let axis = match map.next_value::<serde_yaml::Value>()? {
                        serde_yaml::Value::Sequence(values) => {
                            Axis::new(key, values.iter().map(flow).collect())
                        }
                        value => Axis::of_text(&key, &flow(&value)),
                    };
                    axes.push(axis.map_err(A::Error::custom)?);
                }
                Ok(RawAxes(axes))
            }
        }
        deserializer.deserialize_map(Map)
    }
}

/// A value as it would stand in a line of YAML.
fn flow(value: &serde_yaml::Value) -> String {
    use serde_yaml::Value;
    match value {
        Value::String(text) => text.clone(),
        Value::Sequence(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Mapping(map) => {
            let pairs = map.iter().map(|(key, value)| format!("{}: {}", flow(key), flow(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Null => "null".into(),
        Value::Tagged(tagged) => flow(&tagged.value),
    }
}

/// Widths as `8..=24`, as a number or as a list of numbers.
#[derive(Debug)]
struct RawBits(BitList);

impl<'de> Deserialize<'de> for RawBits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Widths;
        impl<'de> Visitor<'de> for Widths {
            type Value = String;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("widths as 10..=24 or [8, 12, 16]")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
                Ok(text.into())
            }

            fn visit_u64<E: Error>(self, width: u64) -> Result<String, E> {
                Ok(width.to_string())
            }

            fn visit_i64<E: Error>(self, width: i64) -> Result<String, E> {
                Ok(width.to_string())
            }

            fn visit_f64<E: Error>(self, width: f64) -> Result<String, E> {
                Ok(width.to_string())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<String, A::Error> {
                let mut words: Vec<String> = Vec::new();
                while let Some(width) = list.next_element::<i64>()? {
                    if words.len() == MOST_ELEMENTS {
                        return Err(A::Error::custom(format!(
                            "the list has more than {MOST_ELEMENTS} elements"
                        )));
                    }
                    words.push(width.to_string());
                }
                Ok(words.join(","))
            }
        }
        let words = deserializer.deserialize_any(Widths)?;
        words.parse().map(Self).map_err(D::Error::custom)
    }
}

fn located(path: &Path, text: &str, error: &serde_yaml::Error) -> StudyError {
    let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
    let full = guardbit_files::plain_words(&error.to_string());
    let message = full.split(" at line ").next().unwrap_or(&full).to_string();
    let help = help(&message);
    // The help lists the keys.
    let message = match message.split_once(", expected ") {
        Some((unknown, _)) if unknown.contains("unknown field") => unknown.to_string(),
        _ => message,
    };
    StudyError::StudyFile { path: path.into(), text: text.into(), line, column, message, help: Some(help) }
}

/// For a wrong key all that there are, else the outline of a study.
fn help(message: &str) -> String {
    let keys: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match keys.split_first() {
        Some((_, allowed)) if message.contains("unknown field") && !allowed.is_empty() => {
            let whose = if message.starts_with("sweep") { "`sweep`" } else { "a study" };
            format!("the keys of {whose} are {}", allowed.join(", "))
        }
        _ => OUTLINE.into(),
    }
}
