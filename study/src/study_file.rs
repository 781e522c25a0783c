//! Reads study files: sweeps in YAML.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::hash::Hash;
use std::num::NonZeroUsize;
use std::path::Path;

use guardbit_documents::NestingError;
use guardbit_frontends::Dim;
use guardbit_hwmodels::{SetMap, preset};
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;

use crate::arguments::{Arguments, InStudy, ROWS, Row, Shape};
use crate::axes::argument;
use crate::error::Wanted;
use crate::{Axis, AxisError, StudyError, SweepRequest};

/// Maximum bytes of a study file.
const MOST_BYTES: u64 = 1 << 17;

/// Maximum elements of a list.
const MOST_ELEMENTS: usize = 1000;

const OUTLINE: &str = "a study is {schema: 1, model, hw, input, labels, ..., sweep: {bits: 10..=24, ...}}";

const OUTLINE_OF_AXES: &str =
    "axes are {KEY: VALUES, ...}; `zip: [[KEY, KEY]]` pairs some, `where: [\"KEY < KEY\"]` leaves points out";

/// Reads a study file. Paths in it are relative to the file itself.
///
/// # Errors
/// [`StudyError::StudyFile`] with the position of the problem.
pub fn load_study(path: &Path) -> Result<SweepRequest, StudyError> {
    let text = guardbit_files::read_text(path, MOST_BYTES)
        .map_err(|source| StudyError::read(path, Wanted::Study, source))?;
    if let Err(error) = guardbit_documents::check_nesting(&text) {
        let message = format!("the text is nested too deeply: {error}");
        let (message, help) = (message, Some(error.help().unwrap_or(OUTLINE).into()));
        let NestingError { line, column, .. } = error;
        return Err(StudyError::StudyFile { path: path.into(), text, line, column, message, help });
    }
    let raw = serde_yaml::from_str::<RawStudy>(&text).map_err(|error| located(path, &text, &error))?;
    if let Some([key, message, help]) = raw.repeated() {
        return Err(at_key(path, text, key, message.into(), Some(help.into())));
    }
    match raw.arguments(path.parent().unwrap_or(Path::new(""))).sweep_request() {
        Err(StudyError::Arguments(misuse)) => {
            let [message, help] = misuse.in_study();
            Err(at_key(path, text, &misuse.name, message.unwrap_or_default(), help))
        }
        Err(StudyError::Axis(error)) => Err(of_axes(path, text, error)),
        other => other,
    }
}

fn at_key(path: &Path, text: String, key: &str, message: String, help: Option<String>) -> StudyError {
    let (line, column) = key_place(&text, key);
    StudyError::StudyFile { path: path.into(), text, line, column, message, help }
}

/// Converts an error of axes; for a condition, finds the position in the file.
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

/// Returns line and column, from 1, of a key of a study.
fn key_place(text: &str, key: &str) -> (usize, usize) {
    (text.lines().position(|line| line.starts_with(&format!("{key}:"))).map_or(1, |line| line + 1), 1)
}

/// Returns line and column, from 1, of a byte offset in a text.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

/// Study as read.
#[derive(Debug, Default)]
pub(crate) struct RawStudy(Arguments);

/// Returns the name of a preset, or the path of a file relative to `dir`.
fn accelerator(dir: &Path, hw: &str) -> String {
    if preset(hw).is_some() { hw.into() } else { dir.join(hw).to_string_lossy().into_owned() }
}

impl RawStudy {
    /// Returns a list that contains a value twice, if any.
    fn repeated(&self) -> Option<[&'static str; 3]> {
        fn repeats<T: Eq + Hash>(list: &[T]) -> bool {
            let mut seen = HashSet::new();
            !list.iter().all(|one| seen.insert(one))
        }
        let twice = |key, message| Some([key, message, "keep one of the two"]);
        if repeats(&self.0.model) {
            return twice("model", "a network stands twice in `model`");
        }
        if repeats(&self.0.hw) { twice("hw", "an accelerator stands twice in `hw`") } else { None }
    }

    /// Returns the arguments that the study states. Paths are relative to `dir`.
    fn arguments(self, dir: &Path) -> Arguments {
        let Self(mut all) = self;
        all.moved(dir);
        all.hw.iter_mut().for_each(|hw| *hw = accelerator(dir, hw));
        let absolute = |axis: Axis| match argument(axis.key()) {
            Some(row) if row.is_path() => axis.map(|path| dir.join(path).to_string_lossy().into_owned()),
            _ if axis.key() == "hw" => axis.map(|hw| accelerator(dir, hw)),
            _ => axis,
        };
        all.axis = std::mem::take(&mut all.axis).into_iter().map(absolute).collect();
        all
    }
}

/// Key of a study, or of its `sweep`.
#[derive(Clone, Copy)]
enum Key {
    Schema,
    Sweep,
    /// Axes: keys whose values are maps.
    Axes,
    Set,
    Dim,
    Row(&'static Row),
}

/// Set of keys that one map may have.
#[derive(Clone, Copy)]
struct Keys(InStudy);

impl Keys {
    /// Returns every key with its name, in order.
    fn all(self) -> Vec<(&'static str, Key)> {
        let rows = ROWS.iter().filter(|row| row.in_study == self.0).map(|row| match row.name {
            "axis" => ("axes", Key::Axes),
            "set" => ("set", Key::Set),
            "dim" => ("dim", Key::Dim),
            name => (name, Key::Row(row)),
        });
        let (first, last) = match self.0 {
            InStudy::Setting => (Some(("schema", Key::Schema)), Some(("sweep", Key::Sweep))),
            InStudy::Sweep | InStudy::No => (None, None),
        };
        first.into_iter().chain(rows).chain(last).collect()
    }
}

impl<'de> DeserializeSeed<'de> for Keys {
    type Value = (&'static str, Key);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Keys {
    type Value = (&'static str, Key);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a setting")
    }

    // Fail here, so that the error has the position of the key.
    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        let all = self.all();
        all.iter().find(|(known, _)| *known == name).copied().ok_or_else(|| {
            let names = all.iter().map(|(known, _)| format!("`{known}`")).collect::<Vec<_>>().join(", ");
            E::custom(format!("unknown field `{name}`, expected one of {names}"))
        })
    }
}

/// Reader of the keys of one map into arguments.
struct Section<'a>(Keys, &'a mut Arguments);

impl<'de> DeserializeSeed<'de> for Section<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Section<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0.0 {
            InStudy::Sweep => "what is varied, as {bits: 10..=24}",
            _ => "a map with the settings of a study",
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(keys, all) = self;
        let mut seen = HashSet::new();
        while let Some((name, key)) = map.next_key_seed(keys)? {
            if !seen.insert(name) {
                return Err(A::Error::duplicate_field(name));
            }
            match key {
                Key::Schema => {
                    let SchemaOne = map.next_value()?;
                }
                Key::Sweep => map.next_value_seed(Section(Keys(InStudy::Sweep), all))?,
                Key::Axes => all.axis = map.next_value::<RawAxes>()?.0,
                Key::Set => all.set = map.next_value::<SetMap>()?.0,
                Key::Dim => {
                    let dims: BTreeMap<String, NonZeroUsize> = map.next_value()?;
                    let dims = dims.iter().map(|(axis, length)| Dim::new(axis, &length.to_string()));
                    all.dim = dims.collect::<Result<_, _>>().map_err(A::Error::custom)?;
                }
                Key::Row(row) => map.next_value_seed(Values { row, all, alone: false })?,
            }
        }
        let needed: &[&'static str] =
            if keys.0 == InStudy::Setting { &["schema", "model", "hw", "sweep"] } else { &[] };
        match needed.iter().find(|name| !seen.contains(*name)) {
            Some(name) => Err(A::Error::missing_field(name)),
            None => Ok(()),
        }
    }
}

impl<'de> Deserialize<'de> for RawStudy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut all = Arguments::default();
        Section(Keys(InStudy::Setting), &mut all).deserialize(deserializer)?;
        Ok(Self(all))
    }
}

/// Reader of one or several values of an argument. Errors have the position of the value.
struct Values<'a> {
    row: &'static Row,
    all: &'a mut Arguments,
    /// Whether this is an element of a list.
    alone: bool,
}

impl Values<'_> {
    fn put<E: Error>(self, value: Json) -> Result<(), E> {
        let value = if self.row.shape == Shape::Many { Json::Array(vec![value]) } else { value };
        self.row.put_json(self.all, &value).map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for Values<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Values<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row.kind.expected())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.put(text.into())
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<(), E> {
        self.put(flag.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.put(number.into())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.put(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.put(number.into())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Self { row, all, alone } = self;
        let is_list = row.shape == Shape::Many && !alone;
        let (mut count, mut values) = (0, Vec::new());
        loop {
            if count > MOST_ELEMENTS {
                return Err(A::Error::custom(format!("the list has more than {MOST_ELEMENTS} elements")));
            }
            let more = if is_list {
                items.next_element_seed(Values { row, all: &mut *all, alone: true })?.is_some()
            } else {
                items.next_element::<Json>()?.map(|value| values.push(value)).is_some()
            };
            if !more {
                break;
            }
            count += 1;
        }
        match is_list {
            true if count == 0 && row.name != "zip" => Err(A::Error::custom("the list is empty")),
            true => Ok(()),
            false => Values { row, all, alone }.put(Json::Array(values)),
        }
    }
}

/// Version of the file format; only one exists.
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

/// Axes in the order of the file, each with a text of values or a list of values.
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

/// Returns a value in the flow form of YAML.
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

fn located(path: &Path, text: &str, error: &serde_yaml::Error) -> StudyError {
    let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
    let full = guardbit_files::plain_words(&error.to_string());
    let message = full.split(" at line ").next().unwrap_or(&full).to_string();
    let help = help(&message);
    // The help text lists the keys.
    let message = match message.split_once(", expected ") {
        Some((unknown, _)) if unknown.contains("unknown field") => unknown.to_string(),
        _ => message,
    };
    StudyError::StudyFile { path: path.into(), text: text.into(), line, column, message, help: Some(help) }
}

/// Returns the list of valid keys for an unknown key, otherwise the outline of a study.
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
