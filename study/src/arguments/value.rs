//! Types of arguments: reading from text and JSON, and their description in schemas and in Python.

use std::fmt::{Debug, Display};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use guardbit_frontends::{Dim, Profile};
use guardbit_num::{MAX_BITS, MIN_BITS, Overflow, Scheme};
use guardbit_reports::{Medium, PlotFont, PlotSize, Task};
use guardbit_sim::{Mode, StatsLevel};
use serde_json::{Value as Json, json};

use crate::{
    AreaTool, Axis, BitList, Budget, CodeType, Grid, MixedBudget, Objective, Shard, ShardError, TableFormat,
};

/// Form of a value, independent of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// The path of a file or folder.
    Path,
    /// Whole number of at least 0.
    Whole,
    /// A finite number.
    Real,
    /// Set or not set.
    Flag,
    /// Numbers, or a text that lists numbers.
    Numbers,
    /// Key with its values.
    Entry,
}

impl Kind {
    /// Returns the phrase after "expected" in messages.
    pub(crate) fn expected(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Path => "a path",
            Self::Whole => "a whole number of at least 0",
            Self::Real => "a number",
            Self::Flag => "true or false",
            Self::Numbers => "a number, or a list of numbers as text",
            Self::Entry => "a key with its values",
        }
    }
}

/// Type of an argument's value.
pub(super) trait Value: Sized + Clone {
    const KIND: Kind;

    /// Reads the value from a text.
    fn read(text: &str) -> Result<Self, String>;

    /// Returns the value as manifests list it.
    fn shown(&self) -> Json;

    /// Returns all values of an enumerated type; empty for other types.
    fn words() -> Vec<&'static str> {
        Vec::new()
    }

    /// Reads the value from JSON of the form that [`KIND`](Self::KIND) requires.
    fn of_json(value: &Json) -> Result<Self, String> {
        match (Self::KIND, value) {
            (Kind::Text | Kind::Path | Kind::Numbers | Kind::Entry, Json::String(text)) => Self::read(text),
            (Kind::Whole | Kind::Real | Kind::Numbers, Json::Number(number)) => {
                Self::read(&number.to_string())
            }
            (Kind::Flag, Json::Bool(flag)) => Self::read(&flag.to_string()),
            (kind, found) => Err(format!("expected {}, found {found}", kind.expected())),
        }
    }

    /// Returns the JSON schema of the value in a study file.
    fn schema() -> Json {
        match Self::KIND {
            _ if !Self::words().is_empty() => json!({ "enum": Self::words() }),
            Kind::Text | Kind::Path | Kind::Entry | Kind::Numbers => json!({ "type": "string" }),
            Kind::Whole => json!({ "type": "integer", "minimum": 0 }),
            Kind::Real => json!({ "type": "number" }),
            Kind::Flag => json!({ "type": "boolean" }),
        }
    }

    /// Returns the value of a path; `None` for a type that is not a path.
    fn of_path(_path: &Path) -> Option<Self> {
        None
    }

    /// Returns the value with relative paths resolved against `dir`.
    fn moved(self, _dir: &Path) -> Self {
        self
    }
}

fn parsed<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// Implements [`Value`] for types with [`FromStr`], from their kind, their form in manifests and, for
/// enumerated types, their names.
macro_rules! values {
    ($($ty:ty: $kind:ident, $shown:expr $(, $words:expr)?;)*) => {
        $(impl Value for $ty {
            const KIND: Kind = Kind::$kind;

            fn read(text: &str) -> Result<Self, String> {
                parsed(text)
            }

            fn shown(&self) -> Json {
                let shown: fn(&Self) -> Json = $shown;
                shown(self)
            }

            $(fn words() -> Vec<&'static str> {
                $words.into()
            })?
        })*
    };
}

values! {
    String: Text, |text| json!(text);
    Mode: Text, |mode| json!(mode.name()), Mode::ALL.map(Mode::name);
    StatsLevel: Text, |level| json!(level.name()), StatsLevel::ALL.map(StatsLevel::name);
    Task: Text, |task| json!(task.name()), Task::ALL.map(Task::name);
    Profile: Text, |profile| json!(profile.name()), Profile::ALL.map(Profile::name);
    Scheme: Text, |scheme| json!(scheme.name()),
        Scheme::ALL.iter().flat_map(|scheme| [scheme.name(), scheme.id()]).collect::<Vec<_>>();
    Overflow: Text, |mode| json!(mode.name()), Overflow::ALL.map(Overflow::name);
    TableFormat: Text, |format| json!(format), ["csv", "parquet"];
    Grid: Text, |grid| json!(grid.name()), Grid::ALL.map(Grid::name);
    AreaTool: Text, |_| json!("yosys"), ["yosys"];
    Objective: Text, |objective| json!(objective.name()), Objective::ALL.map(Objective::name);
    Budget: Text, |budget| json!(budget.to_string());
    MixedBudget: Text, |budget| json!(budget.to_string());
    Medium: Text, |medium| json!(medium.name()), Medium::ALL.map(Medium::name);
    PlotSize: Text, |size| json!(size.to_string());
    PlotFont: Text, |font| json!(font.to_string());
    CodeType: Text, |codes| json!(codes.to_string());
    Dim: Text, |dim| json!(dim.to_string());
}

/// Implements [`Value`] for whole numbers of at least 0, with other messages than Rust's parser.
macro_rules! whole {
    ($($ty:ty),*) => {
        $(impl Value for $ty {
            const KIND: Kind = Kind::Whole;

            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|_| format!("`{text}`: expected {}", Kind::Whole.expected()))
            }

            fn shown(&self) -> Json {
                json!(self)
            }
        })*
    };
}

whole!(usize, u64);

/// Whether something is there: `on` or `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnOff(pub bool);

impl Value for OnOff {
    const KIND: Kind = Kind::Text;

    fn read(text: &str) -> Result<Self, String> {
        match text {
            "on" => Ok(Self(true)),
            "off" => Ok(Self(false)),
            _ => Err(format!("`{text}`: expected on or off")),
        }
    }

    fn shown(&self) -> Json {
        json!(if self.0 { "on" } else { "off" })
    }

    fn words() -> Vec<&'static str> {
        vec!["on", "off"]
    }
}

/// A limit of time in seconds, from 1 to a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seconds(pub u64);

impl Value for Seconds {
    const KIND: Kind = Kind::Whole;

    fn read(text: &str) -> Result<Self, String> {
        const DAY: u64 = 86_400;
        let seconds = text.parse().ok().filter(|seconds| (1..=DAY).contains(seconds));
        seconds.map(Self).ok_or_else(|| format!("`{text}`: expected a number of seconds from 1 to {DAY}"))
    }

    fn shown(&self) -> Json {
        json!(self.0)
    }
}

impl Value for bool {
    const KIND: Kind = Kind::Flag;

    fn read(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| format!("`{text}`: expected {}", Kind::Flag.expected()))
    }

    fn shown(&self) -> Json {
        json!(self)
    }
}

impl Value for f64 {
    const KIND: Kind = Kind::Real;

    fn read(text: &str) -> Result<Self, String> {
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| format!("`{text}`: expected {}", Kind::Real.expected()))
    }

    fn shown(&self) -> Json {
        json!(self)
    }
}

impl Value for PathBuf {
    const KIND: Kind = Kind::Path;

    fn read(text: &str) -> Result<Self, String> {
        Ok(text.into())
    }

    fn shown(&self) -> Json {
        json!(self.file_name().unwrap_or_default().to_string_lossy())
    }

    fn of_path(path: &Path) -> Option<Self> {
        Some(path.into())
    }

    fn moved(self, dir: &Path) -> Self {
        dir.join(self)
    }
}

impl Value for BitList {
    const KIND: Kind = Kind::Numbers;

    fn read(text: &str) -> Result<Self, String> {
        parsed(text)
    }

    fn shown(&self) -> Json {
        json!(self.widths())
    }

    fn of_json(value: &Json) -> Result<Self, String> {
        match value {
            Json::Array(widths) => {
                Self::read(&widths.iter().map(Json::to_string).collect::<Vec<_>>().join(","))
            }
            Json::String(text) => Self::read(text),
            value => Self::read(&value.to_string()),
        }
    }

    fn schema() -> Json {
        let width = json!({ "type": "integer", "minimum": MIN_BITS, "maximum": MAX_BITS });
        let range = json!({ "type": "string", "pattern": "^[0-9 ,]+(\\.\\.= *[0-9]+)?" });
        json!({ "anyOf": [width, range, { "type": "array", "items": width, "minItems": 1 }] })
    }
}

impl Value for Shard {
    const KIND: Kind = Kind::Text;

    /// Reads `I/N`, or for `slurm` the environment variables of a job array.
    fn read(text: &str) -> Result<Self, String> {
        let shard = match text {
            "slurm" => Self::of_slurm(|name| std::env::var(name).ok()),
            text => text.parse(),
        };
        shard.map_err(|error: ShardError| error.to_string())
    }

    fn shown(&self) -> Json {
        json!(self.to_string())
    }
}

impl Value for Axis {
    const KIND: Kind = Kind::Entry;

    fn read(text: &str) -> Result<Self, String> {
        parsed(text)
    }

    fn shown(&self) -> Json {
        json!(self.to_string())
    }

    /// Reads an axis from `[key, values]`, where values are one text as on the command line, or a list.
    fn of_json(value: &Json) -> Result<Self, String> {
        let text = |value: &Json| value.as_str().map(String::from);
        let axis = match value.as_array().map(Vec::as_slice) {
            Some([Json::String(key), Json::String(values)]) => Self::of_text(key, values),
            Some([Json::String(key), Json::Array(values)]) => {
                let values: Option<Vec<String>> = values.iter().map(text).collect();
                Self::new(key, values.ok_or_else(|| format!("axis `{key}`: expected texts"))?)
            }
            _ => return Err(format!("expected {}, found {value}", Kind::Entry.expected())),
        };
        axis.map_err(|error| error.to_string())
    }
}

/// Keys of axes that are zipped: `KEY,KEY` as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zip(pub Vec<String>);

impl Value for Zip {
    const KIND: Kind = Kind::Text;

    fn read(text: &str) -> Result<Self, String> {
        Ok(Self(text.split(',').map(|key| key.trim().to_owned()).collect()))
    }

    fn shown(&self) -> Json {
        json!(self.0.join(","))
    }

    fn of_json(value: &Json) -> Result<Self, String> {
        let keys = value.as_array().ok_or("expected a list of keys")?.iter();
        let keys: Option<Vec<String>> = keys.map(|key| key.as_str().map(String::from)).collect();
        Ok(Self(keys.ok_or("expected a list of keys")?))
    }

    fn schema() -> Json {
        json!({ "type": "array", "items": { "type": "string" } })
    }
}

/// Number of values of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Set or not set.
    Flag,
    /// One value.
    One,
    /// Several values.
    Many,
}

/// Field of an argument in [`Arguments`](super::Arguments).
pub(super) trait Slot {
    type Of: Value;
    const SHAPE: Shape;

    fn is_given(&self) -> bool;

    /// Adds a value, or replaces the only one.
    fn put(&mut self, value: Self::Of);

    fn values(&self) -> Vec<&Self::Of>;

    fn values_mut(&mut self) -> Vec<&mut Self::Of>;
}

impl<T: Value> Slot for Option<T> {
    type Of = T;
    const SHAPE: Shape = Shape::One;

    fn is_given(&self) -> bool {
        self.is_some()
    }

    fn put(&mut self, value: T) {
        *self = Some(value);
    }

    fn values(&self) -> Vec<&T> {
        self.iter().collect()
    }

    fn values_mut(&mut self) -> Vec<&mut T> {
        self.iter_mut().collect()
    }
}

impl<T: Value> Slot for Vec<T> {
    type Of = T;
    const SHAPE: Shape = Shape::Many;

    fn is_given(&self) -> bool {
        !self.is_empty()
    }

    fn put(&mut self, value: T) {
        self.push(value);
    }

    fn values(&self) -> Vec<&T> {
        self.iter().collect()
    }

    fn values_mut(&mut self) -> Vec<&mut T> {
        self.iter_mut().collect()
    }
}

impl Slot for bool {
    type Of = bool;
    const SHAPE: Shape = Shape::Flag;

    fn is_given(&self) -> bool {
        *self
    }

    fn put(&mut self, value: bool) {
        *self = value;
    }

    fn values(&self) -> Vec<&bool> {
        vec![self]
    }

    fn values_mut(&mut self) -> Vec<&mut bool> {
        vec![self]
    }
}

/// Puts a JSON value into a slot; `null` leaves the slot unchanged.
pub(super) fn put_json<S: Slot>(slot: &mut S, value: &Json) -> Result<(), String> {
    match value {
        Json::Null => Ok(()),
        Json::Array(values) if S::SHAPE == Shape::Many => {
            values.iter().try_for_each(|value| S::Of::of_json(value).map(|value| slot.put(value)))
        }
        value => S::Of::of_json(value).map(|value| slot.put(value)),
    }
}

/// Puts a value given as text into a slot.
pub(super) fn put<S: Slot>(slot: &mut S, text: &str) -> Result<(), String> {
    S::Of::read(text).map(|value| slot.put(value))
}

/// Returns the slot's value as manifests list it.
pub(super) fn shown<S: Slot>(slot: &S) -> Json {
    let mut values: Vec<Json> = slot.values().into_iter().map(S::Of::shown).collect();
    match S::SHAPE {
        Shape::Many => Json::Array(values),
        Shape::One | Shape::Flag => values.pop().unwrap_or(Json::Null),
    }
}

/// Resolves relative paths in a slot against `dir`.
pub(super) fn moved<S: Slot>(slot: &mut S, dir: &Path) {
    slot.values_mut().into_iter().for_each(|value| *value = value.clone().moved(dir));
}

/// Returns the JSON schema of a slot in a study file.
pub(super) fn schema<S: Slot>() -> Json {
    let one = S::Of::schema();
    match S::SHAPE {
        Shape::Many => json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] }),
        Shape::One | Shape::Flag => one,
    }
}

/// Puts a path into a slot that holds paths. The path need not be valid text.
pub(super) fn put_path<S: Slot>(slot: &mut S, path: &Path) {
    if let Some(value) = S::Of::of_path(path) {
        slot.put(value);
    }
}
