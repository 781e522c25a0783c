//! Permutations in a file.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::order::MOST_NUMBERS;

/// Named lists of numbers as unchecked JSON. It is stored as text, because it is copied for every layer that
/// has overrides.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PermutationsFile(String);

/// Named lists of numbers. A list without a name is identified by its length.
pub(crate) struct NamedLists(pub Vec<(String, Vec<i64>)>);

impl PermutationsFile {
    /// Returns the text of these lists.
    pub fn of<'a>(lists: impl Iterator<Item = (&'a str, Vec<i64>)>) -> Self {
        let text = |(name, numbers): (&str, Vec<i64>)| {
            let json = |value: serde_json::Result<String>| value.unwrap_or_default();
            format!("{}:{}", json(serde_json::to_string(name)), json(serde_json::to_string(&numbers)))
        };
        Self(format!("{{{}}}", lists.map(text).collect::<Vec<_>>().join(",")))
    }

    /// Parses the text.
    ///
    /// # Errors
    /// A description of the problem if the text is not JSON with lists of whole numbers.
    pub fn lists(&self) -> Result<NamedLists, String> {
        serde_json::from_str(&self.0).map_err(|error| error.to_string())
    }
}

impl Serialize for PermutationsFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Reads lists, or the text in which they are stored.
impl<'de> Deserialize<'de> for PermutationsFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrLists;

        impl<'de> Visitor<'de> for TextOrLists {
            type Value = PermutationsFile;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Lists.expecting(f)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(PermutationsFile(text.into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Lists.visit_seq(list).map(Into::into)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Lists.visit_map(map).map(Into::into)
            }
        }

        deserializer.deserialize_any(TextOrLists)
    }
}

impl From<NamedLists> for PermutationsFile {
    fn from(NamedLists(lists): NamedLists) -> Self {
        Self::of(lists.iter().map(|(name, numbers)| (name.as_str(), numbers.clone())))
    }
}

impl<'de> Deserialize<'de> for NamedLists {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Lists)
    }
}

impl JsonSchema for PermutationsFile {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Permutations".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let list = || json_schema!({ "type": "array", "items": { "type": "integer", "minimum": 0, "maximum": MOST_NUMBERS - 1 } });
        json_schema!({ "oneOf": [
            list(),
            { "type": "object", "additionalProperties": list() },
            { "type": "string" },
        ] })
    }
}

/// Reads one list, or lists by name.
struct Lists;

impl<'de> Visitor<'de> for Lists {
    type Value = NamedLists;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of whole numbers, or a map of such lists")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        let numbers = List(MOST_NUMBERS).visit_seq(list)?;
        Ok(NamedLists(vec![(numbers.len().to_string(), numbers)]))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut all, mut left) = (Vec::new(), MOST_NUMBERS);
        while let Some(name) = map.next_key::<String>()? {
            let numbers = map.next_value_seed(List(left))?;
            // A name takes space too.
            left = left.saturating_sub(numbers.len() + 1);
            all.push((name, numbers));
        }
        Ok(NamedLists(all))
    }
}

/// Reads a list of at most the given number of elements.
struct List(usize);

impl<'de> DeserializeSeed<'de> for List {
    type Value = Vec<i64>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List {
    type Value = Vec<i64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of whole numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = list.next_element()? {
            if numbers.len() == self.0 {
                return Err(A::Error::custom(format!("more than {MOST_NUMBERS} numbers in all")));
            }
            numbers.push(number);
        }
        Ok(numbers)
    }
}
