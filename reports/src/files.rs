//! Files that are either whole or not there.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::ReportError;

/// Writes `bytes` to `path`, by way of a temporary name in the same folder. Missing folders are made.
///
/// # Errors
/// [`ReportError::Write`], naming the file; no half-written file is left behind.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    write_atomic_with(path, |file| {
        file.write_all(bytes).map_err(|source| ReportError::Write { path: path.to_owned(), source })
    })
}

/// As [`write_atomic`], for what is made piece by piece: `write` gets the temporary file.
///
/// # Errors
/// Those of `write`, and [`ReportError::Write`]; no half-written file is left behind.
pub fn write_atomic_with<E: From<ReportError>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), E> {
    let failed = |source| E::from(ReportError::Write { path: path.to_owned(), source });
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let temporary = temporary_name(path);
    let written = File::create(&temporary).map_err(failed).and_then(|file| {
        let mut file = BufWriter::new(file);
        write(&mut file)?;
        file.flush().map_err(failed)
    });
    let renamed = written.and_then(|()| fs::rename(&temporary, path).map_err(failed));
    renamed.inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}

/// `NAME.part` beside the file: what a killed process left there is overwritten by the next one.
pub fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}
