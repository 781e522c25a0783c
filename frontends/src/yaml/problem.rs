//! Something wrong in a file, before its place in the text is known.

use guardbit_graph::brief;

use super::error::{Kind, YamlError};
use super::locate::{Step, display, locate};

/// What is wrong with the value at a path.
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
    /// A key of the document.
    pub fn key(key: &'static str) -> Self {
        Self::default().then(key)
    }

    /// A key of the value here.
    pub fn then(&self, key: &'static str) -> Self {
        self.with(Step::Key(key))
    }

    /// An element of the list here.
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
    /// A problem with the value at `path`; `message` goes on after its path.
    pub fn new(kind: Kind, path: Path, message: impl Into<String>) -> Self {
        Self { kind, path, message: message.into(), help: None }
    }

    /// A value that is none of a few names.
    pub fn not_one_of<'n>(path: Path, found: &str, names: impl IntoIterator<Item = &'n str>) -> Self {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        Self::new(Kind::Value, path, format!("is `{}`; it must be one of {names}", brief(found)))
    }

    /// Adds what may help.
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// The error, placed in the text.
    pub fn place(self, text: &str) -> YamlError {
        let key = display(&self.path.0);
        let location = locate(text, &self.path.0);
        YamlError { kind: self.kind, problem: format!("`{key}` {}", self.message), help: self.help, location }
    }
}
