//! Converts between YAML values and the typed file, and interprets the YAML library's messages.

use serde_yaml::{Mapping, Value};

use super::key::{KeyPath, Segment};
use super::problem::{Origin, Problem};
use super::rules::Rule;
use crate::file::AcceleratorFile;

/// Returns the file as a YAML value, without missing keys.
pub(super) fn to_value(file: &AcceleratorFile) -> Value {
    let mut value = serde_yaml::to_value(file).unwrap_or_default();
    prune(&mut value);
    value
}

/// Returns the value as a file, or the YAML library's message.
pub(super) fn from_value(value: Value) -> Result<AcceleratorFile, String> {
    serde_yaml::from_value(value).map_err(|error| error.to_string())
}

/// Gives the value of one key of a file the form that the typed file gives it, or returns the YAML library's message.
pub(super) fn settle(file: &mut Value, key: &str) -> Result<(), String> {
    let Some((map, value)) = file.as_mapping_mut().and_then(|map| map.remove(key).map(|value| (map, value)))
    else {
        return Ok(());
    };
    let alone = Mapping::from_iter([(Value::from(key), value)]);
    if let Value::Mapping(settled) = to_value(&from_value(Value::Mapping(alone))?) {
        map.extend(settled);
    }
    Ok(())
}

/// Returns a problem from the YAML library's message about the value at `key`.
pub(super) fn explain(message: &str, key: &KeyPath, origin: Origin) -> Problem {
    if let Some((name, keys)) = unknown_field(message) {
        return unknown_key(key, name, &keys, origin);
    }
    if let Some(field) = duplicate_field(message) {
        let key = key.join(field).to_string();
        return Problem {
            code: "guardbit::hw::duplicate_key",
            message: format!("`{key}` appears twice"),
            key: Some(key),
            help: Some("keep one of the two".into()),
            origin,
        };
    }
    if key.segments().is_empty() {
        return Problem {
            code: "guardbit::hw::yaml",
            key: None,
            message: "the file is not a map of keys".into(),
            help: Some("begin with `schema: 1`".into()),
            origin,
        };
    }
    let rule = Rule::of(key);
    let found = match unexpected(message) {
        Some(found) => format!(" is {found}"),
        None => format!(": {message}"),
    };
    Problem {
        code: rule.code,
        key: Some(key.to_string()),
        message: format!("`{key}`{found}; it must be {}", rule.allowed),
        help: Some(rule.hint.into()),
        origin,
    }
}

/// Returns the message for a key that holds `found`.
pub(super) fn not_allowed(key: &KeyPath, found: impl std::fmt::Display) -> String {
    format!("`{key}` is {found}; it must be {}", Rule::of(key).allowed)
}

/// Returns the problem of an unknown key; `at` is the path of the key, or of the value that contains it.
fn unknown_key(at: &KeyPath, name: &str, keys: &str, origin: Origin) -> Problem {
    let wanted = Segment::Key(name.into());
    let parent = at.segments().iter().rposition(|segment| *segment == wanted);
    let parent = parent.map_or(at.clone(), |length| at.start(length));
    let key = parent.join(name).to_string();
    let owner = match parent.segments() {
        [] => "an accelerator".into(),
        _ => format!("`{parent}`"),
    };
    Problem {
        code: "guardbit::hw::unknown_key",
        message: format!("unknown key `{key}`"),
        key: Some(key),
        help: Some(format!("the keys of {owner} are {keys}")),
        origin,
    }
}

/// Returns the field and the known fields from serde's message about an unknown field.
pub(super) fn unknown_field(message: &str) -> Option<(&str, String)> {
    let rest = message.strip_prefix("unknown field `")?;
    let (name, expected) = rest.split_once("`, expected ")?;
    let keys: Vec<_> = expected.split('`').skip(1).step_by(2).collect();
    Some((name, keys.join(", ")))
}

/// Returns the field from serde's message about a duplicate field.
pub(super) fn duplicate_field(message: &str) -> Option<&str> {
    message.strip_prefix("duplicate field `")?.strip_suffix('`')
}

/// Returns the found value from serde's message about a value of the wrong type.
fn unexpected(message: &str) -> Option<String> {
    let rest = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "))?;
    let (found, _) = rest.split_once(", expected")?;
    Some(match found {
        "map" => "a map".into(),
        "sequence" => "a list".into(),
        "unit value" => "empty".into(),
        _ => match (found.strip_prefix("string "), found.split_once('`')) {
            (Some(quoted), _) => quoted.into(),
            // The kind and the value, and for a large number a type: "integer `3`", "integer `3` as u128".
            (None, Some((_, value))) => value.split('`').next().unwrap_or_default().into(),
            (None, None) => found.into(),
        },
    })
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
