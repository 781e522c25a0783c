//! Between YAML values and the typed file, and what the YAML library's messages mean.

use serde_yaml::Value;

use super::key::KeyPath;
use super::problem::{Origin, Problem};
use super::rules::Rule;
use crate::file::AcceleratorFile;

/// The file as a YAML value, without what is missing.
pub(super) fn to_value(file: &AcceleratorFile) -> Value {
    let mut value = serde_yaml::to_value(file).unwrap_or_default();
    prune(&mut value);
    value
}

/// The value as a file, or the YAML library's message.
pub(super) fn from_value(value: Value) -> Result<AcceleratorFile, String> {
    serde_yaml::from_value(value).map_err(|error| error.to_string())
}

/// A problem out of the YAML library's message about the value at `key`.
pub(super) fn explain(message: &str, key: &KeyPath, origin: Origin) -> Problem {
    if let Some((name, keys)) = unknown_field(message) {
        return unknown_key(key, name, &keys, origin);
    }
    if let Some(rest) = message.strip_prefix("duplicate ") {
        return Problem {
            code: "guardbit::hw::duplicate_key",
            key: Some(key.to_string()),
            message: format!("a key stands twice: {rest}"),
            help: Some("keep one of the two".into()),
            origin,
        };
    }
    let rule = Rule::of(key);
    let found = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    let found = match found.and_then(|rest| rest.split_once(", expected")) {
        Some((found, _)) => format!("is the {found}"),
        None => format!("has an {message}"),
    };
    Problem {
        code: rule.code,
        key: Some(key.to_string()),
        message: format!("`{key}` {found}; it must be {}", rule.allowed),
        help: Some(rule.hint.into()),
        origin,
    }
}

/// The message of a key that holds `found`.
pub(super) fn not_allowed(key: &KeyPath, found: impl std::fmt::Display) -> String {
    format!("`{key}` is {found}; it must be {}", Rule::of(key).allowed)
}

fn unknown_key(at: &KeyPath, name: &str, keys: &str, origin: Origin) -> Problem {
    // The message may be about the last key of an override's path or about a key within its value.
    let path = at.to_string();
    let parent = path.strip_suffix(name).map_or(path.as_str(), |p| p.trim_end_matches('.'));
    let (key, owner) = match parent {
        "" => (name.to_owned(), "an accelerator".to_owned()),
        parent => (format!("{parent}.{name}"), format!("`{parent}`")),
    };
    Problem {
        code: "guardbit::hw::unknown_key",
        message: format!("there is no key `{key}`"),
        key: Some(key),
        help: Some(format!("the keys of {owner} are {keys}")),
        origin,
    }
}

/// The field and the known fields in serde's message about an unknown one.
fn unknown_field(message: &str) -> Option<(&str, String)> {
    let rest = message.strip_prefix("unknown field `")?;
    let (name, expected) = rest.split_once("`, expected ")?;
    let keys: Vec<_> = expected.split('`').skip(1).step_by(2).collect();
    Some((name, keys.join(", ")))
}

fn prune(value: &mut Value) {
    match value {
        Value::Mapping(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(prune);
        }
        Value::Sequence(items) => items.iter_mut().for_each(prune),
        _ => {}
    }
}
