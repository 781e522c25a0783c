//! Serializes choices of the simulator by their names.

use std::fmt::Display;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

pub(crate) fn serialize<T: Display, S: Serializer>(choice: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(choice)
}

pub(crate) fn deserialize<'de, T, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error>
where
    T: Display + FromStr<Err: Display>,
{
    parse(&String::deserialize(deserializer)?)
}

/// Serializes a choice that may be absent.
pub(crate) mod optional {
    use super::*;

    pub(in crate::manifest) fn serialize<T: Display, S: Serializer>(
        choice: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match choice {
            Some(choice) => serializer.collect_str(choice),
            None => serializer.serialize_none(),
        }
    }

    pub(in crate::manifest) fn deserialize<'de, T, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error>
    where
        T: Display + FromStr<Err: Display>,
    {
        Option::<String>::deserialize(deserializer)?.map(|name| parse(&name)).transpose()
    }
}

/// Parses the choice of a name. Only the name by which it is written is accepted, no alias.
fn parse<T, E: Error>(name: &str) -> Result<T, E>
where
    T: Display + FromStr<Err: Display>,
{
    let choice: T = name.parse().map_err(E::custom)?;
    if choice.to_string() == name { Ok(choice) } else { Err(E::custom(format!("`{name}` is `{choice}`"))) }
}

/// Returns the names of choices, for the schema.
pub(crate) fn names<T: Display>(all: impl IntoIterator<Item = T>) -> Vec<String> {
    all.into_iter().map(|choice| choice.to_string()).collect()
}

/// Returns the names of choices that may be absent, for the schema.
pub(crate) fn optional_names<T: Display>(all: impl IntoIterator<Item = T>) -> Vec<Option<String>> {
    names(all).into_iter().map(Some).chain([None]).collect()
}
