//! Identifies the setting that a key refers to, for all spellings.

use guardbit_graph::Graph;
use guardbit_hwmodels::{Level, key_of_layer};

use super::AxisError;

/// Accelerator key of the requantization scheme.
const SCHEME_KEY: &str = "requantize.scheme";

/// Returns the override that selects another requantization scheme.
pub(crate) fn scheme_override(scheme: &str) -> String {
    format!("{SCHEME_KEY}={scheme}")
}

/// Fails if two keys refer to one setting, for example by a level's name and by its index. Each key is
/// preceded by the name used in messages.
pub(crate) fn check_targets(
    keys: &[(&str, String)],
    levels: &[Level],
    graph: &Graph,
) -> Result<(), AxisError> {
    let targets: Vec<String> = keys.iter().map(|(_, key)| target(key, levels, graph)).collect();
    let twice = targets.iter().enumerate().find_map(|(index, target)| {
        let first = targets[..index].iter().position(|other| other == target)?;
        Some((keys[first].0, keys[index].0))
    });
    match twice {
        Some((first, second)) => Err(AxisError::Same { first: first.into(), second: second.into() }),
        None => Ok(()),
    }
}

/// Returns the key with layers and levels replaced by their indices.
fn target(key: &str, levels: &[Level], graph: &Graph) -> String {
    if key == "requantize" {
        return SCHEME_KEY.into();
    }
    let Some((layer, path)) = key_of_layer(key) else { return by_index(key, levels) };
    let layer = graph.find_node(layer).map_or_else(|_| layer.into(), |node| node.index().to_string());
    format!("layers.{layer}.{}", by_index(path, levels))
}

fn by_index(path: &str, levels: &[Level]) -> String {
    let of_level = path.strip_prefix("accumulation.").and_then(|rest| rest.split_once('.'));
    let index = of_level.and_then(|(name, _)| levels.iter().position(|level| level.name == name));
    match (of_level, index) {
        (Some((_, rest)), Some(index)) => format!("accumulation.{index}.{rest}"),
        _ => path.into(),
    }
}
