//! One process at a time writes to a folder.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::gate::{self, Open, Registered};
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
    /// Takes the lock of `target`, at once or not at all, and registers what is `open` then: its file is never there without
    /// being tidied up.
    pub fn take(
        target: &Path,
        shown: &Path,
        open: impl Fn(&Path) -> Open,
    ) -> Result<(Self, Registered), FolderError> {
        let path = path(target);
        loop {
            let taken = ops::open_lock(&path, |file| {
                let lock = Self::of_file(file, &path, shown)?;
                Ok(lock.map(|lock| (lock, gate::register(open(&path)))))
            });
            if let Some(taken) = taken.map_err(FolderError::write(&path))?? {
                return Ok(taken);
            }
        }
    }

    /// The lock, if its file can be locked and still has its name.
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
        // Whoever held it before may have removed it meanwhile: then it is no lock any more.
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
        // Still locked: nobody else can have made a new one.
        let _ = ops::remove_file(&self.path);
    }
}
