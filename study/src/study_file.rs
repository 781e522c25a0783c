//! Reads study files: sweeps in YAML.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::hash::Hash;
use std::num::NonZeroUsize;
use std::path::Path;

use guardbit_documents::{Document, Fault, FilePlace, Form, Path as KeyPath, at_key, flow};
use guardbit_frontends::Dim;
use guardbit_hwmodels::{Origin, SetMap, preset};
use serde::de::{self, DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
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

const OUTLINE: &str = "expected e.g. {schema: 1, model, hw, input, labels, ..., sweep: {bits: 10..=24, ...}}";

const CODE: &str = "guardbit::study::file";

const FORM: Form = Form { name: "a study", most_bytes: MOST_BYTES };

/// Text of a study file, which gives errors their places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyText {
    file: String,
    text: String,
}

/// Reads a study file. Paths in it are relative to the file itself.
///
/// # Errors
/// [`StudyError::StudyFile`] with the position of the problem.
pub fn load_study(path: &Path) -> Result<SweepRequest, StudyError> {
    let text = guardbit_files::read_text(path, MOST_BYTES)
        .map_err(|source| StudyError::read(path, Wanted::Study, source))?;
    let study = StudyText { file: path.display().to_string(), text };
    let raw = study.read()?;
    let request = raw.arguments(path.parent().unwrap_or(Path::new(""))).sweep_request();
    let request = request.map_err(|error| study.placed(error))?;
    Ok(SweepRequest { study: Some(study), ..request })
}

impl StudyText {
    fn read(&self) -> Result<RawStudy, StudyError> {
        // A network in YAML is the likely cause of an unknown key.
        let is_network = self.text.lines().any(|line| line.starts_with("nodes:"));
        let outline = if is_network { "this is a network: give --hw HW to sweep it" } else { OUTLINE };
        let wrong = |fault: Fault| StudyError::StudyFile {
            message: fault.message(),
            help: fault.help().filter(|_| !is_network).unwrap_or_else(|| outline.into()),
            place: fault
                .place
                .unwrap_or_else(|| FilePlace::new(&self.file, &self.text.as_str().into(), 1, 1).into()),
            code: CODE,
        };
        let document = Document::new(FORM, &self.file, &self.text).map_err(wrong)?;
        let raw: RawStudy = document.read().map_err(wrong)?;
        match raw.repeated() {
            None => Ok(raw),
            Some((path, message)) => Err(StudyError::StudyFile {
                place: document.place(&path).into(),
                message: message.into(),
                help: "keep one of the two".into(),
                code: CODE,
            }),
        }
    }

    /// Returns an error with its place, if it is about the file. Its code stays.
    pub(crate) fn placed(&self, error: StudyError) -> StudyError {
        let Ok(document) = Document::new(FORM, &self.file, &self.text) else { return error };
        let [mut message, mut help] = [error.to_string(), error.help()];
        let place = match &error {
            StudyError::Arguments(misuse) => {
                [message, help] = misuse.in_study();
                document.place(&key_path(&misuse.name))
            }
            StudyError::Axis(AxisError::Where { condition, at, .. }) => {
                let key = document.place(&KeyPath::keys(&["sweep", "where"]));
                let found = key.text[key.span.start..].find(condition);
                let start = found.map(|start| key.span.start + start + at.start);
                start.map_or(key.clone(), |start| {
                    FilePlace::of_span(&self.file, &key.text, start..start + at.len())
                })
            }
            StudyError::Axis(error) => document.place(&axis_path(error)),
            StudyError::Hw(problem) => {
                let (parent, text) = match problem.origin() {
                    Origin::Axis(text) => (&["sweep", "axes"][..], text),
                    Origin::Set(text) => (&["set"][..], text),
                    Origin::File(_) | Origin::Preset(_) | Origin::Nowhere => return error,
                };
                let key = text.split_once('=').map_or(text.as_str(), |(key, _)| key);
                message = problem.message().into();
                document.place(&KeyPath::keys(parent).join(key))
            }
            StudyError::UnknownLevel { .. } => document.place(&KeyPath::keys(&["sweep", "level"])),
            StudyError::NothingVaried
            | StudyError::TooManyPoints { .. }
            | StudyError::AmbiguousLevel { .. } => document.place(&KeyPath::keys(&["sweep"])),
            _ => return error,
        };
        StudyError::StudyFile { place: place.into(), message, help, code: error.code() }
    }
}

/// Path of an argument.
fn key_path(name: &str) -> KeyPath {
    match ROWS.iter().find(|row| row.name == name).map(|row| row.in_study) {
        Some(InStudy::Sweep) => KeyPath::keys(&["sweep", if name == "axis" { "axes" } else { name }]),
        _ => KeyPath::keys(&[name]),
    }
}

/// Path of what an error about the axes is about.
fn axis_path(error: &AxisError) -> KeyPath {
    match error {
        AxisError::Values { key, .. }
        | AxisError::Argument { key, .. }
        | AxisError::Repeated { key, .. }
        | AxisError::Twice(key)
        | AxisError::Same { second: key, .. } => KeyPath::keys(&["sweep", "axes", key]),
        AxisError::Zip(_) => KeyPath::keys(&["sweep", "zip"]),
        AxisError::Where { .. } | AxisError::NoPoint(_) => KeyPath::keys(&["sweep", "where"]),
        AxisError::NoAxis(_) => KeyPath::keys(&["sweep", "axes"]),
    }
}

/// Study as read.
#[derive(Debug, Default)]
pub(crate) struct RawStudy(Arguments);

/// Returns the name of a preset, or the path of a file relative to `dir`.
fn accelerator(dir: &Path, hw: &str) -> String {
    if preset(hw).is_some() { hw.into() } else { dir.join(hw).to_string_lossy().into_owned() }
}

impl RawStudy {
    /// An element of a list that stands there before, and what is wrong with it.
    fn repeated(&self) -> Option<(KeyPath, &'static str)> {
        fn repeated<T: Eq + Hash>(list: &[T]) -> Option<usize> {
            let mut seen = HashSet::new();
            list.iter().position(|one| !seen.insert(one))
        }
        let of = |key, index: Option<usize>, message| Some((KeyPath::keys(&[key]).item(index?), message));
        of("model", repeated(&self.0.model), "a network appears twice in `model`")
            .or_else(|| of("hw", repeated(&self.0.hw), "an accelerator appears twice in `hw`"))
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
            InStudy::Sweep => "a map of axes, e.g. {bits: 10..=24}",
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
                Key::Schema => match map.next_value::<u64>()? {
                    1 => {}
                    other => {
                        return Err(at_key(
                            "schema",
                            format!("invalid value: integer `{other}`, expected 1"),
                        ));
                    }
                },
                Key::Sweep => map.next_value_seed(Section(Keys(InStudy::Sweep), all))?,
                Key::Axes => all.axis = map.next_value::<RawAxes>()?.0,
                Key::Set => all.set = map.next_value::<SetMap>()?.0,
                Key::Dim => {
                    let dims: BTreeMap<String, NonZeroUsize> = map.next_value()?;
                    let dim = |(axis, length): (&String, &NonZeroUsize)| {
                        let dim = Dim::new(axis, &length.to_string());
                        dim.map_err(|problem| at_key("dim", at_key::<de::value::Error>(axis, problem)))
                    };
                    all.dim = dims.iter().map(dim).collect::<Result<_, _>>()?;
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
                return Err(A::Error::custom(format!("more than {MOST_ELEMENTS} elements")));
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

/// Axes in the order of the file, each with a text of values or a list of values.
#[derive(Debug, Default)]
struct RawAxes(Vec<Axis>);

impl<'de> Deserialize<'de> for RawAxes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = RawAxes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a map of axes, e.g. {accumulation.acc.bits: 12..=16, mode: [propagated, isolated]}",
                )
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawAxes, A::Error> {
                let mut axes = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    if axes.iter().any(|axis: &Axis| axis.key() == key) {
                        return Err(A::Error::custom(format!("duplicate field `{key}`")));
                    }
                    if axes.len() == MOST_ELEMENTS {
                        return Err(A::Error::custom(format!("more than {MOST_ELEMENTS} axes")));
                    }
                    let axis = match map.next_value::<serde_yaml::Value>()? {
                        serde_yaml::Value::Sequence(values) => {
                            Axis::new(key.clone(), values.iter().map(text_of).collect())
                        }
                        value => Axis::of_text(&key, &text_of(&value)),
                    };
                    axes.push(axis.map_err(|error| match error {
                        AxisError::Values { problem, .. } => at_key(&key, problem),
                        error => at_key(&key, error),
                    })?);
                }
                Ok(RawAxes(axes))
            }
        }
        deserializer.deserialize_map(Map)
    }
}

/// An axis's value as text.
fn text_of(value: &serde_yaml::Value) -> String {
    match value {
        serde_yaml::Value::String(text) => text.clone(),
        value => flow::text(value),
    }
}
