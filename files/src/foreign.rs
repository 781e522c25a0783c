//! Files in a folder of guardbit that do not belong to it.

use std::fmt;
use std::path::{Path, PathBuf};

/// Maximum number of foreign files that an error lists.
const TOLD: usize = 10;

/// A file that does not belong to guardbit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// Path relative to the folder.
    pub path: PathBuf,
    /// The reason why it is foreign.
    pub why: Why,
}

/// The reason why a file does not belong to guardbit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// No manifest lists it.
    NotWritten,
    /// A manifest lists it with different content.
    Changed,
    /// It is a symbolic link.
    Link,
    /// It is a pipe, socket or device.
    Special,
    /// It cannot be read.
    Unreadable,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotWritten => "not written by guardbit",
            Self::Changed => "changed since guardbit wrote it",
            Self::Link => "a symbolic link",
            Self::Special => "neither a file nor a folder",
            Self::Unreadable => "cannot be read",
        })
    }
}

/// Returns one line per file, for the first [`TOLD`] files.
pub(crate) fn in_words(files: &[Foreign]) -> String {
    let line = |file: &Foreign| format!("\n  {}: {}", shown(&file.path), file.why);
    let lines: String = files.iter().take(TOLD).map(line).collect();
    match files.len().saturating_sub(TOLD) {
        0 => lines,
        others => format!("{lines}\n  and {others} more"),
    }
}

/// Returns a path without control characters, which a terminal would interpret.
fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    text.chars().take(200).map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}
