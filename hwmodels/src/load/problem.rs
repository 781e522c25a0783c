//! Problems of accelerator files, with their places.

use std::fmt;
use std::ops::Deref;

use guardbit_documents::{Fault, FilePlace};

/// Error or warning: a stable code, a message, a place, and a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub(super) code: &'static str,
    pub(super) key: Option<String>,
    pub(super) message: String,
    pub(super) help: String,
    pub(super) origin: Origin,
}

/// Source of the offending value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Place in a file.
    File(FilePlace),
    /// Override, as written: `accumulation.acc.bits=65`.
    Set(String),
    /// Value of an axis of a sweep, as an override: `accumulation.acc.bits=65`.
    Axis(String),
    /// Preset with the given name.
    Preset(String),
    /// None of these: a value is missing, or was derived.
    Nowhere,
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
        Self { code, key, message, help, origin }
    }

    /// Returns the problem of a fault in a document, with `help` if the fault itself has none.
    pub(crate) fn of_fault(code: &'static str, fault: Fault, help: &str) -> Self {
        let key = Some(fault.path.to_string()).filter(|key| !key.is_empty());
        let (message, help) = (fault.message(), fault.help().unwrap_or_else(|| help.into()));
        let origin = fault.place.map_or(Origin::Nowhere, |place| Origin::File(*place));
        Self::new(code, key, message, help, origin)
    }

    /// Returns a warning about an accelerator for a particular network.
    pub(crate) fn of_network(code: &'static str, key: &str, message: String, help: &str) -> Self {
        Self { code, key: Some(key.into()), message, help: help.into(), origin: Origin::Nowhere }
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
    pub fn help(&self) -> &str {
        &self.help
    }

    /// Returns the source of the offending value.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }
}

impl HwError {
    /// Returns the error with an override called the value of an axis, unless it is among `given`.
    pub fn of_axes(mut self, given: &[String]) -> Self {
        if let Origin::Set(text) = &self.0.origin
            && !given.contains(text)
        {
            self.0.origin = Origin::Axis(text.clone());
        }
        self
    }

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

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(place) => write!(f, "{}:{}:{}: ", place.file, place.line, place.column),
            Self::Set(text) => write!(f, "--set {text}: "),
            Self::Axis(text) => write!(f, "axis {text}: "),
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
