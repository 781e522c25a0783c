//! Lists and free values of bounded size. Without limits, aliases could expand a small text into a large
//! value.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

use guardbit_documents::List;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_yaml::{Mapping, Value};

use super::Entries;

/// Greatest number of elements of a list.
pub(super) const MOST_ELEMENTS: usize = 64;

/// Number of bytes that a value is assumed to take in addition to its text.
const VALUE: usize = 64;

/// Greatest size in bytes of all overrides of layers together.
const OVERRIDES: usize = 16 << 20;

/// Greatest number of layers with overrides.
const MOST_LAYERS: usize = 1 << 14;

/// Reads an optional list of at most 64 elements.
pub(crate) fn short<'de, T, D>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    let list = Option::<List<T, MOST_ELEMENTS>>::deserialize(deserializer)?;
    Ok(list.map(|List(elements)| elements))
}

/// Remaining size for values. As a deserialization seed, it reads a [`Value`] of at most this size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget<'a>(&'a Cell<usize>);

impl<'a> Budget<'a> {
    pub fn new(bytes: &'a Cell<usize>) -> Self {
        Self(bytes)
    }

    /// Returns the greatest size in bytes of the values of a text without aliases.
    pub fn of_text(text: &str) -> Cell<usize> {
        Cell::new((VALUE + 1) * (text.len() + 1))
    }

    fn take<E: Error>(self, text: usize) -> Result<(), E> {
        let left = self.0.get().checked_sub(VALUE + text);
        self.0.set(left.ok_or_else(|| E::custom("too many values, or aliases that expand to too many"))?);
        Ok(())
    }

    /// Reads a value that is neither a list nor a map.
    fn scalar<E: Error>(self, value: impl Into<Value>) -> Result<Value, E> {
        self.take(0)?;
        Ok(value.into())
    }
}

impl<'de> DeserializeSeed<'de> for Budget<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Budget<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value without a tag")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.scalar(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.scalar(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.scalar(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.scalar(value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.take(value.len())?;
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.scalar(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        self.scalar(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        self.take(0)?;
        let mut all = Vec::new();
        while let Some(value) = list.next_element_seed(self)? {
            all.push(value);
        }
        Ok(Value::Sequence(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        self.take(0)?;
        let mut all = Mapping::new();
        while let Some(key) = map.next_key_seed(self)? {
            if all.contains_key(&key) {
                let key = key.as_str().unwrap_or("a key");
                return Err(A::Error::custom(format!("duplicate field `{key}`")));
            }
            let value = map.next_value_seed(self)?;
            all.insert(key, value);
        }
        Ok(Value::Mapping(all))
    }
}

/// Reads the overrides of layers.
struct Overrides<'a>(Budget<'a>);

/// Reads the overrides of one layer.
struct OfLayer<'a>(Budget<'a>);

/// Reads a key.
struct Key<'a>(Budget<'a>);

impl<'de> Deserialize<'de> for Entries<Entries<Value>> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Overrides(Budget(&Cell::new(OVERRIDES))))
    }
}

impl<'de> Visitor<'de> for Overrides<'_> {
    type Value = Entries<Entries<Value>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        entries(map, self.0, MOST_LAYERS, || OfLayer(self.0))
    }
}

impl<'de> DeserializeSeed<'de> for OfLayer<'_> {
    type Value = Entries<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for OfLayer<'_> {
    type Value = Entries<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        entries(map, self.0, usize::MAX, || self.0)
    }
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        let key = String::deserialize(deserializer)?;
        self.0.take(key.len())?;
        Ok(key)
    }
}

/// Reads the entries of a map, at most `most` of them, each key once.
fn entries<'de, A, S>(
    mut map: A,
    budget: Budget<'_>,
    most: usize,
    value: impl Fn() -> S,
) -> Result<Entries<S::Value>, A::Error>
where
    A: MapAccess<'de>,
    S: DeserializeSeed<'de>,
{
    let mut entries = Vec::new();
    let mut keys = HashSet::new();
    while let Some(key) = map.next_key_seed(Key(budget))? {
        if !keys.insert(key.clone()) {
            return Err(A::Error::custom(format!("duplicate field `{key}`")));
        }
        if entries.len() == most {
            return Err(A::Error::custom(format!("more than {most} entries")));
        }
        entries.push((key, map.next_value_seed(value())?));
    }
    Ok(Entries(entries))
}

/// Overrides as a map of dotted keys with their values. Each has the form `KEY=VALUE` of the command line;
/// they are sorted by key.
///
/// Reading fails for a duplicate key, and for more values than a file of 16 MiB could hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetMap(pub Vec<String>);

impl<'de> Deserialize<'de> for SetMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Entries(mut sets) = deserializer.deserialize_map(OfLayer(Budget(&Cell::new(OVERRIDES))))?;
        sets.sort_by(|(a, _), (b, _)| a.cmp(b));
        // JSON is a subset of YAML, on one line.
        let json = |value| serde_json::to_string(value).unwrap_or_default();
        Ok(Self(sets.iter().map(|(key, value)| format!("{key}={}", json(value))).collect()))
    }
}
