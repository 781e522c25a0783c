//! Values that can be written in more than one way.
//!
//! Serde's untagged enums could read them, but their errors contain neither the position nor what was expected.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};

use super::schema;

/// A value, or a list of values.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a list of numbers")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
                T::deserialize(value.into_deserializer()).map(OneOrMany::One)
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
                T::deserialize(value.into_deserializer()).map(OneOrMany::One)
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
                T::deserialize(value.into_deserializer()).map(OneOrMany::One)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(OneOrMany::Many)
            }
        }

        deserializer.deserialize_any(Either(PhantomData))
    }
}

/// The scale of a tensor, a list of them, or the word `none`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ScaleFile {
    None,
    One(f32),
    Many(Vec<f32>),
}

impl<'de> Deserialize<'de> for ScaleFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = ScaleFile;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a list of numbers or none")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
                Ok(ScaleFile::One(value as f32))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
                Ok(ScaleFile::One(value as f32))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
                Ok(ScaleFile::One(value as f32))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                match text {
                    "none" => Ok(ScaleFile::None),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(ScaleFile::Many)
            }
        }

        deserializer.deserialize_any(Either)
    }
}

/// A single integer, or integers in a flat or nested list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Integers {
    /// All integers in the order of the text.
    pub values: Vec<i64>,
    /// Lengths of the lists, outermost first.
    pub shape: Vec<usize>,
}

impl<'de> Deserialize<'de> for Integers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Nested;

        impl<'de> Visitor<'de> for Nested {
            type Value = Integers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer or a list")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Integers, E> {
                Ok(Integers { values: vec![value], shape: Vec::new() })
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Integers, E> {
                i64::try_from(value).map_err(E::custom).and_then(|value| self.visit_i64(value))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Integers, A::Error> {
                let mut all = Integers { values: Vec::new(), shape: Vec::new() };
                let mut count = 0;
                while let Some(element) = list.next_element::<Integers>()? {
                    if count == 0 {
                        all.shape = element.shape;
                    } else if all.shape != element.shape {
                        return Err(A::Error::custom("lists at one level must have equal lengths"));
                    }
                    all.values.extend(element.values);
                    count += 1;
                }
                all.shape.insert(0, count);
                Ok(all)
            }
        }

        deserializer.deserialize_any(Nested)
    }
}

/// Padding by rule, or in cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PaddingFile {
    Rule(String),
    Cells { rows: [usize; 2], cols: [usize; 2] },
}

impl schemars::JsonSchema for PaddingFile {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Padding".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schema::padding(generator)
    }
}

impl<'de> Deserialize<'de> for PaddingFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Cells {
            rows: [usize; 2],
            cols: [usize; 2],
        }

        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = PaddingFile;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("same, valid or {rows: [before, after], cols: [before, after]}")
            }

            fn visit_str<E: Error>(self, rule: &str) -> Result<PaddingFile, E> {
                Ok(PaddingFile::Rule(rule.into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PaddingFile, A::Error> {
                let Cells { rows, cols } = Cells::deserialize(MapAccessDeserializer::new(map))?;
                Ok(PaddingFile::Cells { rows, cols })
            }
        }

        deserializer.deserialize_any(Either)
    }
}
