//! Places in an accelerator file.

use std::fmt;

use serde_yaml::Value;

/// Path of keys, e.g. `accumulation.acc.bits`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct KeyPath(Vec<Segment>);

/// Step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    /// Key of a map.
    Key(String),
    /// Element of a list; elements of `accumulation` have names.
    Item { index: usize, name: Option<String> },
}

impl KeyPath {
    /// Returns a path of keys of maps.
    pub fn keys(keys: &[&str]) -> Self {
        Self(keys.iter().map(|&key| Segment::Key(key.into())).collect())
    }

    /// Returns a path from its written form, e.g. `accumulation.acc.bits`.
    pub fn dotted(path: &str) -> Self {
        Self::keys(&path.split('.').collect::<Vec<_>>())
    }

    /// Returns a path from the YAML library's form, e.g. `accumulation[0].bits`.
    pub fn indexed(path: &str) -> Self {
        let mut segments = Vec::new();
        for part in path.split('.').filter(|_| path != ".") {
            let mut pieces = part.split('[');
            segments.extend(pieces.next().map(|key| Segment::Key(key.into())));
            let indices = pieces.filter_map(|piece| piece.trim_end_matches(']').parse().ok());
            segments.extend(indices.map(|index| Segment::Item { index, name: None }));
        }
        Self(segments)
    }

    /// Returns the path with the names of the levels.
    pub fn named(self, levels: &[Option<String>]) -> Self {
        let name = |index: usize| levels.get(index).cloned().flatten();
        let with_name = |segment| match segment {
            Segment::Item { index, name: None } => Segment::Item { index, name: name(index) },
            other => other,
        };
        match self.0.first() {
            Some(Segment::Key(key)) if key == "accumulation" => {
                Self(self.0.into_iter().map(with_name).collect())
            }
            _ => self,
        }
    }

    /// Returns the path of level `index` of `accumulation`.
    pub fn level(index: usize, name: Option<&str>) -> Self {
        let item = Segment::Item { index, name: name.filter(|n| !n.is_empty()).map(str::to_owned) };
        Self(vec![Segment::Key("accumulation".into()), item])
    }

    /// Returns the path extended by a key.
    pub fn join(&self, key: &str) -> Self {
        Self(self.0.iter().cloned().chain([Segment::Key(key.into())]).collect())
    }

    /// Returns the path of an element of the list.
    pub fn item(&self, index: usize) -> Self {
        Self(self.0.iter().cloned().chain([Segment::Item { index, name: None }]).collect())
    }

    /// Returns the first `length` steps.
    pub fn start(&self, length: usize) -> Self {
        Self(self.0[..length].to_vec())
    }

    /// Returns the steps.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Returns whether this path equals `other`, or is that of a map or list that contains it.
    pub fn contains(&self, other: &Self) -> bool {
        self.0.len() <= other.0.len() && self.0.iter().zip(&other.0).all(|(a, b)| a.is_same(b))
    }

    /// Returns the value at this path in `value`.
    pub fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(value, |value, segment| match segment {
            Segment::Key(key) => value.as_mapping()?.get(key.as_str()),
            Segment::Item { index, .. } => value.as_sequence()?.get(*index),
        })
    }
}

impl Segment {
    /// Returns whether both denote one element, regardless of its name.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Key(a), Self::Key(b)) => a == b,
            (Self::Item { index: a, .. }, Self::Item { index: b, .. }) => a == b,
            _ => false,
        }
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, segment) in self.0.iter().enumerate() {
            let dot = if i == 0 { "" } else { "." };
            match segment {
                Segment::Key(key) | Segment::Item { name: Some(key), .. } => write!(f, "{dot}{key}")?,
                Segment::Item { index, name: None } => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
