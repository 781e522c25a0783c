//! Map with arbitrary keys in their order, in which a duplicate key is an error.

use serde::{Serialize, Serializer};

/// Keys with their values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entries<V>(pub Vec<(String, V)>);

impl<'a, V> IntoIterator for &'a Entries<V> {
    type Item = &'a (String, V);
    type IntoIter = std::slice::Iter<'a, (String, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<V: Serialize> Serialize for Entries<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}
