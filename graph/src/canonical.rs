//! The canonical form of a graph: all data that decides what a network computes.
//!
//! Every type of a graph derives `Serialize`. It skips only its name, notes, metadata and records of a file, which
//! decide nothing. A new field is therefore included automatically, and a hash over the serialized graph cannot miss
//! it. This form is never read back.

use std::sync::Arc;

use guardbit_num::{Rounding, Scheme};
use serde::{Serialize, Serializer};

use crate::Graph;

/// Serializes a scheme by its name, because `num` does not use serde.
pub(crate) fn scheme<S: Serializer>(scheme: &Scheme, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(scheme.name())
}

/// Serializes a nested network.
pub(crate) fn graph<S: Serializer>(graph: &Arc<Graph>, serializer: S) -> Result<S::Ok, S::Error> {
    graph.as_ref().serialize(serializer)
}

/// Serializes a rounding by its name.
pub(crate) fn rounding<S: Serializer>(rounding: &Rounding, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(rounding.name())
}

/// Serializes the values of a constant.
pub(crate) fn values<T: Serialize, S: Serializer>(
    values: &Arc<[T]>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    values.as_ref().serialize(serializer)
}
