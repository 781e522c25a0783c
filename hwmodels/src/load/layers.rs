//! Overrides of single layers: those of the file's `layers`, then `layers.NAME.key` of the command line.
//!
//! Each acts as an override of the whole file, for that layer alone, after the general overrides of the
//! command line.

use std::collections::HashMap;

use serde_yaml::Value;

use super::KeyPath;
use super::problem::{HwError, Origin, Problem};
use super::set::{Set, SetSource};
use super::sources::Sources;
use crate::file::Entries;

/// Keys that belong to the accelerator as a whole.
pub(super) const COMMON: [&str; 7] =
    ["schema", "name", "description", "extends", "clock_mhz", "host", "layers"];

/// Returns the overrides of every layer that has some, in the order in which they were written: those of the
/// file, then those of the command line.
pub(super) fn overrides(
    sources: &Sources,
    written: Option<&Entries<Entries<Value>>>,
    command_line: &[&Set],
) -> Result<Vec<(String, Vec<Set>)>, HwError> {
    let mut layers: Vec<(String, Vec<Set>)> = Vec::new();
    let mut known = HashMap::new();
    for (layer, overrides) in written.into_iter().flatten() {
        let key = KeyPath::keys(&["layers", layer]);
        let set = |(path, value): &(String, Value)| {
            let from = SetSource::Layer(key.join(path));
            Set { path: path.clone(), value: value.clone(), from }
        };
        let mut own: Vec<Set> = overrides.into_iter().map(set).collect();
        // A map comes before its parts.
        own.sort_by(|a, b| a.path.cmp(&b.path));
        known.insert(layer.clone(), layers.len());
        layers.push((layer.clone(), own));
    }
    for set in command_line {
        let Some((layer, path)) = set.layer() else { continue };
        let set = Set { path: path.into(), ..(*set).clone() };
        let index = *known.entry(layer.to_owned()).or_insert(layers.len());
        if index == layers.len() {
            layers.push((layer.into(), Vec::new()));
        }
        layers[index].1.push(set);
    }
    for (layer, sets) in &layers {
        sets.iter().try_for_each(|set| own_key(sources, layer, set))?;
    }
    Ok(layers)
}

/// Returns an error for a key that a layer cannot override.
fn own_key(sources: &Sources, layer: &str, set: &Set) -> Result<(), HwError> {
    let head = set.path.split('.').next().unwrap_or_default();
    if !COMMON.contains(&head) {
        return Ok(());
    }
    Err(Problem {
        code: "guardbit::hw::layers",
        key: Some(KeyPath::keys(&["layers", layer]).join(&set.path).to_string()),
        message: format!("`{head}` cannot be overridden for the single layer `{layer}`"),
        help: "set it for the whole accelerator".into(),
        origin: match sources.origin_of(&set.from) {
            Origin::Nowhere => sources.start(),
            origin => origin,
        },
    }
    .into())
}
