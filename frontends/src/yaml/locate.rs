//! Positions of values in a YAML text.
//!
//! Serde does not keep positions: a check after reading knows which value is wrong, but not its line. Therefore the
//! text is read once more along the path of the value, and an error raised there has its position.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::Location;

/// One step down a YAML document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// The value of a key.
    Key(&'static str),
    /// An element of a list.
    Index(usize),
}

/// Returns the position of the value at `path`, or of the nearest enclosing value if there is none.
pub(super) fn locate(text: &str, path: &[Step]) -> Option<Location> {
    let error = Walk(path).deserialize(serde_yaml::Deserializer::from_str(text)).err()?;
    error.location().map(Location::from)
}

/// Returns a path as text: `nodes[0].stride`.
pub(super) fn display(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => text.extend([".", key]),
            Step::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

/// Follows the path and fails at its end.
struct Walk<'p>(&'p [Step]);

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if let Some((Step::Key(wanted), rest)) = self.0.split_first() {
            while let Some(key) = map.next_key::<String>()? {
                if key == *wanted {
                    return map.next_value_seed(Walk(rest));
                }
                map.next_value::<IgnoredAny>()?;
            }
        }
        Err(here())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        if let Some((Step::Index(wanted), rest)) = self.0.split_first() {
            for _ in 0..*wanted {
                seq.next_element::<IgnoredAny>()?;
            }
            seq.next_element_seed(Walk(rest))?;
        }
        Err(here())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Err(here())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Err(here())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Err(here())
    }

    fn visit_i128<E: Error>(self, _: i128) -> Result<(), E> {
        Err(here())
    }

    fn visit_u128<E: Error>(self, _: u128) -> Result<(), E> {
        Err(here())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Err(here())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Err(here())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Err(here())
    }
}

fn here<E: Error>() -> E {
    E::custom("here")
}

#[cfg(test)]
mod tests {
    use super::Step::{Index, Key};
    use super::*;

    const TEXT: &str = "\
a: 1
list:
  - {x: 1, y: [2, 3]}
  - x: ~
    y:
      z: text
";

    fn check(path: &[Step], line: usize, column: usize) {
        assert_eq!(locate(TEXT, path), Some(Location { line, column }), "{}", display(path));
    }

    #[test]
    fn values_are_found() {
        check(&[Key("a")], 1, 4);
        check(&[Key("list"), Index(0)], 3, 5);
        check(&[Key("list"), Index(0), Key("y"), Index(1)], 3, 19);
        check(&[Key("list"), Index(1), Key("x")], 4, 8);
        check(&[Key("list"), Index(1), Key("y"), Key("z")], 6, 10);
    }

    #[test]
    fn a_missing_value_is_placed_at_what_should_hold_it() {
        check(&[Key("list"), Index(0), Key("w")], 3, 5);
        check(&[Key("list"), Index(0), Key("y"), Index(9)], 3, 15);
        check(&[Key("a"), Key("b")], 1, 4);
        check(&[], 1, 1);
    }
}
