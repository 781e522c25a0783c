//! What can be wrong with a graph YAML file.

use crate::{FormatError, Location};

/// A graph YAML file that cannot be taken: the key at fault, what is wrong, where, and what may help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct YamlError {
    pub(super) kind: Kind,
    pub(super) problem: String,
    pub(super) help: Option<String>,
    pub(super) location: Option<Location>,
}

/// Kinds of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Not YAML.
    Syntax,
    /// A key that does not exist.
    UnknownKey,
    /// A key that must be there.
    MissingKey,
    /// A key that stands twice.
    DuplicateKey,
    /// A value of another type, or out of range.
    Value,
    /// The wrong number of values.
    Count,
    /// A tensor that is not defined.
    UnknownTensor,
    /// A file of codes that cannot be taken.
    File,
    /// A network that the graph refuses.
    Graph,
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

    fn help(&self) -> Option<String> {
        self.help.clone()
    }

    fn location(&self) -> Option<Location> {
        self.location
    }
}
