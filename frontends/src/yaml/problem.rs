//! Problems of a file before their position in the text is known.

use guardbit_graph::brief;

use super::error::{Kind, YamlError};
use super::locate::{Step, display, locate};

/// A problem of the value at a path.
#[derive(Debug)]
pub(super) struct Problem {
    kind: Kind,
    path: Path,
    message: String,
    help: Option<String>,
}

/// A path of keys and indices.
#[derive(Debug, Clone, Default)]
pub(super) struct Path(Vec<Step>);

impl Path {
    /// Returns the path of a key of the document.
    pub fn key(key: &'static str) -> Self {
        Self::default().then(key)
    }

    /// Returns the path of a key of this value.
    pub fn then(&self, key: &'static str) -> Self {
        self.with(Step::Key(key))
    }

    /// Returns the path of an element of this list.
    pub fn at(&self, index: usize) -> Self {
        self.with(Step::Index(index))
    }

    fn with(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }
}

impl Problem {
    /// Creates a problem with the value at `path`. `message` continues after the path.
    pub fn new(kind: Kind, path: Path, message: impl Into<String>) -> Self {
        Self { kind, path, message: message.into(), help: None }
    }

    /// Creates a problem with a value that must be one of `names`.
    pub fn not_one_of<'n>(path: Path, found: &str, names: impl IntoIterator<Item = &'n str>) -> Self {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        Self::new(Kind::Value, path, format!("is `{}`; it must be one of {names}", brief(found)))
    }

    /// Adds what the user can do.
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// Returns the error with its position in the text.
    pub fn place(self, text: &str) -> YamlError {
        let key = display(&self.path.0);
        let location = locate(text, &self.path.0);
        YamlError { kind: self.kind, problem: format!("`{key}` {}", self.message), help: self.help, location }
    }
}
