//! Overrides: `accumulation.acc.bits=12` of the command line, and those of `layers`.

use serde::de::DeserializeSeed;
use serde_yaml::{Mapping, Value};

use super::key::KeyPath;
use super::problem::{HwError, Origin, Problem};
use super::rules::Rule;
use super::typed;
use crate::file::{AcceleratorFile, Budget};

/// Most bytes of an override of the command line.
const MOST_BYTES: usize = 1 << 16;

/// Most keys that lie in each other.
const MOST_KEYS: usize = 8;

/// One override.
#[derive(Debug, Clone)]
pub(super) struct Set {
    /// The dotted path of the key.
    pub path: String,
    /// The new value; `null` goes back to the default.
    pub value: Value,
    /// Who asks for it.
    pub from: SetSource,
}

/// Who asks for an override.
#[derive(Debug, Clone)]
pub(super) enum SetSource {
    /// The command line, in these words.
    CommandLine(String),
    /// An entry of `layers`.
    Layer(KeyPath),
}

/// What an override changed.
#[derive(Debug, Clone)]
pub(super) struct Overridden {
    /// The key, levels by their index.
    pub key: KeyPath,
    /// Who asked for it.
    pub by: SetSource,
}

/// For a key `layers.NAME.key.path`, the name and the path. A name may contain dots: it ends where a key begins.
pub fn key_of_layer(key: &str) -> Option<(&str, &str)> {
    let rest = key.strip_prefix("layers.")?;
    let dots = rest.match_indices('.').map(|(at, _)| at);
    let mut splits = dots.map(|at| (&rest[..at], &rest[at + 1..]));
    splits.find(|(_, path)| {
        let head = path.split('.').next();
        AcceleratorFile::keys().any(|key| Some(key) == head)
    })
}

impl Set {
    /// An override as written on the command line.
    pub fn parse(text: &str) -> Result<Self, HwError> {
        let fail = |message: String| {
            HwError::from(Problem {
                code: "guardbit::hw::set",
                key: None,
                message,
                help: Some("write an override as KEY=VALUE, as `accumulation.acc.bits=12`".into()),
                origin: Origin::Set(text.into()),
            })
        };
        if text.len() > MOST_BYTES {
            return Err(fail(format!("it has {} bytes; {MOST_BYTES} are the most", text.len())));
        }
        let (path, value) = text.split_once('=').ok_or_else(|| fail("there is no `=`".into()))?;
        let path = path.trim().to_owned();
        if path.split('.').any(str::is_empty) {
            return Err(fail("the key is not complete".into()));
        }
        if path == "extends" {
            return Err(fail("`extends` can only stand in a file".into()));
        }
        if value.trim().is_empty() {
            return Err(fail("there is no value behind the `=`; `null` goes back to the default".into()));
        }
        let value = free_value(value).map_err(|e| fail(format!("the value is not YAML: {e}")))?;
        let set = Self { path, value, from: SetSource::CommandLine(text.into()) };
        if set.path.split('.').next() == Some("layers") && set.layer().is_none() {
            return Err(fail("`layers` is overridden key by key, as `layers.NAME.bias.bits=20`".into()));
        }
        Ok(set)
    }

    /// Whether it changes accumulation levels.
    pub fn is_late(&self) -> bool {
        self.path == "accumulation" || self.path.starts_with("accumulation.")
    }

    /// See [`key_of_layer`].
    pub fn layer(&self) -> Option<(&str, &str)> {
        key_of_layer(&self.path)
    }

    /// The file with this override, and what it overrode.
    pub fn apply(&self, file: &AcceleratorFile) -> Result<(AcceleratorFile, Overridden), HwError> {
        let mut value = typed::to_value(file);
        let path: Vec<&str> = self.path.split('.').collect();
        if path.len() > MOST_KEYS {
            return Err(self.unknown(Stop {
                message: format!("there is no key of {} parts", path.len()),
                help: "a key is dotted, as `accumulation.acc.bits`".into(),
            }));
        }
        let key = put(&mut value, &path, KeyPath::default(), self.value.clone());
        let key = key.map_err(|stop| self.unknown(stop))?;
        let file = typed::from_value(value).map_err(|message| self.mistyped(&message))?;
        Ok((file, Overridden { key, by: self.from.clone() }))
    }

    fn unknown(&self, Stop { message, help }: Stop) -> HwError {
        HwError::from(Problem {
            code: "guardbit::hw::unknown_key",
            key: Some(self.path.clone()),
            message,
            help: Some(help),
            origin: Origin::Nowhere,
        })
    }

    fn mistyped(&self, message: &str) -> HwError {
        typed::explain(message, &KeyPath::dotted(&self.path), Origin::Nowhere).into()
    }
}

/// A value as written on the command line.
fn free_value(text: &str) -> Result<Value, String> {
    guardbit_files::check_nesting(text).map_err(|error| format!("it is nested too deeply: {error}"))?;
    let budget = Budget::of_text(text);
    let read = Budget::new(&budget).deserialize(serde_yaml::Deserializer::from_str(text));
    read.map_err(|error| error.to_string())
}

/// Puts `overlay` over `base`: maps merge key by key, everything else is replaced; `null` removes.
pub(super) fn merge(base: &mut Value, overlay: Value) {
    match (base, overlay) {
        (Value::Mapping(base), Value::Mapping(overlay)) => {
            for (key, value) in overlay {
                match base.get_mut(&key) {
                    _ if value.is_null() => drop(base.remove(&key)),
                    Some(old) => merge(old, value),
                    None => drop(base.insert(key, value)),
                }
            }
        }
        (base, overlay) => *base = overlay,
    }
}

/// Why a path leads nowhere.
struct Stop {
    message: String,
    help: String,
}

/// Puts `new` at `path` in `value`, which stands at `at`, and says where that is. Missing maps are made; the types
/// say whether they exist.
fn put(value: &mut Value, path: &[&str], at: KeyPath, new: Value) -> Result<KeyPath, Stop> {
    let Some((key, rest)) = path.split_first() else {
        merge(value, new);
        return Ok(at);
    };
    match value {
        Value::Null => {
            *value = Value::Mapping(Mapping::new());
            put(value, path, at, new)
        }
        Value::Mapping(map) if rest.is_empty() && new.is_null() => {
            map.remove(*key);
            Ok(at.join(key))
        }
        Value::Mapping(map) => put(map.entry((*key).into()).or_insert(Value::Null), rest, at.join(key), new),
        Value::Sequence(items) => match item(items, key) {
            Some(_) if rest.is_empty() && new.is_null() => Err(Stop {
                message: format!("`{at}.{key}` cannot be taken out of its list"),
                help: format!("give the whole list, as `{at}=[...]`"),
            }),
            Some(index) => put(&mut items[index], rest, at.item(index), new),
            None => Err(no_item(items, key, &at)),
        },
        _ => Err(Stop {
            message: format!("`{at}` is a value: there is no `{at}.{key}`"),
            help: format!("`{at}` is {}", Rule::of(&at).allowed),
        }),
    }
}

/// The index of the element of a list with that name or index.
fn item(items: &[Value], key: &str) -> Option<usize> {
    let by_name = items.iter().position(|item| name(item) == Some(key));
    let by_index = || key.parse().ok().filter(|&at| items.get(at).is_some_and(Value::is_mapping));
    by_name.or_else(by_index)
}

fn no_item(items: &[Value], key: &str, at: &KeyPath) -> Stop {
    let names: Vec<_> = items.iter().filter_map(name).collect();
    if names.is_empty() {
        return Stop {
            message: format!("`{at}` is a list without names: there is no `{at}.{key}`"),
            help: format!("give the whole list, as `{at}=[...]`"),
        };
    }
    Stop {
        message: format!("`{at}` has no level `{key}`"),
        help: format!("the levels are {}", names.join(", ")),
    }
}

fn name(item: &Value) -> Option<&str> {
    item.as_mapping()?.get("name")?.as_str()
}
