//! What can be wrong with an accelerator file, and where.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Something wrong or doubtful: a stable code, a message, a place, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub(super) code: &'static str,
    pub(super) key: Option<String>,
    pub(super) message: String,
    pub(super) help: Option<String>,
    pub(super) origin: Origin,
}

/// Where the offending value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// From a place in a file.
    File(FilePlace),
    /// From an override, as written: `accumulation.acc.bits=65`.
    Set(String),
    /// From the preset of that name.
    Preset(String),
    /// From none of them: something is missing, or was derived.
    Nowhere,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    /// Name of the file.
    pub file: String,
    /// Its text.
    pub text: Arc<str>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The bytes of `text` at fault.
    pub span: Range<usize>,
}

/// An accelerator that cannot be had.
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

    /// Something doubtful about an accelerator for one network.
    pub(crate) fn of_network(code: &'static str, key: &str, message: String, help: &str) -> Self {
        Self { code, key: Some(key.into()), message, help: Some(help.into()), origin: Origin::Nowhere }
    }

    /// A stable code, e.g. `guardbit::hw::bits`.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The key at fault, e.g. `accumulation.acc.bits`.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// What is wrong and what is allowed, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// Where the offending value comes from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }
}

impl HwError {
    /// The same from another origin.
    pub(super) fn with_origin(mut self, origin: Origin) -> Self {
        self.0.origin = origin;
        self
    }

    /// The same in other words.
    pub(super) fn with_message(mut self, edit: impl FnOnce(&str) -> String) -> Self {
        self.0.message = edit(&self.0.message);
        self
    }
}

impl FilePlace {
    /// The place in line `line` and column `column`, both from 1; it reaches to the end of the value there.
    pub(crate) fn new(file: &str, text: &Arc<str>, line: usize, column: usize) -> Self {
        let (file, text) = (file.to_owned(), text.clone());
        let line_start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let before: usize = text[line_start..].chars().take(column - 1).map(char::len_utf8).sum();
        let start = line_start + before;
        let rest = &text[start..];
        let value = rest[..rest.find([',', '}', ']', '\n', '#', ':']).unwrap_or(rest.len())].trim_end();
        // Of a list or map in brackets only the first one is marked.
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
