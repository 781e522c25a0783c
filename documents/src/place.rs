//! Places of values in a text.
//!
//! Serde does not keep places: a check after reading knows which value is wrong, but not its line. Therefore the text is
//! read once more along the path of the value, and an error raised there has its place.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::{Path, Step};

/// Place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    /// Name of the file.
    pub file: String,
    /// Text of the file.
    pub text: Arc<str>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Range of the offending bytes in `text`.
    pub span: Range<usize>,
}

impl FilePlace {
    /// Returns the place at line `line` and column `column`, both from 1. It extends to the end of the value there.
    pub fn new(file: &str, text: &Arc<str>, line: usize, column: usize) -> Self {
        let (file, text) = (file.to_owned(), text.clone());
        let line_start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let before: usize = text[line_start..].chars().take(column - 1).map(char::len_utf8).sum();
        let start = line_start + before;
        let rest = &text[start..];
        let value = rest[..rest.find([',', '}', ']', '\n', '#', ':']).unwrap_or(rest.len())].trim_end();
        // Of a list or map in brackets only the opening bracket is marked.
        let span = start..start + if value.starts_with(['{', '[']) { 1 } else { value.len() };
        Self { file, text, line, column, span }
    }

    /// Returns the place of the value at `path`, or of the innermost map or list around it that exists.
    pub fn of_path(file: &str, text: &Arc<str>, path: &Path) -> Self {
        let (line, column) = locate(text, path).unwrap_or((1, 1));
        Self::new(file, text, line, column)
    }

    /// Returns the place of the bytes `span` of a text.
    pub fn of_span(file: &str, text: &Arc<str>, span: Range<usize>) -> Self {
        let before = &text[..span.start];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let (line, column) = (before.matches('\n').count() + 1, before[start..].chars().count() + 1);
        Self { file: file.into(), text: text.clone(), line, column, span }
    }
}

/// Returns line and column, from 1, of the value at `path`, or of the innermost map or list around it that exists.
pub(crate) fn locate(text: &str, path: &Path) -> Option<(usize, usize)> {
    Walk { path: path.steps(), skipped: 0 }.start(text)
}

/// Returns the place like [`locate`] for a duplicate key: that of its second value.
pub(crate) fn locate_second(text: &str, path: &Path) -> Option<(usize, usize)> {
    Walk { path: path.steps(), skipped: 1 }.start(text)
}

/// Follows the path and fails at its end.
struct Walk<'p> {
    path: &'p [Step],
    /// Number of values of the last key to skip.
    skipped: usize,
}

impl Walk<'_> {
    fn start(self, text: &str) -> Option<(usize, usize)> {
        let end = self.deserialize(serde_yaml::Deserializer::from_str(text)).err()?;
        end.location().map(|at| (at.line(), at.column()))
    }

    fn next(&self) -> Self {
        Self { path: &self.path[1..], skipped: self.skipped }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

// Every other value is an error, whose place is that of the value.
impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map or a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if let Some(Step::Key(wanted)) = self.path.first() {
            let mut skipped = if self.path.len() == 1 { self.skipped } else { 0 };
            while let Some(is_wanted) = map.next_key_seed(IsKey(wanted))? {
                if is_wanted && skipped == 0 {
                    return map.next_value_seed(self.next());
                }
                skipped -= usize::from(is_wanted);
                map.next_value::<IgnoredAny>()?;
            }
        }
        Err(here())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if let Some(Step::Item { index, .. }) = self.path.first() {
            for _ in 0..*index {
                // The index can come from a key of the text.
                if list.next_element::<IgnoredAny>()?.is_none() {
                    return Err(here());
                }
            }
            list.next_element_seed(self.next())?;
        }
        Err(here())
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
        Ok(self.0 == key)
    }
}

fn here<E: Error>() -> E {
    E::custom("here")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_yaml::{Mapping, Value};

    use super::*;

    /// Generates lists and maps with any keys, in each of which every scalar is to be numbered.
    fn nested() -> impl Strategy<Value = Value> {
        let leaf = Just(Value::Null);
        leaf.prop_recursive(4, 40, 5, |inner| {
            let map = prop::collection::vec((".{0,5}", inner.clone()), 0..5);
            prop_oneof![
                prop::collection::vec(inner, 0..5).prop_map(Value::Sequence),
                map.prop_map(|map| map
                    .into_iter()
                    .map(|(key, value)| (key.into(), value))
                    .collect::<Mapping>()
                    .into()),
            ]
        })
    }

    /// Numbers the scalars, and collects their paths.
    fn number(value: &mut Value, path: Path, found: &mut Vec<Path>) {
        match value {
            Value::Sequence(list) => {
                list.iter_mut().enumerate().for_each(|(index, value)| number(value, path.item(index), found));
            }
            Value::Mapping(map) => {
                map.iter_mut()
                    .for_each(|(key, value)| number(value, path.join(key.as_str().unwrap()), found));
            }
            scalar => {
                *scalar = (1_000_000 + found.len()).into();
                found.push(path);
            }
        }
    }

    proptest! {
        #[test]
        fn every_scalar_of_every_document_is_found(mut value in nested(), in_flow: bool) {
            let mut paths = Vec::new();
            number(&mut value, Path::default(), &mut paths);
            let text = if in_flow { crate::flow::text(&value) } else { serde_yaml::to_string(&value).unwrap() };
            for (index, path) in paths.iter().enumerate() {
                let (line, column) = locate(&text, path).unwrap();
                let place = FilePlace::new("x", &text.as_str().into(), line, column);
                prop_assert_eq!(&text[place.span], (1_000_000 + index).to_string(), "{} of {}", path, text);
            }
        }
    }

    const TEXT: &str = "\
a: 1
list:
  - {x: 1, y: [2, 3]}
  - x: ~
    y:
      z: text
";

    fn check(path: &str, line: usize, column: usize) {
        assert_eq!(locate(TEXT, &Path::indexed(path)), Some((line, column)), "{path}");
    }

    #[test]
    fn values_are_found() {
        check("a", 1, 4);
        check("list[0]", 3, 5);
        check("list[0].y[1]", 3, 19);
        check("list[1].x", 4, 8);
        check("list[1].y.z", 6, 10);
    }

    #[test]
    fn a_missing_value_is_placed_at_what_should_hold_it() {
        check("list[0].w", 3, 5);
        check("list[0].y[9]", 3, 15);
        check("a.b", 1, 4);
        check(".", 1, 1);
    }

    #[test]
    fn the_second_value_of_a_key_is_found() {
        let path = Path::keys(&["a", "b"]);
        assert_eq!(locate_second("a: {b: 1, c: 2, b: 3}\n", &path), Some((1, 20)));
    }

    #[test]
    fn a_span_has_its_line_and_column() {
        let text: Arc<str> = "a: 1\né: [two]\n".into();
        let place = FilePlace::of_span("x", &text, 10..13);
        assert_eq!((place.line, place.column, &text[place.span.clone()]), (2, 5, "two"));
        assert_eq!(FilePlace::new("x", &text, 2, 5), place);
    }
}
