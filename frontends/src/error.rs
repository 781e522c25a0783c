//! What can be wrong with a network file.

use std::io;
use std::path::{Path, PathBuf};

use crate::{TfliteError, YamlError};

/// A network that cannot be read: which file, where in it, what is wrong, and what may help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrontendError {
    /// A file that cannot be opened or is not text where text is expected.
    #[error("{}: {}", file.display(), self.message())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file name that says nothing of the format.
    #[error("{}: {}", file.display(), self.message())]
    UnknownExtension {
        /// The file.
        file: PathBuf,
    },
    /// An ONNX file.
    #[error("{}: {}", file.display(), self.message())]
    Onnx {
        /// The file.
        file: PathBuf,
    },
    /// A TFLite file at fault.
    #[error("{}: {}", file.display(), self.message())]
    Tflite {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        error: Box<TfliteError>,
    },
    /// A graph YAML file at fault.
    #[error("{}{}: {}", file.display(), place(error), self.message())]
    Yaml {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        error: Box<YamlError>,
    },
}

/// A place in a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl FrontendError {
    /// A name for this kind of error that does not change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "guardbit::model::io",
            Self::UnknownExtension { .. } => "guardbit::model::extension",
            Self::Onnx { .. } => "guardbit::onnx::unsupported",
            Self::Tflite { error, .. } => error.code(),
            Self::Yaml { error, .. } => error.code(),
        }
    }

    /// What may help.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Io { file, .. } => {
                let file = std::path::absolute(file).unwrap_or_else(|_| file.clone());
                Some(format!("looked for {}: a network in a .tflite or graph .yaml file", file.display()))
            }
            Self::UnknownExtension { .. } => Some("networks are .tflite, .yaml or .yml files".into()),
            Self::Onnx { .. } => Some("convert the network to .tflite, or describe it in graph YAML".into()),
            Self::Tflite { error, .. } => error.help(),
            Self::Yaml { error, .. } => error.help(),
        }
    }

    /// The file at fault.
    pub fn file(&self) -> &Path {
        match self {
            Self::Io { file, .. }
            | Self::UnknownExtension { file }
            | Self::Onnx { file }
            | Self::Tflite { file, .. }
            | Self::Yaml { file, .. } => file,
        }
    }

    /// What is wrong, without the file and the place in it.
    pub fn message(&self) -> String {
        match self {
            Self::Io { error, .. } => error.to_string(),
            Self::UnknownExtension { .. } => "not a file name of a network".into(),
            Self::Onnx { .. } => "ONNX files cannot be read yet".into(),
            Self::Tflite { error, .. } => error.to_string(),
            Self::Yaml { error, .. } => error.to_string(),
        }
    }

    /// Where in the file, if it is text.
    pub fn location(&self) -> Option<Location> {
        match self {
            Self::Yaml { error, .. } => error.location(),
            _ => None,
        }
    }
}

impl From<serde_yaml::Location> for Location {
    fn from(location: serde_yaml::Location) -> Self {
        Self { line: location.line(), column: location.column() }
    }
}

/// `:line:column`, as editors and terminals know it.
fn place(error: &YamlError) -> String {
    error.location().map_or_else(String::new, |at| format!(":{}:{}", at.line, at.column))
}
