//! Paths of values in a document.

use std::fmt;

use serde_yaml::Value;

/// Path of a value, e.g. `nodes[0].stride`. The default is the path of the whole document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Path(Vec<Step>);

/// Step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Key of a map.
    Key(String),
    /// Element of a list.
    Item {
        /// Index, from 0.
        index: usize,
        /// Name, which messages show instead of the index.
        name: Option<String>,
    },
}

impl Path {
    /// Returns a path of keys of maps.
    pub fn keys(keys: &[&str]) -> Self {
        Self(keys.iter().map(|&key| Step::Key(key.into())).collect())
    }

    /// Returns a path from its written form, e.g. `accumulation.acc.bits`.
    pub fn dotted(path: &str) -> Self {
        Self::keys(&path.split('.').collect::<Vec<_>>())
    }

    /// Returns a path from the YAML library's form, e.g. `accumulation[0].bits`.
    pub fn indexed(path: &str) -> Self {
        let mut steps = Vec::new();
        for part in path.split('.') {
            let mut pieces = part.split('[');
            // An element of the whole document has no key before its index.
            let key = pieces.next().filter(|key| !key.is_empty());
            steps.extend(key.map(|key| Step::Key(key.into())));
            let indices = pieces.filter_map(|piece| piece.trim_end_matches(']').parse().ok());
            steps.extend(indices.map(|index| Step::Item { index, name: None }));
        }
        Self(steps)
    }

    /// Returns the path extended by a key.
    pub fn join(&self, key: &str) -> Self {
        Self(self.0.iter().cloned().chain([Step::Key(key.into())]).collect())
    }

    /// Returns the path of an element of the list.
    pub fn item(&self, index: usize) -> Self {
        self.named_item(index, None)
    }

    /// Returns the path of an element that messages call by its name, if it has one.
    pub fn named_item(&self, index: usize, name: Option<String>) -> Self {
        Self(self.0.iter().cloned().chain([Step::Item { index, name }]).collect())
    }

    /// Returns the path with the names of the elements of the list at the top-level key `list`.
    pub fn named(mut self, list: &str, names: &[Option<String>]) -> Self {
        if let [Step::Key(key), Step::Item { index, name }, ..] = self.0.as_mut_slice()
            && key == list
        {
            *name = names.get(*index).cloned().flatten();
        }
        self
    }

    /// Returns the first `length` steps.
    pub fn start(&self, length: usize) -> Self {
        Self(self.0[..length].to_vec())
    }

    /// Returns the steps.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Returns whether this path equals `other`, or is that of a map or list that contains it.
    pub fn contains(&self, other: &Self) -> bool {
        self.0.len() <= other.0.len() && self.0.iter().zip(&other.0).all(|(a, b)| a.is_same(b))
    }

    /// Returns the value at this path in `value`.
    pub fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(value, |value, step| match step {
            Step::Key(key) => value.as_mapping()?.get(key.as_str()),
            Step::Item { index, .. } => value.as_sequence()?.get(*index),
        })
    }
}

impl Step {
    /// Returns whether both denote one element, regardless of its name.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Key(a), Self::Key(b)) => a == b,
            (Self::Item { index: a, .. }, Self::Item { index: b, .. }) => a == b,
            _ => false,
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            let dot = if i == 0 { "" } else { "." };
            match step {
                Step::Key(key) | Step::Item { name: Some(key), .. } => write!(f, "{dot}{key}")?,
                Step::Item { index, name: None } => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
