//! Study files: a sweep in YAML.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::fs;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use guardbit_hwmodels::preset;
use guardbit_num::Overflow;
use guardbit_sim::{Mode, StatsLevel};
use serde::de::{Error, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_yaml::Value;

use crate::{BitList, InputSource, Settings, StudyError, SweepRequest, default_sweep_stats};

/// Reads a study file. Paths in it are relative to the file itself.
///
/// # Errors
/// [`StudyError::StudyFile`] with the place of what is wrong.
pub fn load_study(path: &Path) -> Result<SweepRequest, StudyError> {
    let text = fs::read_to_string(path).map_err(|source| StudyError::Read { path: path.into(), source })?;
    let raw = serde_yaml::from_str::<RawStudy>(&text).map_err(|error| located(path, &text, &error))?;
    let dir = path.parent().unwrap_or(Path::new(""));
    if raw.input.is_some() && raw.random.is_some() {
        let message = "`input` and `random` exclude each other".to_string();
        return Err(StudyError::StudyFile {
            path: path.into(),
            text,
            line: 1,
            column: 1,
            message,
            help: None,
        });
    }
    Ok(raw.check(dir))
}

/// A study as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStudy {
    #[serde(rename = "schema")]
    _schema: SchemaOne,
    model: OneOrMany<PathBuf>,
    hw: OneOrMany<String>,
    input: Option<PathBuf>,
    random: Option<usize>,
    #[serde(default)]
    seed: u64,
    labels: Option<PathBuf>,
    output: Option<String>,
    #[serde(default)]
    mode: Parsed<Mode>,
    stats: Option<Parsed<StatsLevel>>,
    requantize: Option<String>,
    events: Option<usize>,
    #[serde(default)]
    set: BTreeMap<String, Value>,
    sweep: RawSweep,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSweep {
    level: Option<String>,
    bits: RawBits,
    overflow: Option<OneOrMany<Parsed<Overflow>>>,
}

impl RawStudy {
    fn check(self, dir: &Path) -> SweepRequest {
        let input = match (self.input, self.random) {
            (Some(file), _) => InputSource::File(dir.join(file)),
            (None, count) => {
                InputSource::Random { count: count.unwrap_or(crate::DEFAULT_RANDOM_SAMPLES), seed: self.seed }
            }
        };
        let mut sets: Vec<String> =
            self.set.iter().map(|(key, value)| format!("{key}={}", flow(value))).collect();
        sets.extend(self.requantize.map(|scheme| format!("requantize.scheme={scheme}")));
        let hw = |hw: String| {
            if preset(&hw).is_some() { hw } else { dir.join(hw).to_string_lossy().into_owned() }
        };
        SweepRequest {
            models: self.model.0.into_iter().map(|model| dir.join(model)).collect(),
            hws: self.hw.0.into_iter().map(hw).collect(),
            settings: Settings {
                input,
                labels: self.labels.map(|labels| dir.join(labels)),
                output: self.output,
                mode: self.mode.0,
                stats: self.stats.map_or_else(|| default_sweep_stats(self.mode.0), |stats| stats.0),
                sets,
                events: self.events.unwrap_or(crate::DEFAULT_EVENTS),
            },
            level: self.sweep.level,
            bits: self.sweep.bits.0,
            overflow: self.sweep.overflow.into_iter().flat_map(|list| list.0).map(|mode| mode.0).collect(),
        }
    }
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

/// Widths as `8..=24`, as a number or as a list of numbers.
#[derive(Debug)]
struct RawBits(BitList);

impl<'de> Deserialize<'de> for RawBits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = match Value::deserialize(deserializer)? {
            Value::String(text) => text,
            Value::Sequence(list) => list.iter().map(flow).collect::<Vec<_>>().join(","),
            other => flow(&other),
        };
        words.parse().map(Self).map_err(D::Error::custom)
    }
}

/// A value in YAML's flow style, on one line. JSON is a part of YAML.
fn flow(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn located(path: &Path, text: &str, error: &serde_yaml::Error) -> StudyError {
    let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
    let full = error.to_string();
    let message = full.split(" at line ").next().unwrap_or(&full).to_string();
    StudyError::StudyFile {
        path: path.into(),
        text: text.into(),
        line,
        column,
        message,
        help: Some("a study is {schema: 1, model, hw, input, labels, output, mode, set, sweep: {level, bits, overflow}}".into()),
    }
}
