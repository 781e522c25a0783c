//! Locks, which let one process at a time write to a folder.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::gate::{self, Open, Registered};
use crate::{Digest, FolderError, Foreign, Why, ops};

/// Maximum length in bytes of a name that is used directly. Longer names are hashed, because a file name has at most
/// 255 bytes.
const LONGEST_NAME: usize = 200;

/// An empty file next to the target, locked by `flock`. The lock ends with the process, however it ends.
///
/// The process removes the file when it is done. The next process takes over the file of a killed one.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    /// Holds the lock while it is open.
    _file: File,
}

/// Returns the hidden prefix of the names of all files and folders next to `target`.
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

/// Returns the folder that contains a target.
pub(crate) fn parent(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns the path of a target's lock file.
fn path(target: &Path) -> PathBuf {
    let mut name = beside(target);
    name.push("lock");
    target.with_file_name(name)
}

impl Lock {
    /// Locks `target` without waiting, and registers its clean-up. `kept` describes what is kept of the target
    /// then.
    ///
    /// The lock file never exists without a registered clean-up.
    pub fn take(target: &Path, shown: &Path, kept: &str) -> Result<(Self, Registered), FolderError> {
        let path = path(target);
        let open = || {
            let path = path.clone();
            Open::new(move || drop(ops::remove_file(&path))).keeping(kept)
        };
        loop {
            let taken = ops::open_lock(&path, |file| {
                let lock = Self::of_file(file, &path, shown)?;
                Ok(lock.map(|lock| (lock, gate::register(open()))))
            });
            if let Some(taken) = taken.map_err(FolderError::write(&path))?? {
                return Ok(taken);
            }
        }
    }

    /// Returns the lock if the file can be locked and still has its name.
    fn of_file(file: File, path: &Path, shown: &Path) -> Result<Option<Self>, FolderError> {
        let failed = FolderError::write(path);
        let opened = file.metadata().map_err(&failed)?;
        if !opened.is_file() || opened.len() > 0 {
            let files = vec![Foreign { path: path.into(), why: Why::NotWritten }];
            return Err(FolderError::Foreign { path: shown.into(), files });
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FolderError::Busy { path: shown.into() }),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        // A previous holder may have removed the file meanwhile. Then this lock protects nothing.
        match fs::symlink_metadata(path) {
            Ok(found) if (found.dev(), found.ino()) == (opened.dev(), opened.ino()) => {
                Ok(Some(Self { path: path.into(), _file: file }))
            }
            Ok(_) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The file is still locked, so no other process can have created a new one.
        let _ = ops::remove_file(&self.path);
    }
}
