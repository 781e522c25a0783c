//! The settings of one point of a sweep.

use serde::{Deserialize, Serialize};

/// Setting that a sweep varies, with its value at one point.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Parameter {
    /// Key of the accelerator, or argument of `run`.
    pub key: String,
    /// Value as it was written.
    pub value: String,
}

/// Returns the name of an axis in plots: the last two parts of its key, preceded by the layer if the key
/// belongs to one.
pub fn short_key(key: &str) -> String {
    let last = |key: &str| match key.rmatch_indices('.').nth(1) {
        Some((at, _)) => key[at + 1..].to_owned(),
        None => key.to_owned(),
    };
    match key.strip_prefix("layers.").and_then(|rest| rest.split_once('.')) {
        Some((layer, own)) => format!("{layer} {}", last(own)),
        None => last(key),
    }
}

/// Settings that distinguish one point of a sweep from the others.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SweepPoint {
    /// Name of the model in tables.
    pub model: String,
    /// Name of the accelerator in tables.
    pub hw: String,
    /// Width of the swept level in bits; `None` if no level is swept.
    pub bits: Option<u32>,
    /// Name in files of the swept level's overflow mode; empty if no level is swept.
    pub overflow: String,
    /// Name of the swept level; empty if no level is swept.
    pub level: String,
    /// Further varied settings, in the order of the axes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
    /// Identifier of samples and labels. Points with equal identifiers are compared sample by sample.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub samples: String,
}
