//! Accelerator file as it is written: the type that is read from YAML and printed. Only the types of values
//! are checked here; every key may be missing.

mod bounded;
mod entries;
mod permutations;
mod values;

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Serialize;
use serde_yaml::Value;

pub use bounded::SetMap;
pub(crate) use bounded::{Budget, short};
pub(crate) use entries::Entries;
pub(crate) use permutations::{NamedLists, PermutationsFile};
pub(crate) use values::{BiasBits, Bits, Integer, Name, Number, OpName, PortFile, RoundKind, TermsFile};

use crate::Axis;
pub(crate) use crate::keys::AcceleratorFile;
use crate::keys::OrderMap;

impl AcceleratorFile {
    /// Returns the keys that a file may have, in their order.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        static KEYS: LazyLock<Value> =
            LazyLock::new(|| serde_yaml::to_value(AcceleratorFile::default()).unwrap_or_default());
        KEYS.as_mapping().into_iter().flat_map(|keys| keys.keys()).filter_map(Value::as_str)
    }
}

/// The order of addition.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "OrderShape")]
pub(crate) struct OrderFile(pub OrderMap);

/// The two ways to write an order.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum OrderShape {
    /// The axes, slowest first, each once; walked forward.
    Axes(#[schemars(length(equal = 3))] Vec<Name<Axis>>),
    /// Axes and walk.
    Walk(OrderMap),
}
