//! Files that are either whole or not there.

use std::fs;
use std::path::{Path, PathBuf};

use crate::ReportError;

/// Writes `bytes` to `path`, by way of a temporary name in the same folder. Missing folders are made.
///
/// # Errors
/// [`ReportError::Write`], naming the file; no half-written file is left behind.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    let failed = |source| ReportError::Write { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let temporary = temporary_name(path);
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    written.map_err(|source| {
        let _ = fs::remove_file(&temporary);
        failed(source)
    })
}

/// `NAME.part` beside the file: what a killed process left there is overwritten by the next one.
pub fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}
