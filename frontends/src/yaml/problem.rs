//! Problems of a file before their position in the text is known.

use guardbit_documents::{Document, Path};
use guardbit_graph::brief;

use super::error::{Kind, YamlError};
use crate::Location;

/// A problem of the value at a path.
#[derive(Debug)]
pub(super) struct Problem {
    kind: Kind,
    path: Path,
    message: String,
    help: Option<String>,
}

impl Problem {
    /// Creates a problem with the value at `path`. `message` continues after the path.
    pub fn new(kind: Kind, path: Path, message: impl Into<String>) -> Self {
        let message = format!("`{path}` {}", message.into());
        Self { kind, path, message, help: None }
    }

    /// Creates a problem with a value that must be one of `names`.
    pub fn not_one_of<'n>(path: Path, found: &str, names: impl IntoIterator<Item = &'n str>) -> Self {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        Self::new(Kind::Value, path, format!("is `{}`; it must be one of {names}", brief(found)))
    }

    /// Creates a problem with the map at `path`, which lacks a key that `needed_by` needs.
    pub fn missing(path: &Path, key: &str, needed_by: impl std::fmt::Display) -> Self {
        let message = format!("missing key `{}`, which {needed_by} needs", path.join(key));
        Self { kind: Kind::MissingKey, path: path.clone(), message, help: None }
    }

    /// Adds what the user can do.
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// Returns the error with its position in the text.
    pub fn place(self, document: &Document<'_>) -> YamlError {
        let place = document.place(&self.path);
        let location = Some(Location { line: place.line, column: place.column });
        YamlError { kind: self.kind, problem: self.message, help: self.help, location }
    }
}
