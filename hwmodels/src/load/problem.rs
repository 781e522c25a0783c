//! Problems of accelerator files, with their places.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Error or warning: a stable code, a message, a place, and a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub(super) code: &'static str,
    pub(super) key: Option<String>,
    pub(super) message: String,
    pub(super) help: Option<String>,
    pub(super) origin: Origin,
}

/// Source of the offending value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Place in a file.
    File(FilePlace),
    /// Override, as written: `accumulation.acc.bits=65`.
    Set(String),
    /// Preset with the given name.
    Preset(String),
    /// None of these: a value is missing, or was derived.
    Nowhere,
}

/// Place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    /// Name of the file.
    pub file: String,
    /// Text of the file.
    pub text: Arc<str>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Range of the offending bytes in `text`.
    pub span: Range<usize>,
}

/// Error: an accelerator cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HwError(pub(super) Box<Problem>);

impl Problem {
    pub(crate) fn new(
        code: &'static str,
        key: Option<String>,
        message: String,
        help: String,
        origin: Origin,
    ) -> Self {
        Self { code, key, message, help: Some(help), origin }
    }

    /// Returns a warning about an accelerator for a particular network.
    pub(crate) fn of_network(code: &'static str, key: &str, message: String, help: &str) -> Self {
        Self { code, key: Some(key.into()), message, help: Some(help.into()), origin: Origin::Nowhere }
    }

    /// Returns a stable code, e.g. `guardbit::hw::bits`.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// Returns the offending key, e.g. `accumulation.acc.bits`.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Returns the problem and the allowed values, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns a hint on how to resolve the problem.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// Returns the source of the offending value.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }
}

impl HwError {
    /// Returns the error with another origin.
    pub(super) fn with_origin(mut self, origin: Origin) -> Self {
        self.0.origin = origin;
        self
    }

    /// Returns the error with an edited message.
    pub(super) fn with_message(mut self, edit: impl FnOnce(&str) -> String) -> Self {
        self.0.message = edit(&self.0.message);
        self
    }
}

impl FilePlace {
    /// Returns the place at line `line` and column `column`, both from 1. It extends to the end of the value
    /// there.
    pub(crate) fn new(file: &str, text: &Arc<str>, line: usize, column: usize) -> Self {
        let (file, text) = (file.to_owned(), text.clone());
        let line_start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let before: usize = text[line_start..].chars().take(column - 1).map(char::len_utf8).sum();
        let start = line_start + before;
        let rest = &text[start..];
        let value = rest[..rest.find([',', '}', ']', '\n', '#', ':']).unwrap_or(rest.len())].trim_end();
        // Of a list or map in brackets only the opening bracket is marked.
        let span = start..start + if value.starts_with(['{', '[']) { 1 } else { value.len() };
        Self { file, text, line, column, span }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(place) => write!(f, "{}:{}:{}: ", place.file, place.line, place.column),
            Self::Set(text) => write!(f, "--set {text}: "),
            Self::Preset(name) => write!(f, "preset {name}: "),
            Self::Nowhere => Ok(()),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.message)
    }
}

impl From<Problem> for HwError {
    fn from(problem: Problem) -> Self {
        Self(Box::new(problem))
    }
}

impl Deref for HwError {
    type Target = Problem;

    fn deref(&self) -> &Problem {
        &self.0
    }
}

impl fmt::Display for HwError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for HwError {}
