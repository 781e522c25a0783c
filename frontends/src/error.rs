//! Errors of network files.

use std::io;
use std::path::{Path, PathBuf};

use guardbit_graph::CutError;

use crate::Profile;
use crate::frontend::{network_extensions, network_files};

/// The reason why a network cannot be read: which file, where in it, what is wrong, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrontendError {
    /// A file cannot be opened, or is not text although text is expected.
    #[error("{}: {}", file.display(), self.message())]
    Io {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The file name has no extension of a known format.
    #[error("{}: {}", file.display(), self.message())]
    UnknownExtension {
        /// The file.
        file: PathBuf,
    },
    /// A runtime profile was given for a format without profiles.
    #[error("{}: {}", file.display(), self.message())]
    Profile {
        /// The file.
        file: PathBuf,
        /// Name of its format.
        format: &'static str,
        /// The profile.
        profile: Profile,
    },
    /// Lengths of axes were given for a format whose files contain the length of every axis.
    #[error("{}: {}", file.display(), self.message())]
    FixedAxes {
        /// The file.
        file: PathBuf,
        /// Name of its format.
        format: &'static str,
    },
    /// The network does not have the requested part.
    #[error("{}: {}", file.display(), self.message())]
    Cut {
        /// The file.
        file: PathBuf,
        /// The error of the part.
        error: CutError,
    },
    /// The reader of the format rejects the file.
    #[error("{}{}: {}", file.display(), place(error.location()), self.message())]
    Format {
        /// The file.
        file: PathBuf,
        /// The error of the reader.
        error: Box<dyn FormatError>,
    },
}

/// The error type of the reader of a format.
pub trait FormatError: std::error::Error + Send + Sync {
    /// Returns the stable code of this kind of error.
    fn code(&self) -> &'static str;

    /// Returns what the user can do.
    fn help(&self) -> String;

    /// Returns the position in the file if it is text.
    fn location(&self) -> Option<Location> {
        None
    }
}

/// A position in a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl FrontendError {
    /// Returns the error of a file that cannot be read at all.
    pub(crate) fn io(file: &Path, error: io::Error) -> Self {
        Self::Io { file: file.into(), error }
    }

    /// Returns the error of a file that its reader rejects.
    pub(crate) fn format(file: impl Into<PathBuf>, error: impl FormatError + 'static) -> Self {
        Self::Format { file: file.into(), error: Box::new(error) }
    }

    /// Returns the stable code of this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "guardbit::model::io",
            Self::UnknownExtension { .. } => "guardbit::model::extension",
            Self::Profile { .. } => "guardbit::model::profile",
            Self::FixedAxes { .. } => "guardbit::model::fixed_axes",
            Self::Cut { error, .. } => error.code(),
            Self::Format { error, .. } => error.code(),
        }
    }

    /// Returns what the user can do.
    pub fn help(&self) -> String {
        match self {
            Self::Io { file, .. } => {
                let file = std::path::absolute(file).unwrap_or_else(|_| file.clone());
                format!("looked for {}: a network in a {} file", file.display(), network_files())
            }
            Self::UnknownExtension { .. } => format!("networks are {} files", network_extensions()),
            Self::Profile { .. } => "leave out --profile; use --requantize for another rounding".into(),
            Self::FixedAxes { .. } => {
                "only ONNX files can leave axes open; export the network again with the new length".into()
            }
            Self::Cut { error, .. } => error.help().into(),
            Self::Format { error, .. } => error.help(),
        }
    }

    /// Returns the file at fault.
    pub fn file(&self) -> &Path {
        match self {
            Self::Io { file, .. }
            | Self::UnknownExtension { file }
            | Self::Profile { file, .. }
            | Self::FixedAxes { file, .. }
            | Self::Cut { file, .. }
            | Self::Format { file, .. } => file,
        }
    }

    /// Returns the problem without the file and the position in it.
    pub fn message(&self) -> String {
        match self {
            Self::Io { error, .. } => error.to_string(),
            Self::UnknownExtension { .. } => "not a network file: unknown extension".into(),
            Self::Profile { format, profile, .. } => {
                format!(
                    "profile {profile} is for runtimes of TensorFlow Lite; {format} defines its own rounding"
                )
            }
            Self::FixedAxes { format, .. } => {
                format!("{format} files fix the length of every axis, so it cannot be changed")
            }
            Self::Cut { error, .. } => error.to_string(),
            Self::Format { error, .. } => error.to_string(),
        }
    }

    /// Returns the position in the file if it is text.
    pub fn location(&self) -> Option<Location> {
        match self {
            Self::Format { error, .. } => error.location(),
            _ => None,
        }
    }
}

/// Returns `:line:column`, a form that editors and terminals recognize.
fn place(location: Option<Location>) -> String {
    location.map_or_else(String::new, |at| format!(":{}:{}", at.line, at.column))
}
