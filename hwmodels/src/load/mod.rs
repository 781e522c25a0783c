//! From YAML, presets and overrides to a checked accelerator.
//!
//! A file is read into a type that mirrors it, put over the preset that it extends, changed by overrides, given
//! accumulation levels by its dataflow if it has none (overrides of levels come after that), and checked.

mod check;
mod defaults;
mod derive;
mod key;
mod lint;
mod locate;
mod problem;
mod resolved;
mod rules;
mod set;
mod sources;
mod typed;

use std::path::Path;

pub use problem::{FilePlace, HwError, Origin, Problem};

use crate::Accelerator;
use crate::file::AcceleratorFile;
use check::Violation;
use key::KeyPath;
use set::{Set, SetSource};
use sources::Sources;

/// The accelerator of a preset's name or a file's path, with overrides as `accumulation.acc.bits=12`.
///
/// # Errors
/// [`HwError`] with the place of what is wrong.
pub fn load(hw: &str, sets: &[String]) -> Result<Accelerator, HwError> {
    Ok(build(&sources(hw)?, &parse(sets)?)?)
}

/// The accelerator of a file's text; `file_name` is used in messages, and names the accelerator if it has no name.
///
/// # Errors
/// [`HwError`] with the place of what is wrong.
pub fn from_yaml(text: &str, file_name: &str, sets: &[String]) -> Result<Accelerator, HwError> {
    Ok(build(&Sources::file(text, file_name)?, &parse(sets)?)?)
}

/// As [`load`], with what is doubtful about an accelerator that can be had.
pub fn check(hw: &str, sets: &[String]) -> (Result<Accelerator, HwError>, Vec<Problem>) {
    checked(sources(hw), sets)
}

/// As [`from_yaml`], with what is doubtful about an accelerator that can be had.
pub fn check_yaml(
    text: &str,
    file_name: &str,
    sets: &[String],
) -> (Result<Accelerator, HwError>, Vec<Problem>) {
    checked(Sources::file(text, file_name), sets)
}

fn checked(
    sources: Result<Sources, Problem>,
    sets: &[String],
) -> (Result<Accelerator, HwError>, Vec<Problem>) {
    let run = || -> Result<_, Problem> {
        let (sources, sets) = (sources?, parse(sets)?);
        let accelerator = build(&sources, &sets)?;
        let warnings = lint::lint(&sources, &sets)?;
        Ok((accelerator, warnings))
    };
    match run() {
        Ok((accelerator, warnings)) => (Ok(accelerator), warnings),
        Err(problem) => (Err(problem.into()), Vec::new()),
    }
}

fn sources(hw: &str) -> Result<Sources, Problem> {
    if let Some(preset) = Sources::preset(hw) {
        return preset;
    }
    let problem = |code, message| Problem {
        code,
        key: None,
        message,
        help: Some(format!("name a YAML file or a preset; the presets are {}", sources::preset_names())),
        origin: Origin::Nowhere,
    };
    if !Path::new(hw).exists() {
        return Err(problem("guardbit::hw::unknown_preset", format!("`{hw}` is neither a preset nor a file")));
    }
    let text = std::fs::read_to_string(hw);
    let text = text.map_err(|e| problem("guardbit::hw::read", format!("`{hw}` cannot be read: {e}")))?;
    Sources::file(&text, hw)
}

fn parse(sets: &[String]) -> Result<Vec<Set>, Problem> {
    sets.iter().map(|set| Set::parse(set)).collect()
}

fn build(sources: &Sources, sets: &[Set]) -> Result<Accelerator, Problem> {
    let (file, sets) = with_layer_sets(sources, sets)?;
    let mut accelerator = one(sources, &file, &sets)?;
    for (layer, overrides) in file.layers.iter().flatten() {
        let own = layer_sets(sources, layer, overrides)?;
        let all: Vec<Set> = sets.iter().cloned().chain(own).collect();
        let of_layer = |p: Problem| Problem { message: format!("layer `{layer}`: {}", p.message), ..p };
        accelerator.layers.insert(layer.clone(), one(sources, &file, &all).map_err(of_layer)?);
    }
    Ok(accelerator)
}

/// The file with the overrides of `layers.NAME.key` among its layers, and the other overrides.
fn with_layer_sets(sources: &Sources, sets: &[Set]) -> Result<(AcceleratorFile, Vec<Set>), Problem> {
    let mut file = sources.merged();
    let mut others = Vec::new();
    for set in sets {
        match set.layer() {
            Some((layer, path)) => {
                let overrides = file.layers.get_or_insert_default().entry(layer.into()).or_default();
                overrides.insert(path.into(), set.value.clone());
            }
            None => others.push(set.clone()),
        }
    }
    Ok((file, others))
}

/// The accelerator of a file with these overrides, without those of its layers.
fn one(sources: &Sources, file: &AcceleratorFile, sets: &[Set]) -> Result<Accelerator, Problem> {
    let file = overridden(sources, file, sets)?;
    check::check(&file).map_err(|violation| blame(violation, sources, sets))
}

/// The file with these overrides and with accumulation levels.
fn overridden(
    sources: &Sources,
    file: &AcceleratorFile,
    sets: &[Set],
) -> Result<AcceleratorFile, Problem> {
    let apply = |file: AcceleratorFile, late: bool| {
        let mut sets = sets.iter().filter(|set| set.is_late() == late);
        sets.try_fold(file, |file, set| {
            set.apply(&file).map_err(|problem| Problem { origin: set.origin(sources), ..problem })
        })
    };
    apply(with_levels(apply(file.clone(), false)?), true).map(with_levels)
}

fn with_levels(mut file: AcceleratorFile) -> AcceleratorFile {
    let mut levels = file.accumulation.take().unwrap_or_else(|| derive::levels(&file));
    if let [level] = levels.as_mut_slice() {
        level.name.get_or_insert_with(|| "acc".into());
    }
    AcceleratorFile { accumulation: Some(levels), ..file }
}

/// The overrides of one layer.
fn layer_sets(
    sources: &Sources,
    layer: &str,
    overrides: &std::collections::BTreeMap<String, serde_yaml::Value>,
) -> Result<Vec<Set>, Problem> {
    const COMMON: [&str; 6] = ["schema", "name", "description", "extends", "clock_mhz", "layers"];
    let key = KeyPath::keys(&["layers", layer]);
    let set = |(path, value): (&String, &serde_yaml::Value)| {
        let set = Set { path: path.clone(), value: value.clone(), from: SetSource::Layer(key.join(path)) };
        let head = path.split('.').next().unwrap_or_default();
        if COMMON.contains(&head) {
            return Err(Problem {
                code: "guardbit::hw::layers",
                key: Some(key.join(path).to_string()),
                message: format!("layer `{layer}` cannot have a `{head}` of its own"),
                help: Some("it belongs to the whole accelerator".into()),
                origin: set.origin(sources),
            });
        }
        Ok(set)
    };
    overrides.iter().map(set).collect()
}

impl Set {
    fn origin(&self, sources: &Sources) -> Origin {
        sources.origin(&KeyPath::dotted(&self.path), std::slice::from_ref(self))
    }
}

/// The problem of a violation, with its place.
fn blame(violation: Violation, sources: &Sources, sets: &[Set]) -> Problem {
    let Violation { code, keys, message, help } = violation;
    let (key, origin) = match sources.culprit(&keys, sets) {
        Some((key, Origin::Nowhere)) => (Some(key), sources.start()),
        Some((key, origin)) => (Some(key), origin),
        None => (None, Origin::Nowhere),
    };
    Problem { code, key: key.map(KeyPath::to_string), message, help: Some(help), origin }
}
