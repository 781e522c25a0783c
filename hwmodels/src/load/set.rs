//! Overrides: `accumulation.acc.bits=12` of the command line, and those of `layers`.

use guardbit_documents::{Fault, Wrong};
use serde::de::DeserializeSeed;
use serde_yaml::{Mapping, Value};

use super::KeyPath;
use super::parse::FORM;
use super::problem::{HwError, Origin, Problem};
use super::rules::Rule;
use super::typed;
use crate::file::{AcceleratorFile, Budget};
use crate::keys::{KEYS, KeyRow};

/// Greatest size in bytes of an override of the command line.
const MOST_BYTES: usize = 1 << 16;

/// Greatest nesting depth of keys.
const MOST_KEYS: usize = 8;

/// Override of a key.
#[derive(Debug, Clone)]
pub(super) struct Set {
    /// Dotted path of the key.
    pub path: String,
    /// New value; `null` restores the default.
    pub value: Value,
    /// Source of the override.
    pub from: SetSource,
}

/// Source of an override.
#[derive(Debug, Clone)]
pub(super) enum SetSource {
    /// Command line, with the override as written.
    CommandLine(String),
    /// Entry of `layers`.
    Layer(KeyPath),
}

/// Record of an applied override.
#[derive(Debug, Clone)]
pub(super) struct Overridden {
    /// Key, with levels by their index.
    pub key: KeyPath,
    /// Source of the override.
    pub by: SetSource,
}

/// Splits a key `layers.NAME.key.path` into name and path. A name may contain dots; it ends where a known key
/// begins.
pub fn key_of_layer(key: &str) -> Option<(&str, &str)> {
    let rest = key.strip_prefix("layers.")?;
    let dots = rest.match_indices('.').map(|(at, _)| at);
    let mut splits = dots.map(|at| (&rest[..at], &rest[at + 1..]));
    splits.find(|(_, path)| {
        let head = path.split('.').next();
        AcceleratorFile::keys().any(|key| Some(key) == head)
    })
}

/// Returns the dotted path of a key that is given by its last part, e.g. `fraction_bits`, or `None` unless exactly one
/// section outside `accumulation` has it.
pub fn full_key(short: &str) -> Option<String> {
    let of_top = |row: &&KeyRow| row.section.is_empty() && row.name == short;
    let mut found = KEYS.iter().filter(|row| row.name == short && !row.section.is_empty());
    match (KEYS.iter().find(of_top), found.next(), found.next()) {
        (None, Some(row), None) if !row.section.ends_with(".*") => Some(format!("{}.{short}", row.section)),
        _ => None,
    }
}

impl Set {
    /// Parses an override as written on the command line.
    pub fn parse(text: &str) -> Result<Self, HwError> {
        let fail = |message: String| {
            HwError::from(Problem {
                code: "guardbit::hw::set",
                key: None,
                message,
                help: "write an override as KEY=VALUE, e.g. `accumulation.acc.bits=12`".into(),
                origin: Origin::Set(text.into()),
            })
        };
        if text.len() > MOST_BYTES {
            return Err(fail(format!("it has {} bytes; expected at most {MOST_BYTES}", text.len())));
        }
        let (path, value) = text.split_once('=').ok_or_else(|| fail("`=` is missing".into()))?;
        let path = full_key(path.trim()).unwrap_or_else(|| path.trim().to_owned());
        if path.split('.').any(str::is_empty) {
            return Err(fail("the key is incomplete".into()));
        }
        if path == "extends" {
            return Err(fail("`extends` is valid only in a file".into()));
        }
        if value.trim().is_empty() {
            return Err(fail("the value after `=` is missing; `null` restores the default".into()));
        }
        let value = free_value(value).map_err(|e| fail(format!("the value is not YAML: {e}")))?;
        let set = Self { path, value, from: SetSource::CommandLine(text.into()) };
        if set.head() == "layers" && set.layer().is_none() {
            return Err(fail(
                "`layers` can only be overridden key by key, e.g. `layers.NAME.bias.bits=20`".into(),
            ));
        }
        Ok(set)
    }

    /// Returns whether it changes accumulation levels.
    pub fn is_late(&self) -> bool {
        self.path == "accumulation" || self.path.starts_with("accumulation.")
    }

    /// Returns the layer and the path of a layer's key: see [`key_of_layer`].
    pub fn layer(&self) -> Option<(&str, &str)> {
        key_of_layer(&self.path)
    }

    /// Stores the value in a file, and returns the complete key. The types determine later whether it may stand there.
    fn put(&self, file: &mut Value) -> Result<KeyPath, HwError> {
        let path: Vec<&str> = self.path.split('.').collect();
        if path.len() > MOST_KEYS {
            return Err(self.unknown(Stop {
                message: format!("unknown key: it has {} parts", path.len()),
                help: "keys are dotted, e.g. `accumulation.acc.bits`".into(),
            }));
        }
        put(file, &path, KeyPath::default(), self.value.clone()).map_err(|stop| self.unknown(stop))
    }

    fn head(&self) -> &str {
        self.path.split('.').next().unwrap_or_default()
    }

    fn unknown(&self, Stop { message, help }: Stop) -> HwError {
        HwError::from(Problem {
            code: "guardbit::hw::unknown_key",
            key: Some(self.path.clone()),
            message,
            help,
            origin: Origin::Nowhere,
        })
    }

    fn mistyped(&self, message: &str) -> HwError {
        let key = KeyPath::dotted(&self.path);
        let mut fault = Fault::of_message(FORM.name, message, key.clone());
        if let (Wrong::UnknownKey { .. }, [.., name]) = (&fault.wrong, fault.path.steps())
            && let Some(at) = key.steps().iter().rposition(|step| step == name)
        {
            // The message does not say which map of the path has no such key.
            fault.path = key.start(at + 1);
        }
        typed::explain(fault).into()
    }
}

/// Returns a file with overrides, in their order, and a record of what each overrode.
///
/// # Errors
/// The problem of the first override that cannot be applied, and that override.
pub(super) fn apply<'a>(
    sets: &[&'a Set],
    file: AcceleratorFile,
) -> Result<(AcceleratorFile, Vec<Overridden>), (HwError, &'a Set)> {
    let Some((&last, others)) = sets.split_last() else { return Ok((file, Vec::new())) };
    let mut value = typed::to_value(&file);
    let mut overridden = Vec::with_capacity(sets.len());
    let mut put = |set: &'a Set, value: &mut Value| {
        let key = set.put(value).map_err(|error| (error, set))?;
        overridden.push(Overridden { key, by: set.from.clone() });
        Ok(())
    };
    for &set in others {
        put(set, &mut value)?;
        // The next override must find the key in its usual form, and an error must name this one.
        typed::settle(&mut value, set.head()).map_err(|message| (set.mistyped(&message), set))?;
    }
    put(last, &mut value)?;
    let file = typed::from_value(value).map_err(|message| (last.mistyped(&message), last))?;
    Ok((file, overridden))
}

/// Parses a value as written on the command line.
fn free_value(text: &str) -> Result<Value, String> {
    guardbit_documents::check_nesting(text).map_err(|error| format!("it is nested too deeply: {error}"))?;
    let budget = Budget::of_text(text);
    let read = Budget::new(&budget).deserialize(serde_yaml::Deserializer::from_str(text));
    read.map_err(|error| error.to_string())
}

/// Merges `overlay` into `base`: maps merge key by key, all other values are replaced, and `null` removes.
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

/// Reason why a path cannot be followed.
struct Stop {
    message: String,
    help: String,
}

/// Stores `new` at `path` in `value`, whose own path is `at`, and returns the complete path. Missing maps are
/// created; the types determine later whether they exist.
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
                message: format!("`{at}.{key}` cannot be removed from its list"),
                help: format!("give the whole list: `{at}=[...]`"),
            }),
            Some(index) => put(&mut items[index], rest, at.item(index), new),
            None => Err(no_item(items, key, &at)),
        },
        _ => Err(Stop {
            message: format!("unknown key `{at}.{key}`: `{at}` is a single value"),
            help: format!("`{at}` must be {}", Rule::of(&at).allowed),
        }),
    }
}

/// Returns the index of the list's element with the given name or index.
fn item(items: &[Value], key: &str) -> Option<usize> {
    let by_name = items.iter().position(|item| name(item) == Some(key));
    let by_index = || key.parse().ok().filter(|&at| items.get(at).is_some_and(Value::is_mapping));
    by_name.or_else(by_index)
}

fn no_item(items: &[Value], key: &str, at: &KeyPath) -> Stop {
    let names: Vec<_> = items.iter().filter_map(name).collect();
    if names.is_empty() {
        return Stop {
            message: format!("unknown key `{at}.{key}`: `{at}` is a list without names"),
            help: format!("give the whole list: `{at}=[...]`"),
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Overrides that change, complete, spoil or depend on each other.
    const SETS: [&str; 20] = [
        "array.rows=8",
        "array={cols: 4, rows: 2}",
        "array=null",
        "array.rows=null",
        "array.rows=many",
        "array.depth=3",
        "nothing=3",
        "nothing=null",
        "clock_mhz=250",
        "clock_mhz=fast",
        "reduction_order=[kw, kh, ic]",
        "reduction_order.walk=reverse",
        "reduction_order={walk: stride, stride: 3}",
        "accumulation=[{name: a, bits: 12}, {name: b, terms: all}]",
        "accumulation.a.bits=13",
        "accumulation.1.overflow=wrap",
        "accumulation.c.bits=9",
        "offload=[conv2d]",
        "clock_mhz.x=1",
        "a.b.c.d.e.f.g.h.i=1",
    ];

    proptest! {
        /// Overrides together do what they do one after another: the same file, keys and error.
        #[test]
        fn overrides_together_are_overrides_one_by_one(
            chosen in proptest::collection::vec(0..SETS.len(), 0..6),
        ) {
            let sets: Vec<Set> = chosen.iter().map(|&index| Set::parse(SETS[index]).unwrap()).collect();
            let sets: Vec<&Set> = sets.iter().collect();
            let told = |(error, set): (HwError, &Set)| (format!("{error:?}"), set.path.clone());
            let keys = |all: &[Overridden]| all.iter().map(|one| one.key.to_string()).collect::<Vec<_>>();
            let together = apply(&sets, AcceleratorFile::default()).map_err(told);
            let one_by_one = sets.iter().try_fold((AcceleratorFile::default(), Vec::new()), |(file, mut all), set| {
                let (file, own) = apply(&[set], file).map_err(told)?;
                all.extend(own);
                Ok((file, all))
            });
            let shown = |(file, all): (AcceleratorFile, Vec<Overridden>)| (file, keys(&all));
            prop_assert_eq!(together.map(shown), one_by_one.map(shown));
        }
    }
}
