//! Where in the text of a file the value of a key stands.

use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::Deserializer;

use super::key::{KeyPath, Segment};

/// Line and column, from 1, of the value at `key`, or of the innermost map or list around it that is there.
pub(super) fn locate(text: &str, key: &KeyPath) -> Option<(usize, usize)> {
    let segments = key.segments();
    (0..=segments.len()).rev().find_map(|length| {
        let error = Walk { path: &segments[..length] }.deserialize(serde_yaml::Deserializer::from_str(text));
        error.err()?.location().map(|at| (at.line(), at.column()))
    })
}

/// Walks down a path and fails where it ends: the YAML library knows where that is.
struct Walk<'a> {
    path: &'a [Segment],
}

/// Takes no value: its error stands where the value does.
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
        while let Some(key) = map.next_key::<String>()? {
            if matches!(&self.path[0], Segment::Key(wanted) if *wanted == key) {
                map.next_value_seed(Walk { path: &self.path[1..] })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if let Segment::Item { index, .. } = self.path[0] {
            for _ in 0..index {
                list.next_element::<IgnoredAny>()?;
            }
            list.next_element_seed(Walk { path: &self.path[1..] })?;
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    // A scalar ends the walk without finding anything.
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
