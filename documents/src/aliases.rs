//! Limits on the expansion of aliases in a YAML text.
//!
//! The YAML library limits how often an alias is followed, but not the size of its value. A list that many aliases
//! repeat expands to the square of the file size. Therefore a text with anchors is walked once before it is read.

use std::cell::Cell;
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};

use crate::fault::{NOT_YAML, not_yaml};

/// Maximum number of values per byte of the text. Without aliases there is less than one.
const PER_BYTE: usize = 8;

/// What to do about a text that expands too far.
const HELP: &str =
    "write values out instead of repeating them by aliases; large constants of a network can be .npy files";

/// Refused text: message, help, and line and column.
pub(crate) type Refusal = (String, &'static str, Option<(usize, usize)>);

/// Fails if the text expands to far more values than its size allows, or if that cannot be counted.
pub(crate) fn check(text: &str) -> Result<(), Refusal> {
    if !text.contains('&') || !text.contains('*') {
        return Ok(());
    }
    let left = Cell::new(text.len().saturating_mul(PER_BYTE));
    match Walk(&left).deserialize(serde_yaml::Deserializer::from_str(text)) {
        Err(error) if left.get() == 0 => Err((
            format!("its aliases expand to more than {PER_BYTE} values per byte of the file"),
            HELP,
            error.location().map(|at| (at.line(), at.column())),
        )),
        // The walk may end early where the reader would go on: at a tag that does not fit its value.
        Err(error) => {
            let at = error.location().map(|at| (at.line(), at.column()));
            Err((not_yaml(&error.to_string(), at), NOT_YAML, at))
        }
        Ok(()) => Ok(()),
    }
}

/// Visits all values until the limit is reached.
#[derive(Clone, Copy)]
struct Walk<'c>(&'c Cell<usize>);

impl Walk<'_> {
    fn one<E: Error>(self) -> Result<(), E> {
        let left = self.0.get().saturating_sub(1);
        self.0.set(left);
        if left == 0 { Err(E::custom("too many values")) } else { Ok(()) }
    }
}

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

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        self.one()?;
        while seq.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.one()?;
        while map.next_key_seed(self)?.is_some() {
            map.next_value_seed(self)?;
        }
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.one()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.one()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.one()
    }

    fn visit_i128<E: Error>(self, _: i128) -> Result<(), E> {
        self.one()
    }

    fn visit_u128<E: Error>(self, _: u128) -> Result<(), E> {
        self.one()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.one()
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        // A long text is copied for every alias.
        self.0.set(self.0.get().saturating_sub(text.len() / 8));
        self.one()
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.one()
    }

    // A value with a tag.
    fn visit_enum<A: EnumAccess<'de>>(self, value: A) -> Result<(), A::Error> {
        let (IgnoredAny, value) = value.variant()?;
        value.newtype_variant_seed(self)
    }
}
