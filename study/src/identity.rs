//! Identity of a result: a hash of everything that it depends on, and of nothing else.
//!
//! # Derivation
//! An [`Identity`] is the SHA-256 of the compact JSON that `run.json`, `size.json` and the points of
//! `sweep.json` show as `depends_on`, with keys in this order:
//!
//! | key | value |
//! |---|---|
//! | `derivation` | [`DERIVATION`]: version of this table |
//! | `arithmetic` | [`ARITHMETIC_VERSION`]: version of everything that turns a program and samples into figures |
//! | `model` | SHA-256 of the graph as JSON: tensors with shapes, dtypes, scales, zero points and constants, operations with every attribute, inputs, outputs |
//! | `accelerator` | SHA-256 of the resolved accelerator as JSON with sorted keys, without its `name` and `description` |
//! | `input` | SHA-256 of the codes that are run, as little-endian integers of their dtype's width (a byte for 4-bit codes), input after input |
//! | `labels` | SHA-256 of the labels as little-endian 64-bit integers (classes, anomalies) or IEEE-754 singles (values), sample after sample; `null` without labels |
//! | `settings` | everything else that decides the figures: the mode, what is counted, which outputs are scored, and the task unless it is classification |
//!
//! Names and paths of files are not part of the hash. Names of tensors are, because results list them. A new
//! field of the graph is included automatically (its types derive their serialized form), and so is a new
//! accelerator key (`resolved_json` fills every key of the file type). A new setting must be added to the
//! type given for `settings`.

use std::fmt;
use std::str::FromStr;

use guardbit_files::{Digest, DigestError};
use guardbit_graph::Graph;
use guardbit_hwmodels::Accelerator;
use guardbit_sim::ARITHMETIC_VERSION;
use serde::{Deserialize, Serialize};

/// Version of the derivation: increased when equal things are to get another identity.
pub const DERIVATION: u32 = 2;

/// Identity of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Identity(Digest);

/// Everything that a result depends on; `S` is the type of the settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct DependsOn<S> {
    derivation: u32,
    arithmetic: u32,
    #[serde(flatten)]
    sources: Sources,
    settings: S,
}

/// Simulated inputs, by content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Sources {
    pub model: Digest,
    pub accelerator: Digest,
    pub input: Digest,
    pub labels: Option<Digest>,
}

impl<S: Serialize> DependsOn<S> {
    pub fn new(sources: Sources, settings: S) -> Self {
        Self { derivation: DERIVATION, arithmetic: ARITHMETIC_VERSION, sources, settings }
    }

    pub fn identity(&self) -> Identity {
        Identity(Digest::of_json(self))
    }
}

impl Identity {
    /// Returns the identity of a whole made of parts: the SHA-256 of the list of their identities as compact
    /// JSON.
    pub(crate) fn of_parts(parts: impl IntoIterator<Item = Self>) -> Self {
        Self(Digest::of_json(&parts.into_iter().collect::<Vec<_>>()))
    }
}

/// Returns the digest of a network's content.
pub(crate) fn of_graph(graph: &Graph) -> Digest {
    Digest::of_json(graph)
}

/// Returns the digest of an accelerator's content.
pub(crate) fn of_accelerator(accelerator: &Accelerator) -> Digest {
    let mut resolved = accelerator.resolved_json();
    if let Some(keys) = resolved.as_object_mut() {
        keys.retain(|key, _| !matches!(key.as_str(), "name" | "description"));
    }
    Digest::of_json(&resolved)
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Identity {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        text.parse().map(Self)
    }
}
