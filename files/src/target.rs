//! The folder that results go to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::gate::{Open, Registered};
use crate::lock::{self, Lock};
use crate::ops::MadeDir;
use crate::{FolderError, Inventory, Staging, inventory, ops, unfinished};

/// Whether new results may replace old ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// A folder that holds anything is refused.
    Refuse,
    /// A folder that guardbit wrote, and that nobody changed since, is replaced as a whole.
    Replace,
}

/// A folder for results that no other process writes to as long as this lives.
#[derive(Debug)]
pub struct Target {
    /// As the user wrote it.
    shown: PathBuf,
    path: PathBuf,
    /// The folders above it that were made for it.
    made: Vec<MadeDir>,
    registered: Registered,
    /// Given up when everything else is tidied up.
    lock: Option<Lock>,
}

impl Target {
    /// Takes `path` for this process: an absent folder, or one that is there, whatever it holds. What killed processes
    /// left beside it is removed.
    ///
    /// # Errors
    /// [`FolderError::Busy`] at once if another process has it, [`FolderError::NotAFolder`], [`FolderError::Root`], and those of the
    /// operating system.
    pub fn claim(path: &Path) -> Result<Self, FolderError> {
        let shown = path.to_owned();
        let path = resolved(path)?;
        let parent = lock::parent(&path);
        let made = ops::create_dirs(parent).map_err(FolderError::write(parent))?;
        let open = |lock: &Path| Open::Target { lock: lock.into(), kept: String::new() };
        let (lock, registered) = Lock::take(&path, &shown, open).inspect_err(|_| ops::remove_made(&made))?;
        let target = Self { shown, path, made, registered, lock: Some(lock) };
        unfinished::tidy_all(&target.path)?;
        target.keeps(match target.is_empty()? {
            true => format!("nothing was written to {}", target.shown.display()),
            false => format!("{} is as it was", target.shown.display()),
        });
        Ok(target)
    }

    /// As [`claim`](Self::claim), for results that are written as a whole.
    ///
    /// # Errors
    /// Also those of [`check`](Self::check).
    pub fn claim_for(path: &Path, existing: Existing) -> Result<Self, FolderError> {
        let target = Self::claim(path)?;
        target.check(existing)?;
        Ok(target)
    }

    /// Fails unless results may be put in place here.
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

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder that it lies in: in its file system there is room for what it will hold.
    pub fn parent(&self) -> &Path {
        lock::parent(&self.path)
    }

    /// Whose files are in it.
    ///
    /// # Errors
    /// [`FolderError::Read`].
    pub fn inventory(&self) -> Result<Inventory, FolderError> {
        Inventory::of(&self.path)
    }

    /// A place beside it to make results in.
    ///
    /// # Errors
    /// [`FolderError::Write`].
    pub fn stage(&self) -> Result<Staging<'_>, FolderError> {
        Staging::new(self)
    }

    /// Says what there is of the results if the process is interrupted from now on.
    pub fn keeps(&self, text: String) {
        self.registered.keeps(text);
    }

    /// As the user wrote it.
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    /// Whether it is absent or holds nothing.
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

/// The folder itself, where `path` is a link to it, `.` or the like.
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
