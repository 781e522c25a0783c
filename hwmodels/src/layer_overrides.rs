//! The accelerators of single layers.

use std::ops::Index;
use std::sync::Arc;

use crate::load::Recipe;
use crate::{Accelerator, HwError};

/// Complete accelerators for single layers, by layer name or index, in the order in which they were written.
#[derive(Debug, Clone, Default)]
pub struct LayerOverrides {
    entries: Vec<(String, Accelerator)>,
    /// What the entries were made of, where they come from a file or the command line.
    recipe: Option<Arc<Recipe>>,
}

/// The same names give the same accelerators, in whatever order and however they were written.
impl PartialEq for LayerOverrides {
    fn eq(&self, other: &Self) -> bool {
        let same = |(name, own): (&str, &Accelerator)| other.get(name) == Some(own);
        self.entries.len() == other.entries.len() && self.iter().all(same)
    }
}

impl LayerOverrides {
    /// Entries with what they were made of.
    pub(crate) fn of_recipe(entries: Vec<(String, Accelerator)>, recipe: Recipe) -> Self {
        Self { entries, recipe: Some(Arc::new(recipe)) }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Every name or index with its accelerator.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Accelerator)> {
        self.entries.iter().map(|(name, own)| (name.as_str(), own))
    }

    /// Every name or index.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(name, _)| name)
    }

    /// Every accelerator.
    pub fn values(&self) -> impl Iterator<Item = &Accelerator> {
        self.iter().map(|(_, own)| own)
    }

    /// Every accelerator, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Accelerator> {
        self.entries.iter_mut().map(|(_, own)| own)
    }

    /// The accelerator of that name or index.
    pub fn get(&self, name: &str) -> Option<&Accelerator> {
        self.iter().find(|(other, _)| *other == name).map(|(_, own)| own)
    }

    /// Adds an entry at the end, or replaces the one of that name in its place.
    pub fn insert(&mut self, name: impl Into<String>, own: Accelerator) {
        let name = name.into();
        match self.entries.iter_mut().find(|(other, _)| *other == name) {
            Some((_, old)) => *old = own,
            None => self.entries.push((name, own)),
        }
    }

    /// Takes an entry out.
    pub fn remove(&mut self, name: &str) -> Option<Accelerator> {
        let at = self.entries.iter().position(|(other, _)| other == name)?;
        Some(self.entries.remove(at).1)
    }

    /// Keeps the entries that `keep` says yes to.
    pub fn retain(&mut self, keep: impl Fn(&str, &Accelerator) -> bool) {
        self.entries.retain(|(name, own)| keep(name, own));
    }

    /// Puts the entries in the order of `key`.
    pub fn sort_by_key<K: Ord>(&mut self, key: impl Fn(&str) -> K) {
        self.entries.sort_by_key(|(name, _)| key(name));
    }

    /// The accelerator of a layer that several of the entries name: what they override together, the later one where
    /// two of them override the same.
    pub(crate) fn together(&self, names: &[String]) -> Result<Accelerator, HwError> {
        match &self.recipe {
            Some(recipe) if names.len() > 1 => recipe.together(names),
            _ => Ok(self[names.last().map_or("", String::as_str)].clone()),
        }
    }
}

impl Index<&str> for LayerOverrides {
    type Output = Accelerator;

    /// # Panics
    /// If there is no such entry.
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
