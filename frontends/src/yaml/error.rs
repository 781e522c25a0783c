//! Errors of graph YAML files.

use guardbit_documents::{Fault, Wrong};

use crate::{FormatError, Location};

/// The reason why a graph YAML file is rejected: the key, the problem, the position, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct YamlError {
    pub(super) kind: Kind,
    pub(super) problem: String,
    pub(super) help: Option<String>,
    pub(super) location: Option<Location>,
}

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The text is not YAML.
    Syntax,
    /// A key does not exist.
    UnknownKey,
    /// A required key is missing.
    MissingKey,
    /// A key occurs twice.
    DuplicateKey,
    /// A value has the wrong type or is out of range.
    Value,
    /// The number of values is wrong.
    Count,
    /// A tensor is not defined.
    UnknownTensor,
    /// A file of codes cannot be used.
    File,
    /// The graph rejects the network.
    Graph,
}

impl From<Fault> for YamlError {
    fn from(fault: Fault) -> Self {
        let kind = match &fault.wrong {
            Wrong::Text { .. } => Kind::Syntax,
            Wrong::UnknownKey { .. } => Kind::UnknownKey,
            Wrong::MissingKey => Kind::MissingKey,
            Wrong::DoubledKey => Kind::DuplicateKey,
            Wrong::Type { .. } | Wrong::Value(_) => Kind::Value,
            Wrong::Length { .. } => Kind::Count,
        };
        let location = fault.place.as_ref().map(|place| Location { line: place.line, column: place.column });
        Self { kind, problem: fault.message(), help: fault.help(), location }
    }
}

impl FormatError for YamlError {
    fn code(&self) -> &'static str {
        match self.kind {
            Kind::Syntax => "guardbit::graph_yaml::syntax",
            Kind::UnknownKey => "guardbit::graph_yaml::unknown_key",
            Kind::MissingKey => "guardbit::graph_yaml::missing_key",
            Kind::DuplicateKey => "guardbit::graph_yaml::duplicate_key",
            Kind::Value => "guardbit::graph_yaml::value",
            Kind::Count => "guardbit::graph_yaml::count",
            Kind::UnknownTensor => "guardbit::graph_yaml::unknown_tensor",
            Kind::File => "guardbit::graph_yaml::file",
            Kind::Graph => "guardbit::graph_yaml::graph",
        }
    }

    fn help(&self) -> String {
        self.help.clone().unwrap_or_else(|| {
            "docs/reference/graph.md describes these files; `guardbit graph schema` prints their schema for editors"
                .into()
        })
    }

    fn location(&self) -> Option<Location> {
        self.location
    }
}
