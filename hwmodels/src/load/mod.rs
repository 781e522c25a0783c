//! Loads a checked accelerator from YAML, presets and overrides.
//!
//! A file is read into a type that mirrors it, and merged over the preset or file that it extends. Overrides
//! are applied. If the file has no accumulation levels, its dataflow provides them; overrides of levels are
//! applied after that. The result is checked.

mod check;
mod defaults;
mod depthwise;
mod derive;
mod float;
mod layers;
mod lint;
mod order;
mod packing;
mod parse;
mod ports;
mod problem;
mod recipe;
mod resolved;
mod rules;
mod set;
mod sources;
mod text;
mod typed;

use std::io;
use std::path::Path;

pub(crate) use lint::PRODUCT_WIDER;
pub use problem::{HwError, Origin, Problem};
pub use set::{full_key, key_of_layer};
pub use text::{description_of, name_of};

pub use guardbit_documents::FilePlace;
pub(crate) use guardbit_documents::Path as KeyPath;

use crate::{Accelerator, LayerOverrides};
pub(crate) use check::{Violation, out_of_range};
use parse::MOST_BYTES;
pub(crate) use recipe::Recipe;
pub(crate) use rules::{MAX_ELEMENTS, MAX_RATE, MAX_SIDE, Rule};
use set::{Overridden, Set};
use sources::Sources;
pub(crate) use text::{MAX_DESCRIPTION, MAX_LEVEL_NAME, MAX_NAME};

/// Greatest number of overrides of the command line.
const MOST_SETS: usize = 1000;

/// Loads the accelerator of a preset's name or a file's path, with overrides such as
/// `accumulation.acc.bits=12`.
///
/// # Errors
/// [`HwError`] with the place of the problem.
pub fn load(hw: &str, sets: &[String]) -> Result<Accelerator, HwError> {
    build(&sources(hw)?, &parse_sets(sets)?)
}

/// Loads the accelerator of a file's text. `file_name` is used in messages, and names the accelerator if it
/// has no name.
///
/// # Errors
/// [`HwError`] with the place of the problem.
pub fn from_yaml(text: &str, file_name: &str, sets: &[String]) -> Result<Accelerator, HwError> {
    build(&Sources::file(text, file_name)?, &parse_sets(sets)?)
}

/// Loads the accelerator of a self-contained file, such as one from [`Accelerator::resolved_yaml`]. A file
/// that extends another is refused, so no other file is read.
///
/// # Errors
/// [`HwError`] with the place of the problem.
pub fn from_complete_yaml(text: &str, file_name: &str) -> Result<Accelerator, HwError> {
    build(&Sources::complete(text, file_name)?, &[])
}

/// Loads an accelerator like [`load`], and returns warnings about it if it is valid.
pub fn check(hw: &str, sets: &[String]) -> (Result<Accelerator, HwError>, Vec<Problem>) {
    checked(sources(hw), sets)
}

/// Loads an accelerator like [`from_yaml`], and returns warnings about it if it is valid.
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
            help: format!(
                "{}name a YAML file or a preset; the presets are {}",
                sources::meant(hw),
                sources::preset_names()
            ),
            origin: Origin::Nowhere,
        })
    };
    let text = guardbit_files::read_text(Path::new(hw), MOST_BYTES).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            problem("guardbit::hw::unknown_preset", format!("`{hw}` is neither a preset nor a file"))
        }
        _ => problem("guardbit::hw::read", format!("`{hw}` cannot be read: {error}")),
    })?;
    Sources::file(&text, hw)
}

fn parse_sets(sets: &[String]) -> Result<Vec<Set>, HwError> {
    if sets.len() > MOST_SETS {
        return Err(Problem {
            code: "guardbit::hw::set",
            key: None,
            message: format!("{} overrides; expected at most {MOST_SETS}", sets.len()),
            help: "write them to a file that `extends` the accelerator".into(),
            origin: Origin::Nowhere,
        }
        .into());
    }
    sets.iter().map(|set| Set::parse(set)).collect()
}

fn build(sources: &Sources, sets: &[Set]) -> Result<Accelerator, HwError> {
    let mut file = sources.merged();
    let (of_layers, common): (Vec<&Set>, Vec<&Set>) = sets.iter().partition(|set| set.layer().is_some());
    let layers = file.layers.take();
    let recipe = Recipe::new(sources, file, &common)?;
    let mut accelerator = recipe.accelerator(&[])?;
    let layers = layers::overrides(sources, layers.as_ref(), &of_layers)?;
    if layers.is_empty() {
        return Ok(accelerator);
    }
    let recipe = recipe.with_layers(layers);
    let entry = |(name, sets): &(String, Vec<Set>)| Ok((name.clone(), recipe.of_layer(name, &[sets])?));
    let entries = recipe.layers.iter().map(entry).collect::<Result<_, HwError>>()?;
    accelerator.layers = LayerOverrides::of_recipe(entries, recipe);
    Ok(accelerator)
}

/// Returns the problem of a violation, with its place.
fn blame(violation: Violation, sources: &Sources, overridden: &[&[Overridden]]) -> Problem {
    let Violation { code, keys, message, help } = violation;
    let (key, origin) = match sources.culprit(&keys, overridden) {
        Some((key, Origin::Nowhere)) => (Some(key), sources.start()),
        Some((key, origin)) => (Some(key), origin),
        None => (None, Origin::Nowhere),
    };
    Problem { code, key: key.map(KeyPath::to_string), message, help, origin }
}
