//! Recipes of accelerators: a file with the overrides for all layers, then those of single layers.
//!
//! Overrides of accumulation levels are applied after all others, because the levels may follow from the
//! dataflow.

use std::borrow::Cow;
use std::collections::HashMap;

use super::check::{Violation, check};
use super::order::KnownOrders;
use super::problem::{HwError, Problem};
use super::set::{Overridden, Set, apply};
use super::sources::Sources;
use super::{blame, derive};
use crate::Accelerator;
use crate::file::AcceleratorFile;
use crate::keys::LevelFile;

/// Recipe of the accelerators of single layers.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    sources: Sources,
    /// File without its layers, with the overrides for all layers except those of levels.
    file: AcceleratorFile,
    overridden: Vec<Overridden>,
    /// Overrides of levels for all layers.
    of_levels: Vec<Set>,
    /// Levels of `file` with these overrides.
    levels: Leveled,
    /// Overrides of every name or index.
    pub(super) layers: Vec<(String, Vec<Set>)>,
    /// Position of each name or index in `layers`.
    places: HashMap<String, usize>,
    /// Cache of the permutations that were read.
    orders: KnownOrders,
}

/// Levels with the overrides for all layers.
#[derive(Debug, Clone)]
struct Leveled {
    before: Vec<LevelFile>,
    /// Levels after the overrides; `None` if an override removes them, so that those of the dataflow apply.
    after: Option<Vec<LevelFile>>,
    overridden: Vec<Overridden>,
}

impl Recipe {
    /// Returns the recipe of a file without layers, with the overrides for all of them.
    pub(super) fn new(sources: &Sources, file: AcceleratorFile, common: &[&Set]) -> Result<Self, HwError> {
        let (of_levels, others): (Vec<&Set>, Vec<&Set>) = common.iter().partition(|set| set.is_late());
        let mut overridden = Vec::new();
        let file = with(sources, file, others, &mut overridden)?;
        let of_levels: Vec<Set> = of_levels.into_iter().cloned().collect();
        let levels = Leveled::new(sources, levels(&file), &of_levels)?;
        let (sources, layers) = (sources.clone(), Vec::new());
        let (places, orders) = (HashMap::new(), KnownOrders::default());
        Ok(Self { sources, file, overridden, of_levels, levels, layers, places, orders })
    }

    /// Returns the recipe with overrides of layers.
    pub(super) fn with_layers(self, layers: Vec<(String, Vec<Set>)>) -> Self {
        let places = layers.iter().enumerate().map(|(index, (name, _))| (name.clone(), index)).collect();
        Self { layers, places, ..self }
    }

    /// Returns the accelerator of a layer with these names: it has the overrides of each name, in the order
    /// of the recipe.
    pub(crate) fn together(&self, names: &[String]) -> Result<Accelerator, HwError> {
        let mut places: Vec<usize> = names.iter().filter_map(|name| self.places.get(name).copied()).collect();
        places.sort_unstable();
        let own: Vec<&Vec<Set>> = places.into_iter().map(|place| &self.layers[place].1).collect();
        self.of_layer(&names.join("`, `"), &own)
    }

    /// Returns the accelerator of a layer with these overrides; `name` is its name in messages.
    pub(super) fn of_layer(&self, name: &str, own: &[&Vec<Set>]) -> Result<Accelerator, HwError> {
        let of_layer = |error: HwError| error.with_message(|message| format!("layer `{name}`: {message}"));
        let own: Vec<&Set> = own.iter().flat_map(|sets| sets.iter()).collect();
        self.accelerator(&own).map_err(of_layer)
    }

    /// Returns the accelerator with these overrides in addition to those for all layers.
    pub(super) fn accelerator(&self, own: &[&Set]) -> Result<Accelerator, HwError> {
        let made = self.file(own)?;
        made.check()
    }

    /// Returns the complete file with these overrides in addition to those for all layers.
    pub(super) fn file(&self, own: &[&Set]) -> Result<Made<'_>, HwError> {
        let (of_levels, others): (Vec<&Set>, Vec<&Set>) = own.iter().partition(|set| set.is_late());
        let mut overridden = Vec::new();
        let mut file = with(&self.sources, self.file.clone(), others, &mut overridden)?;
        let before = levels(&file);
        // Most layers have the common levels, to which the common overrides need not be applied again.
        let leveled = match before == self.levels.before {
            true => Cow::Borrowed(&self.levels),
            false => Cow::Owned(Leveled::new(&self.sources, before, &self.of_levels)?),
        };
        file.accumulation = leveled.after.clone();
        let mut file = with(&self.sources, file, of_levels, &mut overridden)?;
        file.accumulation = Some(levels(&file));
        Ok(Made { file, recipe: self, leveled, overridden })
    }
}

/// File with all overrides.
pub(super) struct Made<'a> {
    pub file: AcceleratorFile,
    recipe: &'a Recipe,
    leveled: Cow<'a, Leveled>,
    overridden: Vec<Overridden>,
}

impl Made<'_> {
    /// Returns the accelerator.
    pub fn check(&self) -> Result<Accelerator, HwError> {
        check(&self.file, &self.recipe.orders).map_err(|violation| self.blame(violation).into())
    }

    /// Returns the problem of a violation, with its place.
    pub fn blame(&self, violation: Violation) -> Problem {
        let overridden = [&self.recipe.overridden, &self.leveled.overridden, &self.overridden];
        blame(violation, &self.recipe.sources, &overridden.map(Vec::as_slice))
    }
}

impl Leveled {
    fn new(sources: &Sources, before: Vec<LevelFile>, sets: &[Set]) -> Result<Self, HwError> {
        let file = AcceleratorFile { accumulation: Some(before.clone()), ..AcceleratorFile::default() };
        let mut overridden = Vec::new();
        let after = with(sources, file, sets, &mut overridden)?.accumulation;
        Ok(Self { before, after, overridden })
    }
}

/// Applies overrides to a file, and records them.
fn with<'a>(
    sources: &Sources,
    file: AcceleratorFile,
    sets: impl IntoIterator<Item = &'a Set>,
    overridden: &mut Vec<Overridden>,
) -> Result<AcceleratorFile, HwError> {
    let sets: Vec<&Set> = sets.into_iter().collect();
    let (file, own) =
        apply(&sets, file).map_err(|(error, set)| error.with_origin(sources.origin_of(&set.from)))?;
    overridden.extend(own);
    Ok(file)
}

/// Returns the levels of a file: its own, or those of its dataflow.
fn levels(file: &AcceleratorFile) -> Vec<LevelFile> {
    let mut levels = file.accumulation.clone().unwrap_or_else(|| derive::levels(file));
    if let [level] = levels.as_mut_slice() {
        level.name.get_or_insert_with(|| "acc".into());
    }
    levels
}
