//! The graph as data: everything that decides what a network computes.
//!
//! Every type of a graph derives `Serialize` and leaves out no field but its name, notes, metadata and records of a file, which
//! decide nothing. A field that is added is there by itself, so that a hash over the serialized graph cannot miss it. Nothing
//! is ever read from this form.

use std::sync::Arc;

use guardbit_num::{Rounding, Scheme};
use serde::{Serialize, Serializer};

use crate::Graph;

/// A scheme by its name: `num` knows nothing of serialization.
pub(crate) fn scheme<S: Serializer>(scheme: &Scheme, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(scheme.name())
}

/// A network inside of another one.
pub(crate) fn graph<S: Serializer>(graph: &Arc<Graph>, serializer: S) -> Result<S::Ok, S::Error> {
    graph.as_ref().serialize(serializer)
}

/// A rounding by its name.
pub(crate) fn rounding<S: Serializer>(rounding: &Rounding, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(rounding.name())
}

/// The values of a constant.
pub(crate) fn values<T: Serialize, S: Serializer>(
    values: &Arc<[T]>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    values.as_ref().serialize(serializer)
}
