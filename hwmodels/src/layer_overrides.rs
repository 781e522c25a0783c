//! Accelerators of single layers.

use std::collections::HashMap;
use std::ops::Index;
use std::sync::Arc;

use crate::load::Recipe;
use crate::{Accelerator, HwError};

/// Complete accelerators of single layers, by layer name or index, in the order in which they were written.
#[derive(Debug, Clone, Default)]
pub struct LayerOverrides {
    entries: Vec<(String, Accelerator)>,
    /// Position of each name among the entries.
    places: HashMap<String, usize>,
    /// Recipe of the entries, if they come from a file or the command line.
    recipe: Option<Arc<Recipe>>,
}

/// Overrides are equal if equal names have equal accelerators, in any order and however they were written.
impl PartialEq for LayerOverrides {
    fn eq(&self, other: &Self) -> bool {
        let same = |(name, own): (&str, &Accelerator)| other.get(name) == Some(own);
        self.entries.len() == other.entries.len() && self.iter().all(same)
    }
}

impl LayerOverrides {
    /// Creates entries with their recipe.
    pub(crate) fn of_recipe(entries: Vec<(String, Accelerator)>, recipe: Recipe) -> Self {
        let mut all = Self { entries, recipe: Some(Arc::new(recipe)), ..Self::default() };
        all.look_up();
        all
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns every name or index with its accelerator.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Accelerator)> {
        self.entries.iter().map(|(name, own)| (name.as_str(), own))
    }

    /// Returns every name or index.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(name, _)| name)
    }

    /// Returns every accelerator.
    pub fn values(&self) -> impl Iterator<Item = &Accelerator> {
        self.iter().map(|(_, own)| own)
    }

    /// Returns every accelerator for modification.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Accelerator> {
        self.entries.iter_mut().map(|(_, own)| own)
    }

    /// Returns the accelerator of a name or index.
    pub fn get(&self, name: &str) -> Option<&Accelerator> {
        self.places.get(name).map(|&place| &self.entries[place].1)
    }

    /// Appends an entry, or replaces the entry of the given name in its place.
    pub fn insert(&mut self, name: impl Into<String>, own: Accelerator) {
        let name = name.into();
        match self.places.get(&name) {
            Some(&place) => self.entries[place].1 = own,
            None => {
                self.places.insert(name.clone(), self.entries.len());
                self.entries.push((name, own));
            }
        }
    }

    /// Removes and returns an entry.
    pub fn remove(&mut self, name: &str) -> Option<Accelerator> {
        let (_, own) = self.entries.remove(*self.places.get(name)?);
        self.look_up();
        Some(own)
    }

    /// Keeps the entries for which `keep` returns true.
    pub fn retain(&mut self, keep: impl Fn(&str, &Accelerator) -> bool) {
        self.entries.retain(|(name, own)| keep(name, own));
        self.look_up();
    }

    /// Sorts the entries by `key`.
    pub fn sort_by_key<K: Ord>(&mut self, key: impl Fn(&str) -> K) {
        self.entries.sort_by_cached_key(|(name, _)| key(name));
        self.look_up();
    }

    fn look_up(&mut self) {
        let names = self.entries.iter().map(|(name, _)| name.clone());
        self.places = names.enumerate().map(|(place, name)| (name, place)).collect();
    }

    /// Returns the accelerator of a layer that several entries name. It has the overrides of all of them; if
    /// two override one key, the later one applies.
    pub(crate) fn together(&self, names: &[String]) -> Result<Accelerator, HwError> {
        match &self.recipe {
            Some(recipe) if names.len() > 1 => recipe.together(names),
            _ => Ok(self[names.last().map_or("", String::as_str)].clone()),
        }
    }
}

impl Index<&str> for LayerOverrides {
    type Output = Accelerator;

    /// Returns the accelerator of a layer.
    ///
    /// # Panics
    /// If there is no entry for the layer.
    fn index(&self, name: &str) -> &Accelerator {
        self.get(name).expect("an entry of that name")
    }
}

impl Extend<(String, Accelerator)> for LayerOverrides {
    fn extend<I: IntoIterator<Item = (String, Accelerator)>>(&mut self, entries: I) {
        entries.into_iter().for_each(|(name, own)| self.insert(name, own));
    }
}

impl FromIterator<(String, Accelerator)> for LayerOverrides {
    fn from_iter<I: IntoIterator<Item = (String, Accelerator)>>(entries: I) -> Self {
        let mut all = Self::default();
        all.extend(entries);
        all
    }
}
