//! Lists of bounded length. Without a limit, aliases could expand a small text into a large value.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// List of at most `N` elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T, const N: usize>(pub Vec<T>);

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for List<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements<T, const N: usize>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for Elements<T, N> {
            type Value = List<T, N>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                elements(list, N).map(List)
            }
        }

        deserializer.deserialize_seq(Elements(PhantomData))
    }
}

/// Reads the elements of a list.
///
/// # Errors
/// An error of serde if there are more than `most` elements, or if an element cannot be read.
pub fn elements<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(
    mut list: A,
    most: usize,
) -> Result<Vec<T>, A::Error> {
    let mut all = Vec::new();
    while let Some(element) = list.next_element()? {
        if all.len() == most {
            return Err(A::Error::custom(format!("more than {most} elements")));
        }
        all.push(element);
    }
    Ok(all)
}
