//! One process at a time writes to a folder.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::{Digest, FolderError, Foreign, Why, ops};

/// Names of more bytes are told by their hash: a file name has 255 at most.
const LONGEST_NAME: usize = 200;

/// An empty file beside the target, locked by `flock`: the lock ends with the process, however it ends. The file is
/// removed at the end; that of a killed process is taken over by the next one.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    /// Locked as long as it is open.
    _file: File,
}

/// The hidden name that everything beside `target` begins with.
pub(crate) fn beside(target: &Path) -> OsString {
    let name = target.file_name().unwrap_or_default();
    let mut hidden = OsString::from(".");
    if name.len() > LONGEST_NAME {
        hidden.push(Digest::of_bytes(name.as_bytes()).to_string());
    } else {
        hidden.push(name);
    }
    hidden.push(".guardbit-");
    hidden
}

/// The folder that a target lies in.
pub(crate) fn parent(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Where the lock of a target lies.
fn path(target: &Path) -> PathBuf {
    let mut name = beside(target);
    name.push("lock");
    target.with_file_name(name)
}

impl Lock {
    /// Takes the lock of `target`, at once or not at all.
    pub fn take(target: &Path, shown: &Path) -> Result<Self, FolderError> {
        let path = path(target);
        loop {
            let failed = FolderError::write(&path);
            let file = ops::open_lock(&path).map_err(&failed)?;
            let opened = file.metadata().map_err(&failed)?;
            if !opened.is_file() || opened.len() > 0 {
                let files = vec![Foreign { path: path.clone(), why: Why::NotWritten }];
                return Err(FolderError::Foreign { path: shown.into(), files });
            }
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(FolderError::Busy { path: shown.into() }),
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            // Whoever held it before may have removed it meanwhile: then it is no lock any more.
            match fs::symlink_metadata(&path) {
                Ok(found) if (found.dev(), found.ino()) == (opened.dev(), opened.ino()) => {
                    return Ok(Self { path: path.clone(), _file: file });
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(error)),
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Still locked: nobody else can have made a new one.
        let _ = ops::remove_file(&self.path);
    }
}
