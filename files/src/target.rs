//! The folder that results go to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::gate::Registered;
use crate::lock::{self, Lock};
use crate::ops::MadeDir;
use crate::{Existing, FolderError, Inventory, inventory, ops, unfinished};

/// An output folder. No other process writes to it as long as this value lives.
#[derive(Debug)]
pub struct Target {
    /// The path as the user wrote it.
    shown: PathBuf,
    path: PathBuf,
    /// The folders above it that were made for it.
    made: Vec<MadeDir>,
    registered: Registered,
    /// Dropped after everything else is cleaned up.
    lock: Option<Lock>,
}

impl Target {
    /// Locks `path` for this process, whether the folder exists or not. Removes what killed processes left next to
    /// it.
    ///
    /// # Errors
    /// [`FolderError::Busy`] without waiting if another process has locked it, [`FolderError::NotAFolder`],
    /// [`FolderError::Root`], and those of the operating system.
    pub fn claim(path: &Path) -> Result<Self, FolderError> {
        let shown = path.to_owned();
        let path = resolved(path)?;
        let parent = lock::parent(&path);
        let made = ops::create_dirs(parent).map_err(FolderError::write(parent))?;
        let (lock, registered) = Lock::take(&path, &shown, "").inspect_err(|_| ops::remove_made(&made))?;
        let target = Self { shown, path, made, registered, lock: Some(lock) };
        unfinished::tidy_all(&target.path)?;
        target.keeps(match target.is_empty()? {
            true => format!("nothing was written to {}", target.shown.display()),
            false => format!("{} is unchanged", target.shown.display()),
        });
        Ok(target)
    }

    /// Locks `path` for results that are written as a whole.
    ///
    /// # Errors
    /// Errors of [`claim`](Self::claim) and [`check`](Self::check).
    pub fn claim_for(path: &Path, existing: Existing) -> Result<Self, FolderError> {
        let target = Self::claim(path)?;
        target.check(existing)?;
        Ok(target)
    }

    /// Checks that results may be put in place here.
    ///
    /// # Errors
    /// [`FolderError::Occupied`] and [`FolderError::Foreign`].
    pub fn check(&self, existing: Existing) -> Result<(), FolderError> {
        if self.is_empty()? {
            return Ok(());
        }
        match existing {
            Existing::Replace => self.inventory()?.require_ours(&self.shown).map(drop),
            Existing::Refuse => {
                let ours = inventory::has_manifest(&self.path);
                Err(FolderError::Occupied { path: self.shown.clone(), ours, differs: Vec::new() })
            }
        }
    }

    /// Returns the resolved path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the parent folder. Its file system must have room for the results.
    pub fn parent(&self) -> &Path {
        lock::parent(&self.path)
    }

    /// Returns the inventory of the folder.
    ///
    /// # Errors
    /// [`FolderError::Read`].
    pub fn inventory(&self) -> Result<Inventory, FolderError> {
        Inventory::of(&self.path)
    }

    /// Sets the description of what is kept if the process is interrupted from now on.
    pub fn keeps(&self, text: String) {
        self.registered.keeps(text);
    }

    /// Returns the path as the user wrote it.
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    /// Returns whether the folder is absent or empty.
    pub(crate) fn is_empty(&self) -> Result<bool, FolderError> {
        match fs::read_dir(&self.path) {
            Ok(mut entries) => Ok(entries.next().is_none()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(source) => Err(FolderError::read(&self.shown)(source)),
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        drop(self.lock.take());
        if !self.path.exists() {
            ops::remove_made(&self.made);
        }
    }
}

/// Returns the folder itself if `path` is a link to it, `.` or the like.
fn resolved(path: &Path) -> Result<PathBuf, FolderError> {
    let not_a_folder = || FolderError::NotAFolder { path: path.into() };
    let found = match fs::symlink_metadata(path) {
        Ok(found) => Some(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Err(not_a_folder()),
        Err(source) => return Err(FolderError::read(path)(source)),
    };
    let is_link = found.as_ref().is_some_and(|found| found.is_symlink());
    let path = if is_link || path.file_name().is_none() {
        fs::canonicalize(path).map_err(FolderError::read(path))?
    } else {
        path.to_owned()
    };
    if path.file_name().is_none() {
        return Err(FolderError::Root { path });
    }
    if found.is_none() || path.is_dir() { Ok(path) } else { Err(not_a_folder()) }
}
