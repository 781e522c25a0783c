//! Comparison of a network under several requantization schemes with its own scheme.

use serde::Serialize;

/// Codes of a network under other schemes, compared with those under its own scheme.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SchemesRecord {
    /// Name of the network.
    pub model: String,
    /// Number of samples run.
    pub samples: usize,
    /// The schemes, in the order of the comparison.
    pub schemes: Vec<String>,
    /// One row per scheme and layer: all layers of the first scheme, then those of the next.
    pub rows: Vec<SchemeRow>,
}

/// One layer under one scheme.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SchemeRow {
    /// Name of the scheme.
    pub scheme: String,
    /// Index over all operations of the network.
    pub index: usize,
    /// Short name of the layer.
    pub name: String,
    /// Name of the operation.
    pub op: String,
    /// Number of codes compared.
    pub codes: u64,
    /// Number of codes that differ if the layer alone uses the scheme: its inputs are those under the
    /// network's own scheme.
    pub differ_alone: u64,
    /// Greatest difference of a code if the layer alone uses the scheme.
    pub greatest_alone: u32,
    /// Number of codes that differ if every layer before it uses the scheme too.
    pub differ: u64,
    /// Greatest difference of a code if every layer before it uses the scheme too.
    pub greatest: u32,
}
