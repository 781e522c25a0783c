//! Finds the position of a key's value in the text of a file.

use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use guardbit_documents::Step;

use super::KeyPath;
use super::rules::MAX_LEVELS;

/// Returns line and column, from 1, of the value at `key`, or of the innermost existing map or list around
/// it.
pub(crate) fn locate(text: &str, key: &KeyPath) -> Option<(usize, usize)> {
    let segments = key.steps();
    (0..=segments.len()).rev().find_map(|length| {
        let walk = Walk { path: &segments[..length], pass: 0 };
        walk.start(text)
    })
}

/// Returns line and column like [`locate`] for a duplicate key: those of its second value.
pub(super) fn locate_second(text: &str, key: &KeyPath) -> Option<(usize, usize)> {
    Walk { path: key.steps(), pass: 1 }.start(text)
}

/// Returns the names of the levels of `accumulation`; empty if its levels do not have text as names.
pub(super) fn level_names(text: &str) -> Vec<Option<String>> {
    #[derive(Deserialize)]
    struct Levels {
        accumulation: Option<List>,
    }
    let file = serde_yaml::from_str::<Levels>(text);
    file.ok().and_then(|file| file.accumulation).map_or(Vec::new(), |List(names)| names)
}

/// Names of the first levels.
struct List(Vec<Option<String>>);

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Level {
            name: Option<String>,
        }
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = List;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<List, A::Error> {
                let mut names = Vec::new();
                while names.len() < MAX_LEVELS
                    && let Some(level) = list.next_element::<Level>()?
                {
                    names.push(level.name);
                }
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(List(names))
            }
        }
        deserializer.deserialize_seq(Names)
    }
}

/// Walks down a path and fails at its end, because the YAML library reports the position of an error.
struct Walk<'a> {
    path: &'a [Step],
    /// Number of values of the last key to skip.
    pass: usize,
}

impl Walk<'_> {
    fn start(self, text: &str) -> Option<(usize, usize)> {
        let end = self.deserialize(serde_yaml::Deserializer::from_str(text)).err()?;
        end.location().map(|at| (at.line(), at.column()))
    }

    fn next(&self) -> Self {
        Self { path: &self.path[1..], pass: self.pass }
    }
}

/// Compares a key without copying it.
struct IsKey<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for IsKey<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for IsKey<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<bool, E> {
        Ok(!self.0.is_empty() && self.0 == key)
    }
}

/// Accepts no value, so that its error has the position of the value.
struct Here;

impl Visitor<'_> for Here {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing")
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.path {
            [] => deserializer.deserialize_any(Here),
            _ => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map or a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut pass = if self.path.len() == 1 { self.pass } else { 0 };
        let wanted = match &self.path[0] {
            Step::Key(key) => key.as_str(),
            Step::Item { .. } => "",
        };
        while let Some(is_wanted) = map.next_key_seed(IsKey(wanted))? {
            if is_wanted && pass == 0 {
                map.next_value_seed(self.next())?;
            } else {
                pass -= usize::from(is_wanted);
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if let Step::Item { index, .. } = self.path[0] {
            for _ in 0..index {
                list.next_element::<IgnoredAny>()?;
            }
            list.next_element_seed(self.next())?;
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    // A scalar ends the walk without a result.
    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}
