//! Converts between YAML values and the typed file, and words errors about its keys.

use guardbit_documents::{Fault, Wrong};
use serde_yaml::{Mapping, Value};

use super::KeyPath;
use super::problem::Problem;
use super::rules::Rule;
use crate::file::AcceleratorFile;

/// Returns the file as a YAML value, without missing keys. A `null` of a single layer stays: it removes a key.
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

/// Returns the problem of a fault, with what is allowed.
pub(super) fn explain(fault: Fault) -> Problem {
    let code = match &fault.wrong {
        Wrong::UnknownKey { .. } => "guardbit::hw::unknown_key",
        Wrong::DoubledKey => "guardbit::hw::duplicate_key",
        _ if fault.path.steps().is_empty() => "guardbit::hw::yaml",
        wrong => {
            let Rule { code, allowed, hint } = Rule::of(&fault.path);
            let message = match wrong {
                Wrong::Type { found, .. } => not_allowed(&fault.path, found),
                _ => format!("{}; it must be {allowed}", fault.message()),
            };
            return Problem { message, ..Problem::of_fault(code, fault, hint) };
        }
    };
    Problem::of_fault(code, fault, "begin with `schema: 1`")
}

/// Returns the message for a key that holds `found`.
pub(super) fn not_allowed(key: &KeyPath, found: impl std::fmt::Display) -> String {
    format!("`{key}` is {found}; it must be {}", Rule::of(key).allowed)
}

fn prune(value: &mut Value) {
    match value {
        Value::Mapping(map) => {
            map.retain(|_, value| !value.is_null());
            map.iter_mut()
                .filter(|(key, _)| key.as_str() != Some("layers"))
                .for_each(|(_, value)| prune(value));
        }
        Value::Sequence(items) => items.iter_mut().for_each(prune),
        _ => {}
    }
}
