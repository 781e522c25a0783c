//! A network under several requantization schemes, beside its own.

use serde::Serialize;

/// The codes of a network under other schemes, compared with those under its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SchemesRecord {
    /// Name of the network.
    pub model: String,
    /// Samples that were run.
    pub samples: usize,
    /// The schemes, in the order of the comparison.
    pub schemes: Vec<String>,
    /// One row per scheme and layer: all layers of the first scheme, then those of the next.
    pub rows: Vec<SchemeRow>,
}

/// One layer under one scheme.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SchemeRow {
    /// The scheme.
    pub scheme: String,
    /// Index over all operations of the network.
    pub index: usize,
    /// Short name of the layer.
    pub name: String,
    /// Name of the operation.
    pub op: String,
    /// Codes that were compared.
    pub codes: u64,
    /// Codes that differ where the layer reads what it reads under the network's own scheme.
    pub differ_alone: u64,
    /// The greatest difference there.
    pub greatest_alone: u32,
    /// Codes that differ where every layer before it has that scheme too.
    pub differ: u64,
    /// The greatest difference there.
    pub greatest: u32,
}
