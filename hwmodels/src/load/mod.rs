//! From YAML, presets and overrides to a checked accelerator.
//!
//! A file is read into a type that mirrors it, put over the preset or file that it extends, changed by overrides, given
//! accumulation levels by its dataflow if it has none (overrides of levels come after that), and checked.

mod check;
mod defaults;
mod derive;
mod key;
mod layers;
mod lint;
mod locate;
mod packing;
mod parse;
mod problem;
mod resolved;
mod rules;
mod set;
mod sources;
mod text;
mod typed;

use std::path::Path;

pub use problem::{FilePlace, HwError, Origin, Problem};
pub use text::{description_of, name_of};

use crate::file::AcceleratorFile;
use crate::{Accelerator, LayerOverrides};
use check::Violation;
use key::KeyPath;
use set::{Overridden, Set};
use sources::Sources;

/// The accelerator of a preset's name or a file's path, with overrides as `accumulation.acc.bits=12`.
///
/// # Errors
/// [`HwError`] with the place of what is wrong.
pub fn load(hw: &str, sets: &[String]) -> Result<Accelerator, HwError> {
    build(&sources(hw)?, &parse_sets(sets)?)
}

/// The accelerator of a file's text; `file_name` is used in messages, and names the accelerator if it has no name.
///
/// # Errors
/// [`HwError`] with the place of what is wrong.
pub fn from_yaml(text: &str, file_name: &str, sets: &[String]) -> Result<Accelerator, HwError> {
    build(&Sources::file(text, file_name)?, &parse_sets(sets)?)
}

/// The accelerator of a file that says everything itself, as [`Accelerator::resolved_yaml`] does: one that extends another is
/// refused, so no other file is read.
///
/// # Errors
/// [`HwError`] with the place of what is wrong.
pub fn from_complete_yaml(text: &str, file_name: &str) -> Result<Accelerator, HwError> {
    build(&Sources::complete(text, file_name)?, &[])
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
    sources: Result<Sources, HwError>,
    sets: &[String],
) -> (Result<Accelerator, HwError>, Vec<Problem>) {
    let run = || -> Result<_, HwError> {
        let (sources, sets) = (sources?, parse_sets(sets)?);
        let accelerator = build(&sources, &sets)?;
        let warnings = lint::lint(&sources, &sets)?;
        Ok((accelerator, warnings))
    };
    match run() {
        Ok((accelerator, warnings)) => (Ok(accelerator), warnings),
        Err(error) => (Err(error), Vec::new()),
    }
}

fn sources(hw: &str) -> Result<Sources, HwError> {
    if let Some(preset) = Sources::preset(hw) {
        return preset;
    }
    let problem = |code, message| {
        HwError::from(Problem {
            code,
            key: None,
            message,
            help: Some(format!("name a YAML file or a preset; the presets are {}", sources::preset_names())),
            origin: Origin::Nowhere,
        })
    };
    if !Path::new(hw).exists() {
        return Err(problem(
            "guardbit::hw::unknown_preset",
            format!("`{hw}` is neither a preset nor a file"),
        ));
    }
    let text = std::fs::read_to_string(hw);
    let text = text.map_err(|e| problem("guardbit::hw::read", format!("`{hw}` cannot be read: {e}")))?;
    Sources::file(&text, hw)
}

fn parse_sets(sets: &[String]) -> Result<Vec<Set>, HwError> {
    sets.iter().map(|set| Set::parse(set)).collect()
}

fn build(sources: &Sources, sets: &[Set]) -> Result<Accelerator, HwError> {
    let file = sources.merged();
    let (of_layers, common): (Vec<&Set>, Vec<&Set>) = sets.iter().partition(|set| set.layer().is_some());
    let common: Vec<Set> = common.into_iter().cloned().collect();
    let mut accelerator = one(sources, &file, &common)?;
    let layers = layers::overrides(sources, &file, &of_layers)?;
    if layers.is_empty() {
        return Ok(accelerator);
    }
    let recipe = Recipe { sources: sources.clone(), file, common, layers };
    let names = recipe.layers.iter().map(|(name, _)| name.clone());
    let entry = |name: String| Ok((name.clone(), recipe.together(&[name])?));
    let entries = names.map(entry).collect::<Result<_, HwError>>()?;
    accelerator.layers = LayerOverrides::of_recipe(entries, recipe);
    Ok(accelerator)
}

/// What the accelerators of single layers are made of.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    sources: Sources,
    file: AcceleratorFile,
    /// The overrides for all layers.
    common: Vec<Set>,
    /// Those of every name or index.
    layers: Vec<(String, Vec<Set>)>,
}

impl Recipe {
    /// The accelerator of a layer that goes by these names: with the overrides of each, in order.
    pub fn together(&self, names: &[String]) -> Result<Accelerator, HwError> {
        let named = self.layers.iter().filter(|(name, _)| names.contains(name));
        let own = named.flat_map(|(_, sets)| sets);
        let all: Vec<Set> = self.common.iter().chain(own).cloned().collect();
        let layer = names.join("`, `");
        let of_layer = |error: HwError| error.with_message(|message| format!("layer `{layer}`: {message}"));
        one(&self.sources, &self.file, &all).map_err(of_layer)
    }
}

/// The accelerator of a file with these overrides, without those of its layers.
fn one(sources: &Sources, file: &AcceleratorFile, sets: &[Set]) -> Result<Accelerator, HwError> {
    let (file, overridden) = apply(sources, file, sets)?;
    check::check(&file).map_err(|violation| blame(violation, sources, &overridden).into())
}

/// The file with these overrides and with accumulation levels, and what was overridden.
fn apply(
    sources: &Sources,
    file: &AcceleratorFile,
    sets: &[Set],
) -> Result<(AcceleratorFile, Vec<Overridden>), HwError> {
    let mut overridden = Vec::new();
    let mut pass = |mut file: AcceleratorFile, late: bool| {
        for set in sets.iter().filter(|set| set.is_late() == late) {
            let (changed, key) = set.apply(&file).map_err(|e| e.with_origin(sources.origin_of(&set.from)))?;
            overridden.push(key);
            file = changed;
        }
        Ok::<_, HwError>(with_levels(file))
    };
    let file = pass(file.clone(), false)?;
    let file = pass(file, true)?;
    Ok((file, overridden))
}

fn with_levels(mut file: AcceleratorFile) -> AcceleratorFile {
    let mut levels = file.accumulation.take().unwrap_or_else(|| derive::levels(&file));
    if let [level] = levels.as_mut_slice() {
        level.name.get_or_insert_with(|| "acc".into());
    }
    AcceleratorFile { accumulation: Some(levels), ..file }
}

/// The problem of a violation, with its place.
fn blame(violation: Violation, sources: &Sources, overridden: &[Overridden]) -> Problem {
    let Violation { code, keys, message, help } = violation;
    let (key, origin) = match sources.culprit(&keys, overridden) {
        Some((key, Origin::Nowhere)) => (Some(key), sources.start()),
        Some((key, origin)) => (Some(key), origin),
        None => (None, Origin::Nowhere),
    };
    Problem { code, key: key.map(KeyPath::to_string), message, help: Some(help), origin }
}
