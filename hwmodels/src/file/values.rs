//! Scalar values of the accelerator file.

use std::fmt;
use std::marker::PhantomData;

use guardbit_documents::elements;
use guardbit_num::Rounding;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::OrderFile;
use super::bounded::MOST_ELEMENTS;
use crate::keys::OrderMap;
use crate::names::{Named, list};
use crate::operations::OPERATIONS;
use crate::order::WalkKind;

/// A whole number of any size; ranges are checked later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Integer(pub i64);

/// A number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Number(pub f64);

/// Bytes per cycle: a number, or a formula of the array's size.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PortFile {
    Number(f64),
    Formula(String),
}

/// A width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bits {
    Auto,
    Number(i64),
}

/// The width of the bias adder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BiasBits {
    FromModel,
    Auto,
    Number(i64),
}

/// Length of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TermsFile {
    Number(i64),
    Rows,
    Cols,
    DotWidth,
    All,
}

/// How low bits are dropped, without the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoundKind {
    Fixed(Rounding),
    Stochastic,
}

/// A choice, written as its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name<T>(pub T);

/// The name of an operation that an accelerator can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpName(pub &'static str);

impl TermsFile {
    const NAMES: [(&'static str, Self); 4] =
        [("rows", Self::Rows), ("cols", Self::Cols), ("dot_width", Self::DotWidth), ("all", Self::All)];
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Reads whole numbers, and nothing else.
struct IntegerVisitor;

impl Visitor<'_> for IntegerVisitor {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<i64, E> {
        Ok(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<i64, E> {
        i64::try_from(value).map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))
    }
}

impl<'de> Deserialize<'de> for Integer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IntegerVisitor).map(Self)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor;

        impl Visitor<'_> for NumberVisitor {
            type Value = f64;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<f64, E> {
                Ok(value as f64)
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<f64, E> {
                Ok(value as f64)
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<f64, E> {
                Ok(value)
            }
        }

        deserializer.deserialize_any(NumberVisitor).map(Self)
    }
}

impl<'de> Deserialize<'de> for PortFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PortVisitor;

        impl Visitor<'_> for PortVisitor {
            type Value = PortFile;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a formula")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<PortFile, E> {
                Ok(PortFile::Number(value as f64))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<PortFile, E> {
                Ok(PortFile::Number(value as f64))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<PortFile, E> {
                Ok(PortFile::Number(value))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<PortFile, E> {
                Ok(PortFile::Formula(value.to_owned()))
            }
        }

        deserializer.deserialize_any(PortVisitor)
    }
}

/// Reads a whole number or one of some names.
struct NumberOrName<T: 'static> {
    expecting: &'static str,
    names: &'static [(&'static str, T)],
    number: fn(i64) -> T,
}

impl<T: Copy> Visitor<'_> for NumberOrName<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        Ok((self.number)(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        IntegerVisitor.visit_u64(value).map(self.number)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<T, E> {
        let found = self.names.iter().find(|(name, _)| *name == value);
        found.map(|&(_, v)| v).ok_or_else(|| E::invalid_value(Unexpected::Str(value), &self))
    }
}

impl<'de> Deserialize<'de> for Bits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrName {
            expecting: "`auto` or a whole number",
            names: &[("auto", Self::Auto)],
            number: Self::Number,
        })
    }
}

impl<'de> Deserialize<'de> for BiasBits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrName {
            expecting: "`from_model`, `auto` or a whole number",
            names: &[("from_model", Self::FromModel), ("auto", Self::Auto)],
            number: Self::Number,
        })
    }
}

impl<'de> Deserialize<'de> for TermsFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrName {
            expecting: "a whole number, `rows`, `cols`, `dot_width` or `all`",
            names: &Self::NAMES,
            number: Self::Number,
        })
    }
}

impl<'de, T: Named> Deserialize<'de> for Name<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor<T>(PhantomData<T>);

        impl<T: Named> Visitor<'_> for NameVisitor<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "one of {}", list::<T>())
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<T, E> {
                let found = T::all().into_iter().find(|(name, _)| *name == value);
                found.map(|(_, v)| v).ok_or_else(|| E::custom(format!("unknown {} `{value}`", T::WHAT)))
            }
        }

        deserializer.deserialize_any(NameVisitor(PhantomData)).map(Self)
    }
}

impl<'de> Deserialize<'de> for OpName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OpVisitor;

        impl Visitor<'_> for OpVisitor {
            type Value = &'static str;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of an operation")
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<&'static str, E> {
                let found = OPERATIONS.iter().find(|name| **name == value);
                found.copied().ok_or_else(|| E::custom(format!("an accelerator cannot run `{value}`")))
            }
        }

        deserializer.deserialize_any(OpVisitor).map(Self)
    }
}

impl<'de> Deserialize<'de> for OrderFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OrderVisitor;

        impl<'de> Visitor<'de> for OrderVisitor {
            type Value = OrderFile;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of axes or a map with axes and walk")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<OrderFile, A::Error> {
                let axes = elements(list, MOST_ELEMENTS)?;
                // A list defines the order completely: the walk of a preset is not kept.
                Ok(OrderFile(OrderMap {
                    axes: Some(axes),
                    walk: Some(Name(WalkKind::Forward)),
                    ..OrderMap::default()
                }))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OrderFile, A::Error> {
                OrderMap::deserialize(MapAccessDeserializer::new(map)).map(OrderFile)
            }
        }

        deserializer.deserialize_any(OrderVisitor)
    }
}

impl Serialize for Integer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Every whole number below 2^53 is exact in both types.
        const EXACT: f64 = (1u64 << 53) as f64;
        if self.0.fract() == 0.0 && self.0.abs() < EXACT {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl Serialize for PortFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => Number(*number).serialize(serializer),
            Self::Formula(text) => serializer.serialize_str(text),
        }
    }
}

impl Serialize for Bits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Number(bits) => serializer.serialize_i64(*bits),
        }
    }
}

impl Serialize for BiasBits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::FromModel => serializer.serialize_str("from_model"),
            Self::Auto => serializer.serialize_str("auto"),
            Self::Number(bits) => serializer.serialize_i64(*bits),
        }
    }
}

impl Serialize for TermsFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Self::Number(terms) = self {
            return serializer.serialize_i64(*terms);
        }
        let name = Self::NAMES.iter().find(|(_, terms)| terms == self).map_or("all", |(name, _)| name);
        serializer.serialize_str(name)
    }
}

impl<T: Named> Serialize for Name<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match T::all().into_iter().find(|(_, value)| *value == self.0) {
            Some((name, _)) => serializer.serialize_str(name),
            None => serializer.serialize_none(),
        }
    }
}

impl Serialize for OpName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

/// Gives a type the schema of a JSON literal.
macro_rules! schemas {
    ($($ty:ident $(<$param:ident>)?: $schema:expr;)*) => {$(
        impl$(<$param: Named>)? JsonSchema for $ty$(<$param>)? {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($ty).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )*};
}

schemas! {
    Integer: json_schema!({ "type": "integer" });
    Number: json_schema!({ "type": "number", "minimum": 0.000_001, "maximum": 1_000_000_000 });
    PortFile: json_schema!({ "oneOf": [
        { "type": "string", "maxLength": 1000 },
        { "type": "number", "minimum": 0.000_001, "maximum": 1_000_000_000 },
    ] });
    Bits: json_schema!({ "oneOf": [{ "const": "auto" }, { "type": "integer", "minimum": 2, "maximum": 64 }] });
    BiasBits: json_schema!({ "oneOf": [
        { "enum": ["from_model", "auto"] },
        { "type": "integer", "minimum": 2, "maximum": 64 },
    ] });
    TermsFile: json_schema!({ "oneOf": [
        { "enum": ["rows", "cols", "dot_width", "all"] },
        { "type": "integer", "minimum": 1, "maximum": 268_435_456 },
    ] });
    OpName: json_schema!({ "enum": *OPERATIONS });
    Name<T>: json_schema!({ "enum": T::all().into_iter().map(|(name, _)| name).collect::<Vec<_>>() });
}
